extension Predicate {
  /// The condition as `PredicateParser` reads it. It shows values, so it is for the person who wrote them.
  ///
  /// Reading it again gives an equal tree, except that a `null` or a NaN to compare with has no text that can be read, and an
  /// `and` or `or` of a single part is that part.
  public var text: String { PredicateText.render(self, inside: .nothing) }
}

/// Writes a predicate as text.
enum PredicateText {
  enum Place { case nothing, and, or, not }

  static func render(_ predicate: Predicate, inside place: Place) -> String {
    switch predicate {
    case .compare(let column, let comparison, let value):
      "\(name(column)) \(comparison.rawValue) \(literal(value))"
    case .isIn(let column, let values): "\(name(column)) in (\(list(values)))"
    case .like(let column, let pattern): "\(name(column)) like \(literal(.text(pattern)))"
    case .isNull(let column): "\(name(column)) is null"
    case .not(.isIn(let column, let values)): "\(name(column)) not in (\(list(values)))"
    case .not(.like(let column, let pattern)): "\(name(column)) not like \(literal(.text(pattern)))"
    case .not(.isNull(let column)): "\(name(column)) is not null"
    case .not(let part): "not \(render(part, inside: .not))"
    case .and(let parts): joined(parts, by: "and", as: .and, inside: place)
    case .or(let parts): joined(parts, by: "or", as: .or, inside: place)
    }
  }

  private static func joined(_ parts: [Predicate], by word: String, as own: Place, inside place: Place) -> String {
    // Of no part at all, "all" holds and "any" does not.
    if parts.isEmpty { return own == .and ? "true" : "false" }
    if parts.count == 1 { return render(parts[0], inside: place) }
    let text = parts.map { render($0, inside: own) }.joined(separator: " \(word) ")
    // `and` binds tighter than `or`, so only that nesting needs no parentheses.
    let isPlain = place == .nothing || (place == .or && own == .and)
    return isPlain ? text : "(\(text))"
  }

  /// A column's name, in double quotes where it would not be read as one without them.
  static func name(_ column: String) -> String {
    let bytes = column.utf8
    let isPlain =
      bytes.first.map(PredicateScanner.isNameStart) ?? false
      && bytes.allSatisfy { PredicateScanner.isNamePart($0) && $0 < 0x80 }
      && !PredicateToken.keywords.contains(column.lowercased())
    return isPlain ? column : quoted(column, by: "\"")
  }

  private static func list(_ values: [Value]) -> String { values.map(literal).joined(separator: ", ") }

  static func literal(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .boolean(let boolean): boolean ? "true" : "false"
    case .integer(let integer): "\(integer)"
    // Larger than any number there is: read back as infinity.
    case .real(let real) where real.isInfinite: real < 0 ? "-1e999" : "1e999"
    // Larger ones are written with fewer digits than they have.
    case .real(let real) where real.magnitude >= 0x1p53: whole(real) ?? "\(real)"
    case .real(let real): "\(real)"
    case .text(let text): quoted(text, by: "'")
    case .bytes(let bytes): "x'\(bytes.hex)'"
    }
  }

  private static func whole(_ real: Double) -> String? {
    (Int64(exactly: real).map { String($0) } ?? UInt64(exactly: real).map { String($0) }).map { $0 + ".0" }
  }

  private static func quoted(_ text: String, by quote: Character) -> String {
    var quoted = String(quote)
    for scalar in text.unicodeScalars {
      if Character(scalar) == quote { quoted.append(quote) }
      quoted.unicodeScalars.append(scalar)
    }
    quoted.append(quote)
    return quoted
  }
}
