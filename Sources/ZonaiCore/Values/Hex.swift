extension [UInt8] {
  /// The bytes as lower-case hexadecimal text.
  public var hex: String {
    let digits: [UInt8] = Array("0123456789abcdef".utf8)
    return String(unsafeUninitializedCapacity: count * 2) { buffer in
      for (index, byte) in enumerated() {
        buffer[index * 2] = digits[Int(byte >> 4)]
        buffer[index * 2 + 1] = digits[Int(byte & 15)]
      }
      return count * 2
    }
  }

  /// The bytes that hexadecimal text of either case stands for; nil when it is not that.
  public init?(hex: String) {
    let text = Array<UInt8>(hex.utf8)
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    for index in stride(from: 0, to: text.count, by: 2) {
      guard let high = text[index].hexDigit, let low = text[index + 1].hexDigit else { return nil }
      bytes.append(high << 4 | low)
    }
    self = bytes
  }
}

extension UInt8 {
  /// The value of an ASCII hexadecimal digit; nil for any other byte.
  public var hexDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
