/// A number written out, digit by digit, with no exponent: what `FuzzModel` compares.
struct FuzzNumber {
  private var isNegative: Bool
  private var whole: String
  private var fraction: String

  /// nil for anything but a plain number.
  init?(_ text: String) {
    var rest = Substring(text)
    isNegative = rest.hasPrefix("-")
    if isNegative || rest.hasPrefix("+") { rest.removeFirst() }
    var power = 0
    if let mark = rest.firstIndex(where: { $0 == "e" || $0 == "E" }) {
      let exponent = rest[rest.index(after: mark)...]
      guard let read = Int(exponent), abs(read) <= 999, exponent.count <= 5 else { return nil }
      power = read
      rest = rest[..<mark]
    }
    let parts = rest.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    whole = parts.first.map(String.init) ?? ""
    fraction = parts.count > 1 ? String(parts[1]) : ""
    guard !(whole + fraction).isEmpty, (whole + fraction).utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    while power > 0 {
      whole.append(fraction.isEmpty ? "0" : fraction.removeFirst())
      power -= 1
    }
    while power < 0 {
      fraction = (whole.isEmpty ? "0" : String(whole.removeLast())) + fraction
      power += 1
    }
    whole = String(whole.drop { $0 == "0" })
    while fraction.hasSuffix("0") { fraction.removeLast() }
    if whole.isEmpty, fraction.isEmpty { isNegative = false }
  }

  /// A whole number as it is, a fraction as it is written in the fewest digits.
  init?(_ double: Double) {
    guard double.isFinite else { return nil }
    if let integer = Int64(exactly: double) {
      self.init(String(integer))
    } else {
      self.init(UInt64(exactly: double).map { String($0) } ?? "\(double)")
    }
  }

  init?(_ single: Float) {
    guard single.isFinite else { return nil }
    self.init(Int64(exactly: single).map { String($0) } ?? "\(single)")
  }

  func compare(_ other: FuzzNumber) -> Int {
    if isNegative != other.isNegative { return isNegative ? -1 : 1 }
    let order = magnitude(other)
    return isNegative ? -order : order
  }

  private func magnitude(_ other: FuzzNumber) -> Int {
    if whole.utf8.count != other.whole.utf8.count { return whole.utf8.count < other.whole.utf8.count ? -1 : 1 }
    if whole != other.whole { return whole < other.whole ? -1 : 1 }
    return fraction == other.fraction ? 0 : fraction < other.fraction ? -1 : 1
  }
}
