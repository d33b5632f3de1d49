import Testing
import ZonaiJSON

@testable import ZonaiTransports

/// The openssl command is the judge: it knows nothing of our code.
@Suite struct SignatureTests {
  @Test func `an RS256 token verifies under the public key`() throws {
    let key = try SigningKey.read(pem: TestKeys.rsa, for: .rs256)
    let token = try #require(
      JSONWebToken.make(header: ["kid": "key-1"], claims: ["iss": "a@b", "iat": 5], key: key))
    let parts = try Parts(token)
    #expect(parts.header == ["alg": "RS256", "kid": "key-1", "typ": "JWT"])
    #expect(parts.claims == ["iat": 5, "iss": "a@b"])
    #expect(parts.signature.count == 256)
    #expect(try verifies(parts.signed, parts.signature, TestKeys.rsa))
    #expect(try !verifies(parts.signed + "x", parts.signature, TestKeys.rsa))
  }

  @Test(arguments: 0..<40)
  func `an ES256 token verifies, whatever the length of its numbers`(_ round: Int) throws {
    let key = try SigningKey.read(pem: TestKeys.p256, for: .es256)
    let token = try #require(
      JSONWebToken.make(
        header: ["kid": "ABCDE12345"], claims: ["iss": "TEAM", "iat": .integer(Int64(round))], key: key))
    let parts = try Parts(token)
    #expect(parts.header == ["alg": "ES256", "kid": "ABCDE12345", "typ": "JWT"])
    // JOSE's form: two numbers of 32 bytes, and not OpenSSL's DER.
    #expect(parts.signature.count == 64)
    #expect(try verifies(parts.signed, der(parts.signature), TestKeys.p256))
    #expect(try !verifies(parts.signed, der(parts.signature), TestKeys.otherP256))
  }

  @Test func `the digest tells keys apart and holds nothing of the private one`() throws {
    let first = try SigningKey.read(pem: TestKeys.p256, for: .es256)
    let same = try SigningKey.read(pem: TestKeys.converted(TestKeys.p256, "openssl ec"), for: .es256)
    let other = try SigningKey.read(pem: TestKeys.otherP256, for: .es256)
    #expect(first.digest.count == 32)
    #expect(first.digest == same.digest)
    #expect(first.digest != other.digest)
    let folder = try TemporaryFolder()
    let path = try folder.write("key.pem", TestKeys.p256)
    let public256 = shell("openssl pkey -in '\(path)' -pubout -outform DER | openssl dgst -sha256 -r").output
    #expect(public256.hasPrefix(first.digest))
  }

  private struct Parts {
    let signed: String
    let header: JSON
    let claims: JSON
    let signature: [UInt8]

    init(_ token: String) throws {
      let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      try #require(parts.count == 3)
      signed = parts[0] + "." + parts[1]
      header = try JSON(parsing: Parts.decode(parts[0]))
      claims = try JSON(parsing: Parts.decode(parts[1]))
      signature = try Parts.decode(parts[2])
    }

    /// By coreutils, which knows nothing of our encoder.
    private static func decode(_ text: String) throws -> [UInt8] {
      let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
      let hex = shell("printf %s '\(padded)' | basenc -d --base64url | od -An -v -tx1 | tr -d ' \\n'").output
      return try #require([UInt8](hex: hex))
    }
  }

  private func verifies(_ text: String, _ signature: [UInt8], _ key: String) throws -> Bool {
    let folder = try TemporaryFolder()
    try folder.write("key.pem", key)
    try folder.write("text", text)
    try folder.write("signature.hex", signature.hex)
    let line =
      "cd '\(folder.path)' && openssl pkey -in key.pem -pubout -out public.pem && basenc -d --base16 <signature.hex "
      + ">signature && openssl dgst -sha256 -verify public.pem -signature signature text >/dev/null 2>&1"
    _ = shell(
      "tr a-f A-F <'\(folder.path)/signature.hex' >'\(folder.path)/upper' && mv '\(folder.path)/upper' '\(folder.path)/signature.hex'"
    )
    return shell(line).ok
  }

  /// The signature as the openssl command wants it: a sequence of two integers.
  private func der(_ signature: [UInt8]) -> [UInt8] {
    func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
      var bytes = Array(bytes.drop { $0 == 0 })
      if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
      return [2, UInt8(bytes.count)] + bytes
    }
    let content = integer(signature[..<32]) + integer(signature[32...])
    return [0x30, UInt8(content.count)] + content
  }
}
