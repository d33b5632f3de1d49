/// A body of the type application/x-www-form-urlencoded.
enum FormFields {
  static func parse(_ bytes: [UInt8]) -> [String: String] {
    var fields: [String: String] = [:]
    for pair in bytes.split(separator: UInt8(ascii: "&")) {
      let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      fields[decode(halves[0], plusIsSpace: true)] = halves.count > 1 ? decode(halves[1], plusIsSpace: true) : ""
    }
    return fields
  }

  /// Undoes percent-encoding; a percent sign that begins none stays as it is.
  static func decode(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> String {
    var decoded: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "+"), plusIsSpace {
        decoded.append(UInt8(ascii: " "))
      } else if byte == UInt8(ascii: "%"), let value = hex(rest.prefix(2)) {
        decoded.append(value)
        rest = rest.dropFirst(2)
      } else {
        decoded.append(byte)
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  private static func hex(_ digits: some Collection<UInt8>) -> UInt8? {
    guard digits.count == 2, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
