import Testing

@testable import ZonaiCLI

/// Arguments as the system hands them over: bytes, which need not be text, and which others can
/// read.
@Suite(.sharedSimulator) struct RawArgumentTests {
  /// Runs `zonai` with these words and one more, which is not UTF-8.
  private func run(_ words: [String], then option: String...) async throws -> Shell.Ending {
    let script = #"bad=$(printf 'a\377b'); zonai=$0; exec "$zonai" "$@" "# + option.joined(separator: " ")
    return try await Shell(["-c", script, Shell.executable] + words, program: "/bin/sh").end()
  }

  @Test func `an argument that is not UTF-8 is refused with its place, and nothing is pushed`() async throws {
    let scene = try await Scene(devices: 2)
    let words = scene.pushWords
    for (option, place) in [
      ([#""$bad""#], "argument \(words.count + 1)"), (["--data", #""k=$bad""#], "argument \(words.count + 2)"),
      ([#"--collapse-key="$bad""#], "argument \(words.count + 1)"),
      (["--", #""$bad""#], "argument \(words.count + 2)"),
    ] {
      let ending = try await run(words, then: option.joined(separator: " "))
      #expect(ending.code == 2)
      #expect(ending.output.isEmpty)
      #expect(ending.errors.contains("\(place) is not UTF-8"), "\(ending.errors)")
      #expect(ending.errors.split(separator: "\n").count == 1)
    }
    let json = try await run(words + ["--json"], then: #""$bad""#)
    #expect(json.failure.code == "usage")
    #expect(try scene.jobs == 0)
  }

  @Test func `so is a command that is not, and a store in the environment`() async throws {
    let command = try await run([], then: #""$bad""#)
    #expect(command.code == 2)
    #expect(command.errors.contains("argument 1 is not UTF-8"))
    let script = #"export ZONAI_STORE=$(printf 'sqlite:a\377b'); exec "$0" jobs list"#
    let store = try await Shell(["-c", script, Shell.executable], program: "/bin/sh").end()
    #expect(store.code == 2)
    #expect(store.errors.contains("ZONAI_STORE is not UTF-8"))
  }

  @Test(arguments: [
    ("zonai|push|--title|a\u{FF}b|--store|postgres://u:secret@db/shop|--json", "postgres://u@db/shop"),
    ("zonai|\u{FF}|--store=postgres://u:secret@db/shop", "--store=postgres://u@db/shop"),
    ("zonai|--store|host=db password=secret", "host=db"), ("zonai|--store|postgres://u:secr\u{FF}et@db/shop|x", "|x"),
    ("zonai|--store|postgres://u:secret@one/a|--store|postgres://u:secret@two/b", "postgres://u@two/b"),
    ("zonai|--store", "--store"),
  ])
  func `a password goes from memory, whatever stands before it`(line: String, left: String) {
    // A scalar stands for a byte here, and | for the zero at the end of a word.
    var bytes = line.unicodeScalars.map { $0 == "|" ? 0 : UInt8($0.value) } + [0]
    bytes.withUnsafeMutableBytes { CommandLineMemory.hidePasswords(in: $0) }
    #expect(bytes.count == line.unicodeScalars.count + 1)
    let words = String(decoding: bytes.map { $0 == 0 ? UInt8(ascii: "|") : $0 }, as: UTF8.self)
    #expect(!words.contains("secr") && !words.contains("et@"))
    #expect(words.contains(left), "\(words)")
  }

  @Test(arguments: [
    ["--title", "-h"], ["--title", "--help"], ["--body", "--json"], ["--where", "-h"], ["--data", "-h"],
  ])
  func `an option that lacks its value never shows the help`(_ words: [String]) async throws {
    let scene = try await Scene(devices: 2)
    var push = scene.pushWords
    if let place = push.firstIndex(of: words[0]) { push.removeSubrange(place...place + 1) }
    let ending = try await Shell.run(push + words)
    #expect(ending.code == 2)
    #expect(ending.output.isEmpty)
    #expect(ending.errors.contains("\(words[0])=\(words[1])"), "\(ending.errors)")
    #expect(try scene.jobs == 0)
  }

  @Test func `with an equals sign, or with other dashes, it is the value`() async throws {
    let scene = try await Scene(devices: 2)
    var push = scene.pushWords
    let place = try #require(push.firstIndex(of: "--title"))
    push.replaceSubrange(place...place + 1, with: ["--title=-h"])
    let body = try #require(push.firstIndex(of: "--body"))
    push[body + 1] = "-x"
    let pushed = try await Shell.run(push + ["--json"])
    let id = try #require(try pushed.json["id"]?.string)
    let message = try await Shell.run("jobs", "show", id, "--store", scene.store, "--json").json["message"]
    #expect(message?["title"] == "-h" && message?["body"] == "-x")
    // A condition that begins with a dash is a condition, and its mistake is named as one.
    let condition = try await scene.push("--where", "-x", "--json")
    #expect(condition.failure.code == "invalidPredicate")
  }
}
