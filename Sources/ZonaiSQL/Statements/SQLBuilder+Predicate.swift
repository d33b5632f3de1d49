import ZonaiCore

extension SQLBuilder {
  /// Appends the predicate. Every column must be in the table: what is not there cannot be quoted.
  public mutating func predicate(_ predicate: Predicate, in table: TableDescription) throws(StoreError) {
    try self.predicate(predicate, isNegated: false, in: table)
  }

  /// Databases limit how deep an expression lies and how many parentheses are open. So `not` goes
  /// down to the comparisons, and what is nested deepest comes first, where no other operand waits
  /// for it.
  private mutating func predicate(
    _ predicate: Predicate, isNegated: Bool, in table: TableDescription
  ) throws(StoreError) {
    switch predicate {
    case .and(let parts): try join(parts, isAnd: !isNegated, isNegated, table)
    case .or(let parts): try join(parts, isAnd: isNegated, isNegated, table)
    case .not(let part): try self.predicate(part, isNegated: !isNegated, in: table)
    case .compare, .isIn, .like, .isNull:
      if isNegated { append("NOT (") }
      try comparison(predicate, in: table)
      if isNegated { append(")") }
    }
  }

  private mutating func comparison(_ predicate: Predicate, in table: TableDescription) throws(StoreError) {
    switch predicate {
    case .compare(let name, let comparison, let value):
      let column = try column(name, in: table)
      dialect.appendTest(try column.test(comparison, value), of: column, to: &self)
    case .isIn(_, let values) where values.isEmpty:
      append("1 = 0")
    case .isIn(let name, let values):
      let column = try column(name, in: table)
      dialect.appendTest(try column.test(in: values), of: column, to: &self)
    case .like(let name, let pattern):
      let column = try column(name, in: table)
      dialect.appendTest(try column.test(like: pattern), of: column, to: &self)
    case .isNull(let name):
      identifier(try column(name, in: table))
      append(" IS NULL")
    case .and, .or, .not: try self.predicate(predicate, in: table)
    }
  }

  private mutating func join(
    _ parts: [Predicate], isAnd: Bool, _ isNegated: Bool, _ table: TableDescription
  ) throws(StoreError) {
    guard !parts.isEmpty else { return append(isAnd ? "1 = 1" : "1 = 0") }
    let depths = parts.map(\.depth)
    // A list of comparisons keeps its order.
    let deepest = depths.indices.max { depths[$0] < depths[$1] } ?? 0
    guard depths[deepest] > 0 else { return try halves(parts[...], isAnd: isAnd, isNegated, table) }
    var others = parts.indices.sorted { depths[$0] > depths[$1] }.map { parts[$0] }
    let first = others.removeFirst()
    try part(first, of: isAnd, isNegated, table)
    guard !others.isEmpty else { return }
    append(isAnd ? " AND (" : " OR (")
    try halves(others[...], isAnd: isAnd, isNegated, table)
    append(")")
  }

  /// Halves the list again and again: `a AND b AND c AND d` lies three deep, and `(a AND b) AND (c
  /// AND d)` two.
  private mutating func halves(
    _ parts: ArraySlice<Predicate>, isAnd: Bool, _ isNegated: Bool, _ table: TableDescription
  ) throws(StoreError) {
    guard parts.count > 1 else {
      if let only = parts.first { try part(only, of: isAnd, isNegated, table) }
      return
    }
    let middle = parts.startIndex + parts.count / 2
    append("(")
    try halves(parts[..<middle], isAnd: isAnd, isNegated, table)
    append(isAnd ? ") AND (" : ") OR (")
    try halves(parts[middle...], isAnd: isAnd, isNegated, table)
    append(")")
  }

  /// AND binds tighter than OR: the other way round, what is joined stands in parentheses.
  private mutating func part(
    _ predicate: Predicate, of isAnd: Bool, _ isNegated: Bool, _ table: TableDescription
  ) throws(StoreError) {
    let needsParentheses = isAnd && predicate.depth > 0
    if needsParentheses { append("(") }
    try self.predicate(predicate, isNegated: isNegated, in: table)
    if needsParentheses { append(")") }
  }

  private func column(_ name: String, in table: TableDescription) throws(StoreError) -> ColumnDescription {
    if let column = table.column(name) { return column }
    throw StoreError(
      .noSuchColumn,
      "the table \(table.table) has no column \(name): "
        + NearbyNames.phrase(for: name, among: table.columns.map(\.name)))
  }
}

extension Predicate.Comparison {
  /// Between a column and a value.
  public var sql: StaticString {
    switch self {
    case .equal: " = "
    case .notEqual: " <> "
    case .less: " < "
    case .lessOrEqual: " <= "
    case .greater: " > "
    case .greaterOrEqual: " >= "
    }
  }
}

extension Predicate {
  /// How many `and` and `or` lie in one another here.
  fileprivate var depth: Int {
    switch self {
    case .compare, .isIn, .like, .isNull: 0
    case .not(let part): part.depth
    case .and(let parts), .or(let parts): 1 + (parts.lazy.map(\.depth).max() ?? 0)
    }
  }
}
