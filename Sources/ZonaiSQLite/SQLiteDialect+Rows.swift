import ZonaiCore
import ZonaiSQL

// Every statement here begins with the keys as a table of their own, `zonai_v`, and finds each in the application's table,
// `zonai_t`, by the key's index. `(id, token) IN (VALUES …)` would scan the whole table instead.

extension SQLiteDialect {
  /// A batch's usual handful of the dead. Statements for so many come again, and are kept; each number has its own.
  private static let fewPairs = 24

  public func selectByKey(
    _ target: PruneTarget, keys: [RowKey], columns: [ColumnDescription],
    filter: (inout SQLBuilder) throws(StoreError) -> Void
  ) throws(StoreError) -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.values(of: target, keys.map { ($0, nil) })
    builder.append("SELECT zonai_n, ")
    builder.list(columns) { column, builder in
      builder.append("zonai_t.")
      builder.identifier(column)
    }
    builder.append(" FROM zonai_v CROSS JOIN ")
    builder.identifier(target.table)
    builder.append(" AS zonai_t WHERE ")
    builder.sameKey(of: target)
    builder.append(" AND ((")
    try filter(&builder)
    builder.append(") IS TRUE)")
    return builder.statement(isReused: keys.count <= Self.fewPairs)
  }

  public func selectPairs(_ target: PruneTarget, _ pairs: [Rejection]) -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.values(of: target, pairs.map { ($0.key, $0) })
    builder.append("SELECT zonai_n, zonai_t.* FROM zonai_v CROSS JOIN ")
    builder.identifier(target.table)
    builder.append(" AS zonai_t WHERE ")
    builder.samePair(of: target)
    return builder.statement(isReused: pairs.count <= Self.fewPairs)
  }

  public func prune(
    _ target: PruneTarget, _ pairs: [Rejection], policy: Policy, on connection: SQLiteConnection
  ) throws(StoreError) -> Set<Int> {
    guard let statement = pruneStatement(target, pairs, policy: policy) else { return [] }
    let numbers = Dictionary(pairs.enumerated().map { ($1.key.identity, $0) }) { first, _ in first }
    var pruned: Set<Int> = []
    try connection.run(statement) { row throws(StoreError) in
      var values: [Value] = []
      for column in target.key.indices { values.append(try row.keyValue(column)) }
      if let number = numbers[RowKey(values).identity] { pruned.insert(number) }
    }
    return pruned
  }

  /// nil for the policy that leaves rows alone.
  package func pruneStatement(_ target: PruneTarget, _ pairs: [Rejection], policy: Policy) -> SQLStatement? {
    var builder = SQLBuilder(self)
    builder.values(of: target, pairs.map { ($0.key, $0) })
    switch policy {
    case .none: return nil
    case .clearColumn:
      builder.append("UPDATE ")
      builder.identifier(target.table)
      builder.append(" AS zonai_t SET ")
      builder.identifier(target.token)
      builder.append(" = NULL FROM zonai_v WHERE ")
      builder.samePair(of: target)
    case .deleteRow:
      // DELETE joins nothing in SQLite. A list that a SELECT gives is looked up by the key's index.
      builder.append("DELETE FROM ")
      builder.identifier(target.table)
      builder.append(target.key.count > 1 ? " WHERE (" : " WHERE ")
      builder.list(target.key) { $1.identifier($0) }
      builder.append(target.key.count > 1 ? ") IN (SELECT " : " IN (SELECT ")
      builder.list(target.key) { column, builder in
        builder.append("zonai_t.")
        builder.identifier(column)
      }
      builder.append(" FROM zonai_v CROSS JOIN ")
      builder.identifier(target.table)
      builder.append(" AS zonai_t WHERE ")
      builder.samePair(of: target)
      builder.append(")")
    }
    // What the FROM clause brought may not be returned: the key says which pair it was.
    builder.append(" RETURNING ")
    builder.list(target.key) { $1.identifier($0) }
    return builder.statement(isReused: pairs.count <= Self.fewPairs)
  }
}

extension SQLBuilder {
  /// `WITH zonai_v(…) AS (VALUES …)`: number, key columns, and for pairs the token and the last-seen value.
  fileprivate mutating func values(of target: PruneTarget, _ rows: [(key: RowKey, pair: Rejection?)]) {
    let isPairs = rows.first?.pair != nil
    append("WITH zonai_v(zonai_n")
    for number in target.key.indices {
      append(", ")
      identifier("zonai_k\(number)")
    }
    if isPairs { append(", zonai_token") }
    if isPairs, target.lastSeen != nil { append(", zonai_seen") }
    append(") AS (VALUES ")
    list(Array(rows.enumerated())) { row, builder in
      builder.append("(")
      builder.bind(.integer(Int64(row.offset)))
      for (column, value) in zip(target.key, row.element.key.values) {
        builder.append(", ")
        builder.bind(value, for: column)
      }
      if let pair = row.element.pair {
        builder.append(", ")
        builder.bind(.bytes(pair.token.bytes))
        if let lastSeen = target.lastSeen {
          builder.append(", ")
          builder.bind(pair.lastSeen ?? .null, for: lastSeen)
        }
      }
      builder.append(")")
    }
    append(") ")
  }

  /// The column stands on the left, so that its affinity and its collation, the index's, decide.
  fileprivate mutating func sameKey(of target: PruneTarget) {
    list(Array(target.key.enumerated()), separator: " AND ") { column, builder in
      builder.append("zonai_t.")
      builder.identifier(column.element)
      builder.append(" = ")
      builder.identifier("zonai_k\(column.offset)")
    }
  }

  /// Key, token byte by byte whatever its collation and type, and last-seen as it was read, NULL included.
  fileprivate mutating func samePair(of target: PruneTarget) {
    sameKey(of: target)
    append(" AND CAST(zonai_t.")
    identifier(target.token)
    append(" AS BLOB) = zonai_token")
    guard let lastSeen = target.lastSeen else { return }
    append(" AND zonai_t.")
    identifier(lastSeen)
    append(" IS zonai_seen")
  }
}
