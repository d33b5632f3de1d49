import ZonaiCore
import ZonaiSQL

// Every statement here begins with the keys as a table of their own, `zonai_v`, made of one array a column, and finds each in
// the application's table, `zonai_t`, by the key's index. Its text is the same for any number of them.

extension PostgresDialect {
  public func selectByKey(
    _ target: PruneTarget, keys: [RowKey], columns: [ColumnDescription],
    filter: (inout SQLBuilder) throws(StoreError) -> Void
  ) throws(StoreError) -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.append("SELECT zonai_n - 1, ")
    builder.list(columns) { column, builder in
      builder.append("zonai_t.")
      builder.identifier(column)
    }
    builder.append(" FROM ")
    builder.values(of: target, keys)
    builder.append(" JOIN ")
    builder.identifier(target.table)
    builder.append(" AS zonai_t ON ")
    builder.sameKey(of: target)
    builder.append(" WHERE ")
    try filter(&builder)
    return builder.statement()
  }

  public func selectPairs(_ target: PruneTarget, _ pairs: [Rejection]) -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.append("SELECT zonai_n - 1, zonai_t.*")
    builder.fromPairs(of: target, pairs)
    return builder.statement()
  }

  /// The numbers of the pairs that still match, in key order. `clause` says what is done about locks.
  package func matching(_ target: PruneTarget, _ pairs: [Rejection], clause: StaticString = "") -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.append("SELECT zonai_n - 1")
    builder.fromPairs(of: target, pairs)
    builder.orderByKey(of: target)
    builder.append(clause)
    return builder.statement()
  }

  /// Locks the rows that match and that nobody holds, in key order, and carries the policy out on them; gives their
  /// numbers. nil for the policy that leaves rows alone.
  package func pruneStatement(_ target: PruneTarget, _ pairs: [Rejection], policy: Policy) -> SQLStatement? {
    guard policy != .none else { return nil }
    var builder = SQLBuilder(self)
    builder.append("WITH zonai_l AS MATERIALIZED (SELECT zonai_n")
    for (number, column) in target.key.enumerated() {
      builder.append(", zonai_t.")
      builder.identifier(column)
      builder.append(" AS ")
      builder.identifier("zonai_k\(number)")
    }
    builder.fromPairs(of: target, pairs)
    builder.orderByKey(of: target)
    builder.append(" FOR UPDATE OF zonai_t SKIP LOCKED) ")
    switch policy {
    case .none: return nil
    case .clearColumn:
      builder.append("UPDATE ")
      builder.identifier(target.table)
      builder.append(" AS zonai_t SET ")
      builder.identifier(target.token)
      builder.append(" = NULL FROM zonai_l WHERE ")
    case .deleteRow:
      builder.append("DELETE FROM ")
      builder.identifier(target.table)
      builder.append(" AS zonai_t USING zonai_l WHERE ")
    }
    builder.sameKey(of: target)
    builder.append(" RETURNING zonai_n - 1")
    return builder.statement()
  }
}

extension SQLBuilder {
  /// `unnest(…) WITH ORDINALITY AS zonai_v(…, zonai_n)`: key columns, for pairs the token and the last-seen value, number.
  fileprivate mutating func values(of target: PruneTarget, _ keys: [RowKey], _ pairs: [Rejection]? = nil) {
    append("unnest(")
    list(Array(target.key.enumerated())) { column, builder in
      builder.bindArray(keys.lazy.map { $0.values[column.offset] }, type: column.element.type)
    }
    if let pairs {
      append(", ")
      bindArray(pairs.map { $0.token.value(in: target.token) }, type: comparable(target.token))
      if let lastSeen = target.lastSeen {
        append(", ")
        bindArray(pairs.lazy.map { $0.lastSeen ?? .null }, type: comparable(lastSeen))
      }
    }
    append(") WITH ORDINALITY AS zonai_v(")
    list(Array(target.key.indices)) { $1.identifier("zonai_k\($0)") }
    if pairs != nil {
      append(", zonai_token")
      if target.lastSeen != nil { append(", zonai_seen") }
    }
    append(", zonai_n)")
  }

  /// From the pairs, joined with the rows that still match: key, token byte by byte, and last-seen as it was read, NULL
  /// included.
  fileprivate mutating func fromPairs(of target: PruneTarget, _ pairs: [Rejection]) {
    append(" FROM ")
    values(of: target, pairs.map(\.key), pairs)
    append(" JOIN ")
    identifier(target.table)
    append(" AS zonai_t ON ")
    sameKey(of: target)
    append(" WHERE ")
    asComparable(target.token)
    append(" = zonai_token")
    guard let lastSeen = target.lastSeen else { return }
    append(" AND ")
    asComparable(lastSeen)
    append(" IS NOT DISTINCT FROM zonai_seen")
  }

  fileprivate mutating func sameKey(of target: PruneTarget) {
    list(Array(target.key.enumerated()), separator: " AND ") { column, builder in
      builder.append("zonai_t.")
      builder.identifier(column.element)
      builder.append(" = ")
      builder.identifier("zonai_k\(column.offset)")
    }
  }

  /// In key order, as a row: the columns by themselves are the key's index's own order, and to spare the sorting of a few
  /// pairs that index would be read from end to end.
  fileprivate mutating func orderByKey(of target: PruneTarget) {
    append(" ORDER BY ROW(")
    list(target.key) { column, builder in
      builder.append("zonai_t.")
      builder.identifier(column)
    }
    append(")")
  }

  // MARK: Byte by byte

  /// The column as it is compared with what was read of it: text of whatever type byte by byte,
  /// whatever the collation, and without padding, which the cast takes away.
  private mutating func asComparable(_ column: ColumnDescription) {
    let isText = comparable(column) == "text"
    if isText { append("(") }
    append("zonai_t.")
    identifier(column)
    if isText { append("::text COLLATE \"C\")") }
  }

  private func comparable(_ column: ColumnDescription) -> String {
    PostgresColumn.isText(column) || PostgresColumn.lacksEquality(column) ? "text" : column.type
  }
}

extension DeviceToken {
  /// The token as it is compared with what the column holds.
  fileprivate func value(in column: ColumnDescription) -> Value {
    column.type == "bytea" ? .bytes(bytes) : .text(text)
  }
}
