extension JSONReader {
  /// RFC 8259, section 6: no leading zeros, no plus sign, digits on both sides of the point.
  mutating func number() throws(JSONError) -> JSON {
    let start = position
    var isWhole = true
    _ = take(UInt8(ascii: "-"))
    if take(UInt8(ascii: "0")) {
      if isDigit { throw error(.syntax, "a number does not begin with a zero") }
    } else {
      try digits()
    }
    if take(UInt8(ascii: ".")) {
      isWhole = false
      try digits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      isWhole = false
      if !take(UInt8(ascii: "-")) { _ = take(UInt8(ascii: "+")) }
      try digits()
    }
    let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
    if isWhole, let value = Int64(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite else {
      throw JSONError(.numberOutOfRange, "the number is too large", at: start, in: bytes)
    }
    return .number(value)
  }

  private var isDigit: Bool {
    guard let byte = peek() else { return false }
    return byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private mutating func digits() throws(JSONError) {
    guard isDigit else { throw error(.syntax, "a digit is expected here") }
    while isDigit { position += 1 }
  }
}
