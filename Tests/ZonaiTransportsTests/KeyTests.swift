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

@Suite struct KeyTests {
  /// What was given as APNs' key, and what its sentence must say.
  struct WrongKey: Sendable, CustomTestStringConvertible {
    let name: String
    let text: @Sendable () throws -> String
    let code: SetupError.Code
    let says: String
    var testDescription: String { name }
  }

  @Test(arguments: [
    WrongKey(name: "RSA", text: { TestKeys.rsa }, code: .wrongKind, says: "a key for RSA"),
    WrongKey(
      name: "PKCS#1", text: { try TestKeys.converted(TestKeys.rsa, "openssl rsa -traditional") }, code: .wrongKind,
      says: "an RSA key in the PKCS#1 form"),
    WrongKey(
      name: "encrypted", text: { try TestKeys.converted(TestKeys.p256, "openssl pkcs8 -topk8 -passout pass:secret") },
      code: .wrongKind, says: "encrypted with a passphrase"),
    WrongKey(
      name: "encrypted, old form",
      text: { try TestKeys.converted(TestKeys.p256, "openssl ec -aes128 -passout pass:secret") }, code: .wrongKind,
      says: "encrypted with a passphrase"),
    WrongKey(
      name: "public", text: { try TestKeys.converted(TestKeys.p256, "openssl pkey -pubout") }, code: .wrongKind,
      says: "a public key"),
    WrongKey(
      name: "certificate",
      text: { TestKeys.made("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout /dev/null") },
      code: .wrongKind, says: "a certificate"),
    WrongKey(
      name: "another curve",
      text: { TestKeys.made("openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-384") },
      code: .wrongKind, says: "on the curve secp384r1"),
    WrongKey(
      name: "Ed25519", text: { TestKeys.made("openssl genpkey -quiet -algorithm ED25519") }, code: .wrongKind,
      says: "a key for ED25519"),
    WrongKey(
      name: "service account", text: { TestKeys.serviceAccount() }, code: .wrongKind, says: "Google's service account"),
    WrongKey(name: "empty", text: { "\n" }, code: .wrongKind, says: "is empty"),
    WrongKey(name: "other text", text: { "key" }, code: .wrongKind, says: "not a key in PEM form"),
    WrongKey(
      name: "cut off", text: { String(TestKeys.p256.prefix(TestKeys.p256.count / 2)) }, code: .malformed,
      says: "damaged"),
  ])
  func `a wrong APNs key gets a sentence that calls it by its name`(_ wrong: WrongKey) throws {
    let folder = try TemporaryFolder()
    let text = try wrong.text()
    let path = try folder.write("key.p8", text)
    let error = #expect(throws: SetupError.self) { try APNsKeyFile(.file(path)) }
    guard let error else { return }
    #expect(error.code == wrong.code)
    #expect(error.setting == "apns.keyFile")
    #expect(error.description.contains(wrong.says), "\(error)")
    expectNoKeyMaterial(of: text, in: error.description)
  }

