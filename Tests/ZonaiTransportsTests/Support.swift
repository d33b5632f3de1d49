import Testing
import ZonaiCore
import ZonaiJSON

@testable import ZonaiTransports

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A folder of its own, gone with the value.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/zonai-transports-XXXXXX".utf8CString)
    _ = try #require(mkdtemp(&template))
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { _ = shell("rm -rf '\(path)'") }

  /// Writes a file that only its owner may read, and gives its path.
  @discardableResult
  func write(_ name: String, _ text: String, mode: mode_t = 0o600) throws -> String {
    let target = path + "/" + name
    try TemporaryFolder.replace(target, text, mode: mode)
    return target
  }

  /// Replaces a file by a rename, as every careful program does.
  static func replace(_ target: String, _ text: String, mode: mode_t = 0o600) throws {
    let file = try #require(fopen(target + ".new", "w"))
    let bytes = Array(text.utf8)
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    fclose(file)
    #expect(chmod(target + ".new", mode) == 0)
    #expect(rename(target + ".new", target) == 0)
  }
}

/// Runs a line of shell; what it printed, and whether it ended well.
func shell(_ line: String) -> (output: String, ok: Bool) {
  guard let pipe = popen(line, "r") else { return ("", false) }
  var output: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = fread(&buffer, 1, buffer.count, pipe)
    if count == 0 { break }
    output.append(contentsOf: buffer.prefix(count))
  }
  return (String(decoding: output, as: UTF8.self), pclose(pipe) == 0)
}

/// Keys that the openssl command made, once for all tests.
enum TestKeys {
  static let rsa = made("openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048")
  static let p256 = made("openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256")
  static let otherP256 = made("openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256")

  static func made(_ line: String) -> String { shell(line + " 2>/dev/null").output }

  /// What a command makes of a key.
  static func converted(_ pem: String, _ line: String) throws -> String {
    let folder = try TemporaryFolder()
    let path = try folder.write("key.pem", pem)
    return shell("\(line) -in '\(path)' 2>/dev/null").output
  }

  static func serviceAccount(
    key: String = rsa, project: String = "demo-project", tokenURI: String = "https://oauth2.googleapis.com/token"
  ) -> String {
    JSON.object(members(key: key, project: project, tokenURI: tokenURI)).prettyText
  }

  /// One with something wrong.
  static func serviceAccount(changed change: (inout [String: JSON]) throws -> Void) rethrows -> String {
    var members = members(key: rsa, project: "demo-project", tokenURI: "https://oauth2.googleapis.com/token")
    try change(&members)
    return JSON.object(members).prettyText
  }

  private static func members(key: String, project: String, tokenURI: String) -> [String: JSON] {
    [
      "type": "service_account", "project_id": .string(project), "private_key_id": "key-1", "private_key": .string(key),
      "client_email": "sender@demo-project.iam.gserviceaccount.com", "token_uri": .string(tokenURI),
    ]
  }
}
