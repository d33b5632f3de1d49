import ZonaiCore

extension SQLBuilder {
  /// Appends the predicate. Every column must be in the table: what is not there cannot be quoted.
  public mutating func predicate(_ predicate: Predicate, in table: TableDescription) throws(StoreError) {
    switch predicate {
    case .compare(let name, let comparison, let value):
      let column = try column(name, in: table)
      identifier(column)
      append(words(for: comparison))
      bind(try dialect.operand(value, for: column), for: column)
    case .isIn(_, let values) where values.isEmpty:
      append("1 = 0")
    case .isIn(let name, let values):
      let column = try column(name, in: table)
      var operands: [Value] = []
      operands.reserveCapacity(values.count)
      for value in values { operands.append(try dialect.operand(value, for: column)) }
      dialect.appendIsIn(column, operands, to: &self)
    case .like(let name, let pattern):
      dialect.appendLike(try column(name, in: table), pattern, to: &self)
    case .isNull(let name):
      identifier(try column(name, in: table))
      append(" IS NULL")
    case .and(let parts):
      try join(parts[...], " AND ", none: "1 = 1", in: table)
    case .or(let parts):
      try join(parts[...], " OR ", none: "1 = 0", in: table)
    case .not(let part):
      append("NOT (")
      try self.predicate(part, in: table)
      append(")")
    }
  }

  /// Halves the list again and again: databases limit how deep an expression lies, and `a AND b AND c` lies three deep.
  private mutating func join(
    _ parts: ArraySlice<Predicate>, _ separator: StaticString, none: StaticString, in table: TableDescription
  ) throws(StoreError) {
    guard let first = parts.first else { return append(none) }
    append("(")
    if parts.count == 1 {
      try predicate(first, in: table)
    } else {
      let middle = parts.startIndex + parts.count / 2
      try join(parts[..<middle], separator, none: none, in: table)
      append(separator)
      try join(parts[middle...], separator, none: none, in: table)
    }
    append(")")
  }

  private func column(_ name: String, in table: TableDescription) throws(StoreError) -> ColumnDescription {
    if let column = table.column(name) { return column }
    throw StoreError(
      .noSuchColumn,
      "the table \(table.table) has no column \(name): "
        + NearbyNames.phrase(for: name, among: table.columns.map(\.name)))
  }

  private func words(for comparison: Predicate.Comparison) -> StaticString {
    switch comparison {
    case .equal: " = "
    case .notEqual: " <> "
    case .less: " < "
    case .lessOrEqual: " <= "
    case .greater: " > "
    case .greaterOrEqual: " >= "
    }
  }
}