  @Test(arguments: [
    WrongKey(name: "APNs' key", text: { TestKeys.p256 }, code: .wrongKind, says: "a private key (PKCS#8)"),
    account("a person's login", .wrongKind, "a person's own login") { $0["type"] = "authorized_user" },
    account("another type", .wrongKind, "of the type 'external_account'") { $0["type"] = "external_account" },
    account("no type", .wrongKind, "without 'type'") { $0["type"] = nil },
    WrongKey(
      name: "the application's file", text: { #"{"project_info":{"project_id":"p"},"client":[]}"# }, code: .wrongKind,
      says: "google-services.json"),
    WrongKey(
      name: "an OAuth client", text: { #"{"web":{"client_id":"c"}}"# }, code: .wrongKind, says: "OAuth client"),
    account("no project", .malformed, "lacks 'project_id'") { $0["project_id"] = nil },
    account("no email", .malformed, "lacks 'client_email'") { $0["client_email"] = "" },
    account("no key", .malformed, "lacks 'private_key'") { $0["private_key"] = nil },
    account("an EC key in it", .wrongKind, "a key for EC") { $0["private_key"] = .string(TestKeys.p256) },
    account("a PKCS#1 key in it", .wrongKind, "PKCS#1") {
      $0["private_key"] = .string(try TestKeys.converted(TestKeys.rsa, "openssl rsa -traditional"))
    },
    account("a short key in it", .wrongKind, "1024 bits") {
      let short = TestKeys.made("openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:1024")
      $0["private_key"] = .string(short)
    },
    WrongKey(name: "not JSON", text: { "{" }, code: .malformed, says: "is not JSON: line 1"),
    account("a token_uri elsewhere", .malformed, "example.com") { $0["token_uri"] = "https://example.com/token" },
    account("a token_uri that only looks right", .malformed, "evilgoogleapis.com") {
      $0["token_uri"] = "https://evilgoogleapis.com/token"
    },
    account("a token_uri without TLS", .badSetting, "https://") {
      $0["token_uri"] = "http://oauth2.googleapis.com/token"
    },
  ])
  func `a wrong service account gets a sentence that calls it by its name`(_ wrong: WrongKey) throws {
    let folder = try TemporaryFolder()
    let text = try wrong.text()
    let path = try folder.write("service-account.json", text)
    let error = #expect(throws: SetupError.self) { try ServiceAccountFile(.file(path), oauthEndpoint: nil) }
    guard let error else { return }
    #expect(error.code == wrong.code)
    #expect(error.description.contains(wrong.says), "\(error)")
    expectNoKeyMaterial(of: text, in: error.description)
  }

  @Test(arguments: [(0o600, false), (0o400, false), (0o640, true), (0o644, true), (0o604, true)] as [(mode_t, Bool)])
  func `a key file that others can read is warned of`(_ mode: mode_t, _ warns: Bool) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("key.p8", TestKeys.p256, mode: mode)
    let warning = try APNsKeyFile(.file(path)).warnings.first
    #expect((warning != nil) == warns)
    if let warning { #expect(warning.sentence.contains("chmod 600")) }
  }

  @Test(arguments: [("missing.p8", "No such file"), ("", "is not a file")])
  func `a file that cannot be read is named`(_ name: String, _ says: String) throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: SetupError.self) { try APNsKeyFile(.file("\(folder.path)/\(name)")) }
    #expect(error?.code == .unreadable)
    #expect(error?.sentence.contains(folder.path) == true)
    #expect(error?.sentence.contains(says) == true)
  }

  @Test func `a pipe in the place of a key file is refused and not waited for`() throws {
    let folder = try TemporaryFolder()
    #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
    let error = #expect(throws: SetupError.self) { try APNsKeyFile(.file("\(folder.path)/pipe")) }
    #expect(error?.sentence.contains("is not a file") == true)
  }

  @Test func `keys do not show in text`() throws {
    let source = KeySource.inline(TestKeys.p256)
    let key = try APNsKey(pem: TestKeys.p256, source: source, setting: "apns.key")
    let account = try ServiceAccountFile(.inline(TestKeys.serviceAccount()), oauthEndpoint: nil)
    var configuration = FCMConfiguration(serviceAccount: .inline(TestKeys.serviceAccount()))
    configuration.projectId = "p"
    var dumped = "\(source) \(String(reflecting: source)) \(key) \(configuration) \(account.account)"
    dump(source, to: &dumped)
    dump(configuration, to: &dumped)
    dump(account.account, to: &dumped)
    dump(Authorization(field: "bearer secret-token", generation: 1), to: &dumped)
    expectNoKeyMaterial(of: TestKeys.p256, in: dumped)
    expectNoKeyMaterial(of: TestKeys.rsa, in: dumped)
    #expect(!dumped.contains("secret-token"))
  }

  /// A service account with one thing wrong.
  private static func account(
    _ name: String, _ code: SetupError.Code, _ says: String,
    _ change: @escaping @Sendable (inout [String: JSON]) throws -> Void
  ) -> WrongKey {
    WrongKey(
      name: name, text: { try TestKeys.serviceAccount(changed: change) }, code: code, says: says)
  }

  /// No line of a key's body may stand in the text.
  private func expectNoKeyMaterial(of key: String, in text: String) {
    for line in key.split(whereSeparator: { $0.isNewline || $0 == "\\" }) where line.count >= 20 {
      guard !line.contains("-----"), !line.contains(" ") else { continue }
      #expect(!text.contains(line))
    }
  }
}
