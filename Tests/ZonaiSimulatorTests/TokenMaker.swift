import CZonaiOpenSSL
import ZonaiJSON

/// Signs tokens as clients do, and as they should not.
enum TokenMaker {
  enum Form {
    case rs256
    /// ES256 as JOSE wants it.
    case es256
    /// ES256 in DER, the form in which OpenSSL gives it, and a common mistake.
    case es256DER
  }

  struct Failure: Error {}

  static func sign(_ header: JSON, _ claims: JSON, keyPEM: String, _ form: Form) throws -> String {
    let text = encode(header.bytes) + "." + encode(claims.bytes)
    var signature = try signature(Array(text.utf8), keyPEM)
    if form == .es256 { signature = try jose(signature) }
    return text + "." + encode(signature)
  }

  private static func signature(_ text: [UInt8], _ pem: String) throws -> [UInt8] {
    // The memory BIO copies nothing: the text must outlive it.
    let parsed = pem.withCString { text -> OpaquePointer? in
      guard let source = BIO_new_mem_buf(text, -1) else { return nil }
      defer { BIO_free(source) }
      return PEM_read_bio_PrivateKey(source, nil, nil, nil)
    }
    guard let key = parsed else { throw Failure() }
    defer { EVP_PKEY_free(key) }
    guard let context = EVP_MD_CTX_new() else { throw Failure() }
    defer { EVP_MD_CTX_free(context) }
    var count = 512
    var signature = [UInt8](repeating: 0, count: count)
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
      EVP_DigestSign(context, &signature, &count, text, text.count) == 1
    else { throw Failure() }
    return Array(signature[..<count])
  }

  /// The two numbers of DER's sequence, each in 32 bytes.
  private static func jose(_ der: [UInt8]) throws -> [UInt8] {
    var rest = der.dropFirst(2)
    var joined: [UInt8] = []
    for _ in 0..<2 {
      guard rest.popFirst() == 2, let count = rest.popFirst() else { throw Failure() }
      let number = rest.prefix(Int(count)).drop { $0 == 0 }
      rest = rest.dropFirst(Int(count))
      joined += [UInt8](repeating: 0, count: 32 - number.count) + number
    }
    return joined
  }

  static func encode(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      for index in 0...group.count { text.append(alphabet[bits >> (18 - 6 * index) & 63]) }
    }
    return text
  }
}

extension Bench {
  /// A provider token, with whatever is to be wrong about it.
  func providerToken(
    issuedAt: Int64? = nil, keyID: String? = nil, teamID: String? = nil, algorithm: String = "ES256",
    form: TokenMaker.Form = .es256, keyPEM: String? = nil
  ) throws -> String {
    try TokenMaker.sign(
      ["alg": .string(algorithm), "kid": .string(keyID ?? self.keyID)],
      ["iss": .string(teamID ?? self.teamID), "iat": .integer(issuedAt ?? now)],
      keyPEM: keyPEM ?? Program.read(keyFile), form)
  }

  /// The assertion of a service account, with whatever is to be changed about its claims.
  func assertion(_ changes: [String: JSON] = [:], header: [String: JSON] = [:], keyPEM: String? = nil) throws -> String
  {
    let claims: [String: JSON] = [
      "iss": serviceAccount["client_email"] ?? nil, "aud": serviceAccount["token_uri"] ?? nil,
      "scope": "https://www.googleapis.com/auth/firebase.messaging", "iat": .integer(now), "exp": .integer(now + 3600),
    ]
    let head: [String: JSON] = ["alg": "RS256", "typ": "JWT", "kid": serviceAccount["private_key_id"] ?? nil]
    return try TokenMaker.sign(
      .object(head.merging(header) { $1 }), .object(claims.merging(changes) { $1 }),
      keyPEM: keyPEM ?? serviceAccount["private_key"]?.string ?? "", .rs256)
  }
}
