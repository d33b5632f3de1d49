import Testing
import ZonaiJSON

@testable import ZonaiTransports

/// Keys that copying, environment files, shells and forms changed on their way.
@Suite struct KeyArrivalTests {
  /// A way that changes a text, and what the note or the sentence says of it.
  struct Way: Sendable, CustomTestStringConvertible {
    let name: String
    let says: String
    let change: @Sendable (String) throws -> String
    var testDescription: String { name }

    init(_ name: String, _ says: String, _ change: @escaping @Sendable (String) throws -> String) {
      self.name = name
      self.says = says
      self.change = change
    }
  }

  /// Ways of a PEM text that leave one reading.
  static let readable: [Way] = [
    Way("\\n as two characters", #"\n in place of line breaks"#) { $0.replacing("\n", with: #"\n"#) },
    Way("escaped twice", #"\n in place of line breaks"#) { $0.replacing("\n", with: #"\\n"#) },
    Way("\\r\\n as four characters", #"\n in place of line breaks"#) { $0.replacing("\n", with: #"\r\n"#) },
    Way("a backslash at each line's end", #"\n in place of line breaks"#) { $0.replacing("\n", with: "\\\n") },
    Way("blanks", "blanks in place of line breaks") { $0.replacing("\n", with: " ") },
    Way("one line", "no line breaks") { $0.filter { !$0.isNewline } },
    Way("no white space at all", "no blanks") { $0.filter { !$0.isWhitespace } },
    Way("carriage returns", "broken or indented otherwise") { $0.replacing("\n", with: "\r") },
    Way("indented", "broken or indented otherwise") { $0.replacing("\n", with: "\n    ") },
    Way("quoted as JSON", "in quotes") { JSON.string($0).text },
    Way("quoted, with real line breaks", "in quotes") { "\"\($0)\"" },
    Way("in single quotes", "in quotes") { "'\($0.replacing("\n", with: #"\n"#))'" },
    Way("after a byte order mark", "byte order mark") { "\u{FEFF}" + $0 },
    Way("base64", "in base64") { Base64.encoded(Array($0.utf8)) },
    Way("base64 in lines", "in base64") { text in
      PEMArrival.block("", Base64.encoded(Array(text.utf8))).split(separator: "\n").dropFirst().dropLast()
        .joined(separator: "\n")
    },
    Way("base64 of UTF-16", "in UTF-16") { text in
      Base64.encoded([0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
    },
    Way("without its outer lines", "binary form") { $0.split(separator: "\n").dropFirst().dropLast().joined() },
  ]

  /// Damage that leaves no reading, or several.
  static let damaged: [Way] = [
    Way("cut off", "its last line") { String($0.prefix($0.count / 2)) },
    Way("cut off in the last line", "its last line") { String($0.dropLast(8)) },
    Way("cut off in the first line", "within its first line") { String($0.prefix(20)) },
    Way("without the first line", "its first line") { $0.split(separator: "\n").dropFirst().joined(separator: "\n") },
    Way("another sign in it", "a character in line 3") { text in
      var lines = text.split(separator: "\n").map(String.init)
      lines[2] = "*" + lines[2].dropFirst()
      return lines.joined(separator: "\n")
    },
    Way("a character lost", "some are missing") { text in
      var lines = text.split(separator: "\n").map(String.init)
      lines[1].removeLast()
      return lines.joined(separator: "\n")
    },
    Way("a line's half lost", "bytes are missing") { text in
      var lines = text.split(separator: "\n").map(String.init)
      lines[1].removeLast(32)
      return lines.joined(separator: "\n")
    },
    Way("through a URL", "a URL or a web form") { $0.replacing(" ", with: "%20").replacing("\n", with: "%0A") },
    Way("through a form", "a URL or a web form") { $0.replacing(" ", with: "+").replacing("\n", with: "%0D%0A") },
    Way("dashes of a word processor", "five hyphens") { $0.replacing("--", with: "\u{2013}") },
  ]

  private func expectRead(_ warnings: [SetupWarning], _ way: Way, _ key: String) {
    #expect(warnings.count == 1)
    #expect(warnings.first?.sentence.contains(way.says) == true, "\(warnings)")
    expectNothing(of: key, in: "\(warnings)")
  }

  /// No eight characters of the key, and no advice to replace it.
  private func expectNothing(of key: String, in text: String) {
    let body = key.split(separator: "\n").dropFirst().dropLast().joined()
    for start in 0..<max(0, body.utf8.count - 8) {
      let piece = String(decoding: Array(body.utf8)[start..<start + 8], as: UTF8.self)
      if text.contains(piece) { Issue.record("\(text) shows a part of the key") }
    }
    for word in ["create", "download", "new key"] { #expect(!text.contains(word), "\(text)") }
  }

  @Test(arguments: readable)
  func `a .p8 key that its way changed is read, with a note`(_ way: Way) throws {
    let arrived = try way.change(TestKeys.p256)
    let folder = try TemporaryFolder()
    let file = try APNsKeyFile(.file(folder.write("key.p8", arrived)))
    #expect(try file.key.digest == APNsKeyFile(.inline(TestKeys.p256)).key.digest)
    expectRead(file.warnings, way, TestKeys.p256)
    expectRead(try APNsKeyFile(.inline(arrived)).warnings, way, TestKeys.p256)
  }

  @Test(arguments: readable)
  func `a service account whose private_key its way changed is read, with a note`(_ way: Way) throws {
    let account = try TestKeys.serviceAccount { $0["private_key"] = .string(try way.change(TestKeys.rsa)) }
    let file = try ServiceAccountFile(.inline(account), oauthEndpoint: nil)
    #expect(
      try file.account.digest
        == ServiceAccountFile(.inline(TestKeys.serviceAccount()), oauthEndpoint: nil).account.digest)
    expectRead(file.warnings, way, TestKeys.rsa)
  }

  /// Ways of a whole JSON file.
  static let files: [Way] = [
    Way("base64", "in base64") { Base64.encoded(Array($0.utf8)) },
    Way("base64 of UTF-16", "in UTF-16") { text in
      Base64.encoded(text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
    },
    Way("in quotes", "in quotes") { JSON.string($0).text },
    Way("in single quotes", "in quotes") { "'\($0)'" },
    Way("real line breaks in strings", "as JSON wants them") { $0.replacing(#"\n"#, with: "\n") },
    Way("escaped quotes", "as JSON wants them") { text in
      String(JSON.string(text.replacing("\n", with: " ")).text.dropFirst().dropLast())
    },
  ]

  @Test(arguments: files)
  func `a whole service account that its way changed is read, with a note`(_ way: Way) throws {
    let file = try ServiceAccountFile(.inline(way.change(TestKeys.serviceAccount())), oauthEndpoint: nil)
    #expect(file.account.projectId == "demo-project")
    expectRead(file.warnings, way, TestKeys.rsa)
  }

  @Test(arguments: ["UTF-16", "UTF-16LE", "UTF-16BE"])
  func `a file in UTF-16 is read, with a note`(_ encoding: String) throws {
    let folder = try TemporaryFolder()
    for (name, text) in [("key.p8", TestKeys.p256), ("account.json", TestKeys.serviceAccount())] {
      let path = try folder.write(name, text)
      #expect(shell("iconv -f UTF-8 -t \(encoding) '\(path)' >'\(path).16' && chmod 600 '\(path).16'").ok)
    }
    let way = Way(encoding, "in UTF-16") { $0 }
    expectRead(try APNsKeyFile(.file(folder.path + "/key.p8.16")).warnings, way, TestKeys.p256)
    let account = try ServiceAccountFile(.file(folder.path + "/account.json.16"), oauthEndpoint: nil)
    expectRead(account.warnings, way, TestKeys.rsa)
  }

  @Test func `a key as it was given out is read without a note, whatever its lines end with`() throws {
    for text in [
      TestKeys.p256, TestKeys.p256.replacing("\n", with: "\r\n"), "\n\n" + TestKeys.p256 + "\n",
      String(TestKeys.p256.dropLast()),
    ] {
      #expect(try APNsKeyFile(.inline(text)).warnings.isEmpty)
    }
    #expect(try ServiceAccountFile(.inline(TestKeys.serviceAccount()), oauthEndpoint: nil).warnings.isEmpty)
  }

  @Test(arguments: damaged)
  func `damage that cannot be put right is named, for either kind of key`(_ way: Way) throws {
    let p8 = #expect(throws: SetupError.self) { try APNsKeyFile(.inline(try way.change(TestKeys.p256))) }
    let account = try TestKeys.serviceAccount { $0["private_key"] = .string(try way.change(TestKeys.rsa)) }
    let service = #expect(throws: SetupError.self) { try ServiceAccountFile(.inline(account), oauthEndpoint: nil) }
    for (error, key) in [(p8, TestKeys.p256), (service, TestKeys.rsa)] {
      #expect(error?.code == .malformed)
      #expect(error?.sentence.contains(way.says) == true, "\(error?.sentence ?? "")")
      expectNothing(of: key, in: error?.sentence ?? "")
    }
  }

  @Test func `plus signs that became blanks are not guessed`() throws {
    // A key of this length has some.
    #expect(TestKeys.rsa.contains("+"))
    for breaks in ["\n", " "] {
      let arrived = TestKeys.rsa.replacing("\n", with: breaks).replacing("+", with: " ")
      let account = TestKeys.serviceAccount { $0["private_key"] = .string(arrived) }
      let error = #expect(throws: SetupError.self) { try ServiceAccountFile(.inline(account), oauthEndpoint: nil) }
      #expect(error?.sentence.contains("were plus signs") == true, "\(error?.sentence ?? "")")
    }
  }

  @Test func `a key of another kind is called by its name through its wrapping`() throws {
    let error = #expect(throws: SetupError.self) {
      try APNsKeyFile(.inline(TestKeys.rsa.replacing("\n", with: #"\n"#)))
    }
    #expect(error?.code == .wrongKind)
    #expect(error?.sentence.contains("a key for RSA") == true)
  }
}
