extension JSONReader {
  /// The text between two double quotes; most has no escape and is taken in one piece.
  mutating func string() throws(JSONError) -> String {
    position += 1
    let start = position
    while let byte = peek(), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
    if peek() == UInt8(ascii: "\"") {
      defer { position += 1 }
      return try text(bytes[start..<position], from: start)
    }
    var unescaped = Array(bytes[start..<position])
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return try text(unescaped, from: start)
      case UInt8(ascii: "\\"):
        position += 1
        try escape(into: &unescaped)
      case ..<0x20:
        throw error(.syntax, "a control character within text is written as an escape, for instance \\n")
      default:
        unescaped.append(byte)
        position += 1
      }
    }
    throw JSONError(.syntax, "the text that begins here has no closing quote", at: start - 1, in: bytes)
  }

  private func text(_ utf8: some Collection<UInt8>, from start: Int) throws(JSONError) -> String {
    if let text = String(validating: utf8, as: UTF8.self) { return text }
    throw JSONError(.invalidUTF8, "the text that begins here is not UTF-8", at: start, in: bytes)
  }

  private mutating func escape(into unescaped: inout [UInt8]) throws(JSONError) {
    guard let byte = peek() else { throw error(.syntax, "the text ends within an escape") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): unescaped.append(byte)
    case UInt8(ascii: "b"): unescaped.append(0x08)
    case UInt8(ascii: "f"): unescaped.append(0x0C)
    case UInt8(ascii: "n"): unescaped.append(0x0A)
    case UInt8(ascii: "r"): unescaped.append(0x0D)
    case UInt8(ascii: "t"): unescaped.append(0x09)
    case UInt8(ascii: "u"): try appendScalar(to: &unescaped)
    default:
      position -= 1
      throw error(.syntax, "there is no such escape")
    }
  }

  /// `\uXXXX`, or two of them that make a surrogate pair. A lone surrogate is no character, so it is refused.
  private mutating func appendScalar(to unescaped: inout [UInt8]) throws(JSONError) {
    let start = position - 2
    var code = UInt32(try hexDigits())
    if code >= 0xD800, code < 0xDC00, position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "u")
    {
      position += 2
      let low = UInt32(try hexDigits())
      code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xD800
    }
    guard let scalar = Unicode.Scalar(code) else {
      throw JSONError(.syntax, "half of a surrogate pair is no character", at: start, in: bytes)
    }
    unescaped.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
  }

  private mutating func hexDigits() throws(JSONError) -> UInt16 {
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error(.syntax, "four hexadecimal digits are expected after \\u")
      }
      value = value << 4 | UInt16(digit)
      position += 1
    }
    return value
  }
}
