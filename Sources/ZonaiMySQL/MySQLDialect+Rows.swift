import ZonaiCore
import ZonaiJSON
import ZonaiSQL

// Every statement here begins with the keys as a table of their own, `zonai_v`, which the server makes of one value of JSON,
// and finds each in the application's table, `zonai_t`, by the key's index: STRAIGHT_JOIN keeps that order.

extension MySQLDialect {
  public func selectByKey(
    _ target: PruneTarget, keys: [RowKey], columns: [ColumnDescription],
    filter: (inout SQLBuilder) throws(StoreError) -> Void
  ) throws(StoreError) -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.append("SELECT STRAIGHT_JOIN zonai_n, ")
    builder.list(columns) { column, builder in
      builder.append("zonai_t.")
      builder.identifier(column)
    }
    builder.append(" FROM ")
    builder.pairs(of: target, keys.map { ($0, nil) })
    builder.append(" JOIN ")
    builder.identifier(target.table)
    builder.append(" AS zonai_t")
    builder.keyIndex(of: target)
    builder.append(" WHERE ")
    builder.sameKey(of: target)
    builder.append(" AND IF((")
    try filter(&builder)
    builder.append("), 1, 0) = 1")
    return builder.statement()
  }

  public func selectPairs(_ target: PruneTarget, _ pairs: [Rejection]) -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.append("SELECT STRAIGHT_JOIN zonai_n, zonai_t.* FROM ")
    builder.matching(pairs, of: target)
    // The table's columns may be others by the next time.
    return builder.statement(isReused: false)
  }

  /// The numbers of the pairs that still match; `lock` is what becomes of their rows.
  func selectNumbers(_ target: PruneTarget, _ pairs: [Rejection], lock: StaticString = "") -> SQLStatement {
    var builder = SQLBuilder(self)
    builder.append("SELECT STRAIGHT_JOIN zonai_n FROM ")
    builder.matching(pairs, of: target)
    builder.append(lock)
    return builder.statement()
  }

  /// nil for the policy that leaves rows alone.
  package func pruneStatement(_ target: PruneTarget, _ pairs: [Rejection], policy: Policy) -> SQLStatement? {
    var builder = SQLBuilder(self)
    switch policy {
    case .none: return nil
    case .clearColumn:
      builder.append("UPDATE ")
      builder.pairs(of: target, pairs.map { ($0.key, $0) })
      builder.append(" STRAIGHT_JOIN ")
      builder.identifier(target.table)
      builder.append(" AS zonai_t")
      builder.keyIndex(of: target)
      builder.append(" SET zonai_t.")
      builder.identifier(target.token)
      builder.append(" = NULL WHERE ")
      builder.samePair(of: target)
    case .deleteRow:
      builder.append("DELETE zonai_t FROM ")
      builder.pairs(of: target, pairs.map { ($0.key, $0) })
      builder.append(" STRAIGHT_JOIN ")
      builder.identifier(target.table)
      builder.append(" AS zonai_t")
      builder.keyIndex(of: target)
      builder.append(" WHERE ")
      builder.samePair(of: target)
    }
    return builder.statement()
  }
}

extension SQLBuilder {
  fileprivate mutating func matching(_ pairs: [Rejection], of target: PruneTarget) {
    self.pairs(of: target, pairs.map { ($0.key, $0) })
    append(" JOIN ")
    identifier(target.table)
    append(" AS zonai_t")
    keyIndex(of: target)
    append(" WHERE ")
    samePair(of: target)
  }

  /// The keys, or pairs, as the table `zonai_v`: their number, the token, the last-seen and the key's columns.
  fileprivate mutating func pairs(of target: PruneTarget, _ rows: [(key: RowKey, pair: Rejection?)]) {
    let isPairs = rows.first?.pair != nil
    let types = target.key.map { MySQLType($0) }
    let seen = isPairs ? target.lastSeen.map { MySQLType($0) } : nil
    var elements: [[JSON]] = []
    for (number, row) in rows.enumerated() {
      var element: [JSON] = [.integer(Int64(number))]
      element.append(row.pair.map { .string($0.token.bytes.hex) } ?? .null)
      guard let stored = seen.map({ $0.stored(row.pair?.lastSeen ?? .null) }) ?? .null else { continue }
      element.append(stored)
      for (type, value) in zip(types, row.key.values) {
        if let stored = type.stored(value), stored != .null { element.append(stored) }
      }
      // What the column cannot hold by now matches no row.
      if element.count == 3 + types.count { elements.append(element) }
    }
    table(of: elements.map { .array($0) })
    append("zonai_n INT PATH '$[0]'")
    if isPairs {
      append(", zonai_token ")
      append(MySQLType.bytes.storedType(elements.lazy.map { $0[1] }))
      append(" PATH '$[1]'")
    }
    if let seen {
      append(", zonai_seen ")
      append(seen.storedType(elements.lazy.map { $0[2] }))
      append(" PATH '$[2]'")
    }
    for (index, type) in types.enumerated() {
      append(", ")
      append(KeyPart.names[index])
      append(" ")
      append(type.storedType(elements.lazy.map { $0[3 + index] }))
      append(KeyPart.paths[index])
    }
    append(")) AS zonai_v")
  }

