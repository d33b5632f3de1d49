import ZonaiJSON

/// A signed statement that names who asks: `header.claims.signature` (RFC 7519).
enum JSONWebToken {
  /// nil when OpenSSL fails to sign for want of memory.
  static func make(header: [String: JSON], claims: [String: JSON], key: SigningKey) -> String? {
    make(header: header, claims: claims, algorithm: key.algorithm, signature: key.sign)
  }

  /// nil when there is no signature.
  static func make(
    header: [String: JSON], claims: [String: JSON], algorithm: SigningKey.Algorithm,
    signature: (_ message: [UInt8]) -> [UInt8]?
  ) -> String? {
    var header = header
    header["alg"] = .string(algorithm.rawValue)
    header["typ"] = "JWT"
    let signed = base64URL(JSON.object(header).bytes) + "." + base64URL(JSON.object(claims).bytes)
    guard let signature = signature(Array(signed.utf8)) else { return nil }
    return signed + "." + base64URL(signature)
  }

  /// Base64 with the alphabet for addresses and without padding (RFC 4648, section 5).
  static func base64URL(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var output: [UInt8] = []
    output.reserveCapacity((bytes.count * 4 + 2) / 3)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        output.append(alphabet[Int(bits >> UInt32(count) & 63)])
      }
    }
    if count > 0 { output.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
    return String(decoding: output, as: UTF8.self)
  }
}
