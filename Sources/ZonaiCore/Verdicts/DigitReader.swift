/// Reads fixed forms from the front of a text, byte by byte: dates and times, here.
struct DigitReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ text: some StringProtocol) { rest = ArraySlice(Array(text.utf8)) }

  var isAtEnd: Bool { rest.isEmpty }
  var next: UInt8? { rest.first }

  /// Takes exactly so many decimal digits.
  mutating func number(digits count: Int) -> Int? {
    guard rest.count >= count else { return nil }
    var value = 0
    for byte in rest.prefix(count) {
      guard (0x30...0x39).contains(byte) else { return nil }
      value = value * 10 + Int(byte - 0x30)
    }
    rest.removeFirst(count)
    return value
  }

  /// Takes the text if it stands here, in either case.
  mutating func take(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard rest.count >= wanted.count, zip(rest, wanted).allSatisfy({ lowercased($0) == lowercased($1) }) else {
      return false
    }
    rest.removeFirst(wanted.count)
    return true
  }

  mutating func skip(while condition: (UInt8) -> Bool) { rest = rest.drop(while: condition) }

  mutating func skipSpaces() { skip { $0 == 0x20 || $0 == 0x09 } }

  /// Takes the letters that stand here, in lower case.
  mutating func letters() -> String {
    let word = rest.prefix { (0x61...0x7a).contains(lowercased($0)) }
    rest.removeFirst(word.count)
    return String(decoding: word.map(lowercased), as: UTF8.self)
  }

  private func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }
}
