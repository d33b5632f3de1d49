/// Identifiers made for the occasion.
enum RandomBytes {
  static func make(_ count: Int) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 7)
    // Eight at a time: each number costs a system call.
    while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
    return Array(bytes[..<count])
  }

  static func hex(_ count: Int) -> String { hexText(make(count)) }

  /// Capital letters and digits, as Apple's key ids have them.
  static func keyID() -> String {
    let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
    return String(make(10).map { letters[Int($0) % letters.count] })
  }

  /// A canonical version 4 UUID.
  static func uuid() -> String {
    var bytes = make(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return hexText(bytes, dashesAfter: [4, 6, 8, 10])
  }

  private static let digits = Array("0123456789abcdef".utf8)

  private static func hexText(_ bytes: [UInt8], dashesAfter dashes: [Int] = []) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(2 * bytes.count + dashes.count)
    for (index, byte) in bytes.enumerated() {
      if dashes.contains(index) { text.append(UInt8(ascii: "-")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