  /// The column stands alone on its side, so that its index is used.
  fileprivate mutating func sameKey(of target: PruneTarget) {
    list(Array(target.key.enumerated()), separator: " AND ") { part, builder in
      builder.append("zonai_t.")
      builder.identifier(part.element)
      builder.append(" = ")
      builder.stored(KeyPart.references[part.offset], as: MySQLType(part.element))
    }
  }

  /// Key, token byte by byte whatever its collation and type, and last-seen as it was read, NULL included.
  fileprivate mutating func samePair(of target: PruneTarget) {
    sameKey(of: target)
    append(" AND ")
    token(of: target.token, in: "zonai_t.")
    append(" = UNHEX(zonai_v.zonai_token)")
    guard let lastSeen = target.lastSeen else { return }
    append(" AND ")
    let type = MySQLType(lastSeen)
    switch type.family {
    case .text, .bytes, .filledBytes, .choice, .other:
      bytes(of: lastSeen, in: "zonai_t.")
      append(" <=> UNHEX(zonai_v.zonai_seen)")
    case .integer, .year, .unsigned, .decimal, .real, .bit, .uuid, .date, .moment, .timeOfDay:
      append("zonai_t.")
      identifier(lastSeen)
      append(" <=> ")
      stored("zonai_v.zonai_seen", as: type)
    }
    // A value that the column's type cannot be made of is NULL, and must not pass for the row's.
    append(" AND (zonai_t.")
    identifier(lastSeen)
    append(" IS NULL) = (zonai_v.zonai_seen IS NULL)")
  }

  mutating func keyIndex(of target: PruneTarget) {
    guard let index = target.index else { return }
    append(" FORCE INDEX (")
    identifier(index)
    append(")")
  }

  /// A token column's bytes, without padding that its type adds.
  mutating func token(of column: ColumnDescription, in table: StaticString = "") {
    let isFilled = MySQLType(column).family == .filledBytes
    if isFilled { append("TRIM(TRAILING X'00' FROM ") }
    bytes(of: column, in: table)
    if isFilled { append(")") }
  }

  /// The column's text as bytes of UTF-8, or its bytes as they are.
  mutating func bytes(of column: ColumnDescription, in table: StaticString = "") {
    let family = MySQLType(column).family
    if family == .bytes || family == .filledBytes {
      append(table)
      identifier(column)
      return
    }
    append("CAST(CONVERT(")
    append(table)
    identifier(column)
    append(" USING utf8mb4) AS BINARY)")
  }
}

extension MySQLType {
  static let bytes = MySQLType("blob")
  static let integer = MySQLType("bigint")
}

extension MySQLDialect {
  /// MySQL takes no more in an index, and MariaDB's further ones are left to MariaDB.
  static let mostKeyColumns = KeyPart.names.count
}

private enum KeyPart {
  static let names: [StaticString] = [
    "zonai_k0", "zonai_k1", "zonai_k2", "zonai_k3", "zonai_k4", "zonai_k5", "zonai_k6", "zonai_k7", "zonai_k8",
    "zonai_k9", "zonai_k10", "zonai_k11", "zonai_k12", "zonai_k13", "zonai_k14", "zonai_k15",
  ]
  static let references: [StaticString] = [
    "zonai_v.zonai_k0", "zonai_v.zonai_k1", "zonai_v.zonai_k2", "zonai_v.zonai_k3", "zonai_v.zonai_k4",
    "zonai_v.zonai_k5", "zonai_v.zonai_k6", "zonai_v.zonai_k7", "zonai_v.zonai_k8", "zonai_v.zonai_k9",
    "zonai_v.zonai_k10", "zonai_v.zonai_k11", "zonai_v.zonai_k12", "zonai_v.zonai_k13", "zonai_v.zonai_k14",
    "zonai_v.zonai_k15",
  ]
  static let paths: [StaticString] = [
    " PATH '$[3]'", " PATH '$[4]'", " PATH '$[5]'", " PATH '$[6]'", " PATH '$[7]'", " PATH '$[8]'", " PATH '$[9]'",
    " PATH '$[10]'", " PATH '$[11]'", " PATH '$[12]'", " PATH '$[13]'", " PATH '$[14]'", " PATH '$[15]'",
    " PATH '$[16]'", " PATH '$[17]'", " PATH '$[18]'",
  ]
}
