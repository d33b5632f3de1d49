import ZonaiCore
import ZonaiJSON
import ZonaiSQL

/// What MySQL and MariaDB write in their own way: only what both of them take.
public struct MySQLDialect: SQLDialect {
  public typealias Connection = MySQLConnection

  public init() {}

  public func quoted(_ identifier: String) -> String { MySQLDialect.quote(identifier) }

  static func quote(_ identifier: String) -> String {
    guard identifier.utf8.contains(UInt8(ascii: "`")) else { return "`" + identifier + "`" }
    return "`" + identifier.split(separator: "`", omittingEmptySubsequences: false).joined(separator: "``") + "`"
  }

  public func placeholder(_ number: Int, type: String?) -> String {
    // A decimal and a text are compared as inexact numbers.
    guard let type, case .decimal(let scale) = MySQLType(type).family else { return "?" }
    return "CAST(?\(MySQLType.decimal(scale))"
  }

  /// UTC_TIMESTAMP stands still during a statement: ask in one of its own, after the lock.
  public var now: StaticString {
    "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000"
  }

  public var newID: StaticString { MySQLPushRoutine.newID }

  public func makePushRoutine(on connection: MySQLConnection) throws(StoreError) -> String? {
    try MySQLPushRoutine.make(on: connection)
  }

  public func type(_ kind: ZonaiColumn.Kind) -> StaticString {
    switch kind {
    case .integer: "BIGINT"
    // Both servers compare bytes without padding; of collations that do, they share none.
    case .word: "VARBINARY(255)"
    case .text: "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    }
  }

  public var indexesStandInTable: Bool { true }
  public var lockClause: StaticString { " FOR UPDATE" }
  public var claimClause: StaticString { " FOR UPDATE SKIP LOCKED" }

  // One statement carries them as one value of JSON.
  public var pairsAtOnce: Int { 500 }

  /// The protocol counts them in sixteen bits.
  public var mostValues: Int { 65_535 }

  /// Creating a table commits, and lets go of rows: this lock is the connection's own until the transaction ends.
  public func lockForMigration(on connection: MySQLConnection) throws(StoreError) {
    try connection.holdLock("zonai.migrate.")
  }

  // MARK: Clauses

  /// By name, since a small table would be read from end to end otherwise: that takes locks of rows that nobody asked for.
  public func appendTable(_ target: PruneTarget, to builder: inout SQLBuilder) {
    builder.identifier(target.table)
    builder.keyIndex(of: target)
  }

  public func appendExact(_ column: ColumnDescription, to builder: inout SQLBuilder) {
    builder.bytes(of: column)
  }

  public func appendHasToken(_ column: ColumnDescription, to builder: inout SQLBuilder) {
    // Most collations hold blanks equal to nothing at all.
    builder.append("LENGTH(")
    if MySQLType(column).family == .filledBytes { builder.token(of: column) } else { builder.identifier(column) }
    builder.append(") > 0")
  }

  public func appendIsCutOff(_ column: ColumnDescription, to builder: inout SQLBuilder) {
    switch column.capacity {
    case .characters(let count):
      builder.append("CHAR_LENGTH(")
      builder.identifier(column)
      builder.append(") = ")
      builder.bind(.integer(Int64(count)))
    case .bytes(let count):
      builder.append("LENGTH(")
      if MySQLType(column).family == .filledBytes { builder.token(of: column) } else { builder.identifier(column) }
      builder.append(") = ")
      builder.bind(.integer(Int64(count)))
    case nil: builder.append("FALSE")
    }
    builder.append(" AND CONVERT(")
    builder.identifier(column)
    builder.append(" USING utf8mb4) NOT REGEXP '^[0-9A-Fa-f]{64}$'")
  }

  /// A row value that is compared as a whole does not go by the index: the columns one after the other do.
  /// https://dev.mysql.com/doc/refman/8.0/en/row-constructor-optimization.html
  public func appendBound(
    _ bound: KeyBound, _ value: RowKey, of key: [ColumnDescription], to builder: inout SQLBuilder
  ) {
    let pairs = Array(zip(key, value.values))
    for (index, pair) in pairs.enumerated() {
      let isLast = index == pairs.count - 1
      if !isLast { builder.append("(") }
      builder.identifier(pair.0)
      switch (bound, isLast) {
      case (.after, _): builder.append(" > ")
      case (.upTo, true): builder.append(" <= ")
      case (.upTo, false): builder.append(" < ")
      }
      builder.bind(pair.1, for: pair.0)
      guard !isLast else { break }
      builder.append(" OR (")
      builder.identifier(pair.0)
      builder.append(" = ")
      builder.bind(pair.1, for: pair.0)
      builder.append(" AND ")
    }
    for _ in pairs.dropFirst() { builder.append("))") }
  }

  /// As the argument of a function, the predicate leads to no other index than the key's.
  public func appendFilter(_ predicate: SQLFragment, to builder: inout SQLBuilder) {
    builder.append("IF((")
    builder.append(predicate)
    builder.append("), 1, 0) = 1")
  }

  public func appendUpsert(
    into table: StaticString, _ columns: [(StaticString, Value)], key: [StaticString],
    whenThere changes: [(StaticString, UpsertChange)], to builder: inout SQLBuilder
  ) {
    builder.append("INSERT INTO ")
    builder.append(table)
    builder.append(" (")
    builder.list(columns) { $1.append($0.0) }
    builder.append(") VALUES (")
    builder.list(columns) { $1.bind($0.1) }
    builder.append(") ON DUPLICATE KEY UPDATE ")
    builder.list(changes) { change, builder in
      builder.append(change.0)
      builder.append(" = ")
      if change.1 == .add {
        builder.append(change.0)
        builder.append(" + ")
      }
      // Called old by newer versions of MySQL, but MariaDB knows nothing else.
      builder.append("VALUES(")
      builder.append(change.0)
      builder.append(")")
    }
  }
}
