/// What a column holds, as far as predicates are concerned: it decides which values the column can
/// be compared with.
///
/// A store derives it from the column's type. What is not certain is `other`: comparing it is
/// refused, `is null` is not.
public enum ColumnKind: Sendable, Hashable {
  /// Whole numbers from `least` to `greatest`.
  case integer(least: Int64 = .min, greatest: UInt64 = UInt64(Int64.max))
  /// Decimals, exact. Without limits they have any number of digits.
  case decimal(DecimalLimits?)
  /// Floating point of 64 bits, or of 32. It may hold NaN, which no comparison accepts.
  case real(isSingle: Bool = false)
  /// 64-bit integers and floating point side by side, as SQLite keeps numbers.
  case number
  case boolean
  case text(TextRules = TextRules())
  /// Bytes; filled up with zeros to `width` where there is one.
  case bytes(width: Int? = nil)
  /// A UUID; `isOrdered` when the database sorts it as its text.
  case uuid(isOrdered: Bool)
  case date
  /// A date and a time to the microsecond; in UTC, or without a zone and then taken as UTC.
  case moment
  /// A time to the microsecond, or a span of hours, between these hours.
  case timeOfDay(least: Int, greatest: Int)
  /// One of these words, compared as a word, without an order.
  case choice([String])
  /// Each row's value has a type of its own. Where `convertsText`, text that is a number was stored
  /// as one.
  case anything(convertsText: Bool)
  /// A list of values in one row.
  case array
  case json
  /// Nothing that can be compared exactly.
  case other
}

/// How many digits a decimal column has.
public struct DecimalLimits: Sendable, Hashable {
  /// All of them.
  public var precision: Int
  /// Those after the point.
  public var scale: Int

  public init(precision: Int, scale: Int) {
    self.precision = precision
    self.scale = scale
  }
}

/// How a text column compares.
public struct TextRules: Sendable, Hashable {
  /// Which characters it can hold.
  public enum Repertoire: Sendable, Hashable {
    case unicode
    /// Unicode except U+0000.
    case unicodeWithoutZero
    /// Unicode up to U+FFFF.
    case basicPlane
    /// Windows-1252, which MySQL calls latin1.
    case windows1252
    case ascii
    /// What every character set has: letters, digits and some punctuation of ASCII.
    case common
  }

  public var repertoire: Repertoire
  /// Whether the column can be searched with `like`.
  public var hasLike: Bool

  public init(_ repertoire: Repertoire = .unicode, hasLike: Bool = true) {
    self.repertoire = repertoire
    self.hasLike = hasLike
  }
}

extension TextRules.Repertoire {
  func holds(_ text: String) -> Bool {
    switch self {
    case .unicode: true
    case .unicodeWithoutZero: !text.utf8.contains(0)
    case .basicPlane: text.unicodeScalars.allSatisfy { $0.value <= 0xffff }
    case .windows1252: text.unicodeScalars.allSatisfy(Self.isWindows1252)
    case .ascii: text.utf8.allSatisfy { $0 < 0x80 }
    case .common: text.utf8.allSatisfy(Self.isCommon)
    }
  }

  private static func isWindows1252(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0x80, 0xa0...0xff, 0x81, 0x8d, 0x8f, 0x90, 0x9d: true
    default: "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ".unicodeScalars.contains(scalar)
    }
  }

  private static func isCommon(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: " -_.,:/".utf8.contains(byte)
    }
  }
}
