/// A decimal number with all its digits: what a value means when it is compared with a column of
/// numbers.
struct ExactDecimal: Hashable {
  private(set) var isNegative: Bool
  /// Without zeros at either end; empty for zero. The number is 0.d₁d₂d₃… × 10^exponent.
  private(set) var digits: [UInt8]
  private(set) var exponent: Int

  /// More digits and larger exponents are refused: no column needs them, and databases have limits.
  private static let mostDigits = 1000

  static let zero = ExactDecimal(isNegative: false, digits: [], exponent: 0)

  private init(isNegative: Bool, digits: [UInt8], exponent: Int) {
    let leading = digits.prefix { $0 == 0 }.count
    let kept = digits.dropFirst(leading)
    let end = kept.lastIndex { $0 != 0 }.map { $0 + 1 } ?? kept.startIndex
    self.digits = Array(kept[kept.startIndex..<end])
    self.isNegative = isNegative && !self.digits.isEmpty
    self.exponent = self.digits.isEmpty ? 0 : exponent - leading
  }

  init(_ integer: Int64) {
    let text = String(integer.magnitude)
    self.init(isNegative: integer < 0, digits: text.utf8.map { $0 - 0x30 }, exponent: text.utf8.count)
  }

  init(_ integer: UInt64) {
    let text = String(integer)
    self.init(isNegative: false, digits: text.utf8.map { $0 - 0x30 }, exponent: text.utf8.count)
  }

  /// `-12.50`, `.5`, `1e-3`; nil for everything else.
  init?(_ text: some StringProtocol) {
    var rest = ArraySlice(Array(text.utf8))
    var isNegative = false
    if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
      isNegative = sign == UInt8(ascii: "-")
      rest.removeFirst()
    }
    func digits() -> [UInt8] {
      let found = rest.prefix { (0x30...0x39).contains($0) }
      rest.removeFirst(found.count)
      return found.map { $0 - 0x30 }
    }
    let whole = digits()
    var fraction: [UInt8] = []
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      fraction = digits()
    }
    guard !whole.isEmpty || !fraction.isEmpty, whole.count + fraction.count <= Self.mostDigits else { return nil }
    var exponent = whole.count
    if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      guard rest.count <= 5, let power = Int(String(decoding: rest, as: UTF8.self)), power.magnitude <= 999 else {
        return nil
      }
      exponent += power
      rest = []
    }
    guard rest.isEmpty else { return nil }
    self.init(isNegative: isNegative, digits: whole + fraction, exponent: exponent)
  }

  /// A whole number as it is; a fraction as the shortest text that reads as this number, which is
  /// how it was written. nil for NaN and infinity.
  init?(_ real: Double) {
    guard real.isFinite else { return nil }
    if let whole = Int64(exactly: real) {
      self.init(whole)
    } else if let whole = UInt64(exactly: real) {
      self.init(whole)
    } else {
      self.init(real.description)
    }
  }

  init?(_ real: Float) {
    guard real.isFinite else { return nil }
    if let whole = Int64(exactly: real) { self.init(whole) } else { self.init(real.description) }
  }

  var isWhole: Bool { digits.count <= exponent || digits.isEmpty }
  /// How many digits stand before the point.
  var wholeDigits: Int { max(0, exponent) }

  /// The greatest number with so many digits after the point that is not above this one.
  func floored(scale: Int = 0) -> ExactDecimal {
    let kept = exponent + scale
    guard kept < digits.count else { return self }
    let cut = ExactDecimal(
      isNegative: isNegative, digits: kept > 0 ? Array(digits.prefix(kept)) : [], exponent: max(exponent, -scale))
    guard isNegative else { return cut }
    // Away from zero: one more in the last place.
    var raised = [0] + (kept > 0 ? Array(digits.prefix(kept)) : [])
    var place = raised.count - 1
    while raised[place] == 9 {
      raised[place] = 0
      place -= 1
    }
    raised[place] += 1
    // Without digits left, the last place is the first behind the point's scale.
    return ExactDecimal(isNegative: true, digits: raised, exponent: (kept > 0 ? exponent : -scale) + 1)
  }

  /// The largest number with these limits.
  static func greatest(_ limits: DecimalLimits) -> ExactDecimal {
    ExactDecimal(
      isNegative: false, digits: Array(repeating: 9, count: limits.precision),
      exponent: limits.precision - limits.scale)
  }

  /// Digits with a point where one is needed, and no exponent.
  var text: String {
    guard !digits.isEmpty else { return "0" }
    let written = digits.map { Character(Unicode.Scalar($0 + 0x30)) }
    var text = isNegative ? "-" : ""
    if exponent <= 0 {
      text += "0." + String(repeating: "0", count: -exponent) + String(written)
    } else if digits.count <= exponent {
      text += String(written) + String(repeating: "0", count: exponent - digits.count)
    } else {
      text += String(written.prefix(exponent)) + "." + String(written.dropFirst(exponent))
    }
    return text
  }
}

extension ExactDecimal: Comparable {
  static func < (left: ExactDecimal, right: ExactDecimal) -> Bool {
    if left.isNegative != right.isNegative { return left.isNegative }
    let (less, more) = left.isNegative ? (right, left) : (left, right)
    if less.digits.isEmpty || more.digits.isEmpty { return less.digits.isEmpty && !more.digits.isEmpty }
    if less.exponent != more.exponent { return less.exponent < more.exponent }
    return less.digits.lexicographicallyPrecedes(more.digits)
  }
}
