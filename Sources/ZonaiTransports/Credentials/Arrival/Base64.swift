import CZonaiOpenSSL

/// Base64 as keys are written in it, with padding (RFC 4648, section 4).
enum Base64 {
  /// nil for what is not base64.
  static func decoded(_ text: [UInt8]) -> [UInt8]? {
    let digits = text.prefix { $0 != UInt8(ascii: "=") }
    let padding = text.count - digits.count
    guard !text.isEmpty, text.count.isMultiple(of: 4), padding <= 2, digits.allSatisfy(isDigit) else { return nil }
    var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3)
    guard EVP_DecodeBlock(&bytes, text, Int32(text.count)) == Int32(bytes.count) else { return nil }
    return Array(bytes.dropLast(padding))
  }

  static func encoded(_ bytes: [UInt8]) -> String {
    // OpenSSL ends the text with a zero.
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
    return String(decoding: text.prefix(Int(count)), as: UTF8.self)
  }

  static func isDigit(_ byte: UInt8) -> Bool {
    (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "+")
      || byte == UInt8(ascii: "/")
  }
}
