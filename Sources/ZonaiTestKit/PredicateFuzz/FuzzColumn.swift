import ZonaiCore

/// A column type of one database: how it is declared, what its rows hold, and how they compare.
package struct FuzzColumn: Sendable {
  /// The type as it is declared in CREATE TABLE.
  package var declaration: String
  package var meaning: FuzzMeaning
  /// Some of the values that a row may hold.
  package var cells: [FuzzCell]
  /// Letters for more texts, where the meaning is text.
  package var letters: [String]

  package init(_ declaration: String, _ meaning: FuzzMeaning, _ cells: [FuzzCell] = [], letters: [String] = []) {
    self.declaration = declaration
    self.meaning = meaning
    self.cells = cells
    self.letters = letters
  }
}

extension FuzzColumn {
  package var isGenerated: Bool { declaration.contains("GENERATED") }
  package var isNotNull: Bool { declaration.contains("NOT NULL") }
}

/// What one row holds in one column.
package enum FuzzCell: Sendable, Hashable {
  case null
  case integer(Int64)
  /// Its digits: a whole number beyond 63 bits, or a decimal.
  case digits(String)
  case double(Double)
  case single(Float)
  case boolean(Bool)
  case text(String)
  case bytes([UInt8])
  /// Dates, times and moments, in the one form `2026-01-31 12:00:00.000000` or the part of it that
  /// the column has.
  case time(String)
  /// A value of a type that is not compared, as it is written in a statement.
  case sql(String)
}

/// How a column's values compare.
package enum FuzzMeaning: Sendable {
  /// Numbers. `isWhole`: a boolean may stand for 0 and 1.
  case number(isWhole: Bool)
  case double, single
  case boolean
  case text(FuzzCollation)
  case bytes(width: Int?)
  case uuid(isOrdered: Bool)
  case date, moment
  /// Between so many hours.
  case timeOfDay(ClosedRange<Int>)
  case word([String])
  /// Each row's value has a type of its own: numbers here, and text and bytes that slipped in.
  case looseNumber
  /// So too, and a predicate may ask for any of them. `convertsText`: text that is a number was
  /// stored as one.
  case loose(FuzzCollation, convertsText: Bool)
  case incomparable
}

/// How text compares: by the weights of its letters.
package struct FuzzCollation: Sendable {
  /// The weights of a letter, none for one that is passed over; of letters that are not here, their
  /// code points.
  package var weights: [Unicode.Scalar: [Int]]
  /// Whether the shorter text is filled up with blanks.
  package var padsBlanks: Bool
  /// Whether the blanks at the end are not part of the column's values.
  package var trimsBlanks: Bool
  /// Whether `like` sees no end of a text behind a zero, so that such rows are not asked.
  package var likeEndsAtZero: Bool
  /// Characters that the column can hold.
  package var holds: @Sendable (Unicode.Scalar) -> Bool
  package var hasLike: Bool

  package init(
    weights: [Unicode.Scalar: [Int]] = [:], padsBlanks: Bool = false, trimsBlanks: Bool = false,
    likeEndsAtZero: Bool = false, hasLike: Bool = true,
    holds: @escaping @Sendable (Unicode.Scalar) -> Bool = { _ in true }
  ) {
    self.weights = weights
    self.padsBlanks = padsBlanks
    self.trimsBlanks = trimsBlanks
    self.likeEndsAtZero = likeEndsAtZero
    self.hasLike = hasLike
    self.holds = holds
  }

  /// Code points, in upper case where that is one of ASCII's.
  package static let ignoringASCIICase = Dictionary(
    uniqueKeysWithValues: (0x61...0x7a).map { code in (Unicode.Scalar(UInt8(code)), [code - 0x20]) })

  /// Code points, in lower case where that is one of ASCII's.
  package static let loweringASCII = Dictionary(
    uniqueKeysWithValues: (0x41...0x5a).map { code in (Unicode.Scalar(UInt8(code)), [code + 0x20]) })

  private func weight(_ scalar: Unicode.Scalar) -> [Int] { weights[scalar] ?? [Int(scalar.value)] }

  func compare(_ left: String, _ right: String) -> Int {
    var left = left.unicodeScalars.flatMap(weight)
    var right = right.unicodeScalars.flatMap(weight)
    let blank = weight(" ")[0]
    if trimsBlanks {
      while left.last == blank { left.removeLast() }
      while right.last == blank { right.removeLast() }
    }
    if padsBlanks {
      while left.count < right.count { left.append(blank) }
      while right.count < left.count { right.append(blank) }
    }
    for (one, other) in zip(left, right) where one != other { return one < other ? -1 : 1 }
    return left.count - right.count
  }

  func isLike(_ text: String, _ pattern: String) -> Bool {
    var text = Array(text.unicodeScalars)
    if trimsBlanks, !likeEndsAtZero { while text.last == " " { text.removeLast() } }
    // The places in the text that the pattern up to here can end at.
    var ends: Set<Int> = [0]
    for letter in pattern.unicodeScalars {
      switch letter {
      case "%": ends = ends.min().map { Set($0...text.count) } ?? []
      case "_": ends = Set(ends.filter { $0 < text.count }.map { $0 + 1 })
      default: ends = Set(ends.filter { $0 < text.count && weight(text[$0]) == weight(letter) }.map { $0 + 1 })
      }
    }
    return ends.contains(text.count)
  }
}
