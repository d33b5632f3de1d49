import ZonaiCore
import ZonaiSQL

/// What PostgreSQL writes in its own way.
///
/// A column is never cast where the key's index is to be used; values are, to the type of the column that they meet.
public struct PostgresDialect: SQLDialect {
  public typealias Connection = PostgresConnection

  public init() {}

  public func quoted(_ identifier: String) -> String {
    guard identifier.utf8.contains(UInt8(ascii: "\"")) else { return "\"" + identifier + "\"" }
    return "\"" + identifier.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  /// Types come from the catalog, by format_type, which quotes what must be.
  public func placeholder(_ number: Int, type: String?) -> String {
    let plain = number < PostgresDialect.placeholders.count ? PostgresDialect.placeholders[number] : "$\(number)"
    return type.map { plain + "::" + $0 } ?? plain
  }

  private static let placeholders = (0..<64).map { "$\($0)" }

  public func bound(_ value: Value, for column: ColumnDescription) -> (value: Value, type: String?) {
    switch value {
    // Compared as numbers are, with what lies between two whole ones.
    case .real where PostgresColumn.isInteger(column): (value, "numeric")
    // One that is too large for the column is larger than all in it.
    case .integer where PostgresColumn.isInteger(column): (value, "bigint")
    default: (value, column.type)
    }
  }

  /// clock_timestamp goes on within a transaction, where now() stands still.
  public var now: StaticString { "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)" }

  public func type(_ kind: ZonaiColumn.Kind) -> StaticString {
    switch kind {
    case .integer: "BIGINT"
    case .word: "TEXT COLLATE \"C\""
    case .text: "TEXT"
    }
  }

  public var indexesStandInTable: Bool { false }

  public var lockClause: StaticString { " FOR UPDATE" }
  public var claimClause: StaticString { " FOR UPDATE SKIP LOCKED" }

  /// Arrays carry any number; so many pairs take some milliseconds.
  public var pairsAtOnce: Int { 1000 }

  /// The protocol counts them in sixteen bits.
  public var mostValues: Int { 65_535 }

  // MARK: Clauses

  public func appendHasToken(_ column: ColumnDescription, to builder: inout SQLBuilder) {
    builder.identifier(column)
    if PostgresColumn.isText(column) || column.type == "bytea" {
      // NULL is unequal to nothing.
      builder.append(" <> ''")
    } else {
      builder.append("::text <> ''")
    }
  }

  public func appendIsCutOff(_ column: ColumnDescription, to builder: inout SQLBuilder) {
    switch column.capacity {
    case .characters(let count):
      // The padding of character(n) does not count.
      builder.append("char_length(")
      builder.identifier(column)
      builder.append(") = ")
      builder.bind(.integer(Int64(count)))
    case .bytes(let count):
      builder.append("octet_length(")
      builder.identifier(column)
      builder.append("::text) = ")
      builder.bind(.integer(Int64(count)))
    case nil: builder.append("FALSE")
    }
    builder.append(" AND ")
    builder.identifier(column)
    builder.append("::text !~ '^[0-9A-Fa-f]{64}$'")
  }

  public func appendBound(
    _ bound: KeyBound, _ value: RowKey, of key: [ColumnDescription], to builder: inout SQLBuilder
  ) {
    // Row values use the whole key's index.
    // https://www.postgresql.org/docs/current/functions-comparisons.html#ROW-WISE-COMPARISON
    builder.append("(")
    builder.list(key) { $1.identifier($0) }
    switch bound {
    case .after: builder.append(") > (")
    case .upTo: builder.append(") <= (")
    }
    builder.list(Array(zip(key, value.values))) { $1.bind($0.1, for: $0.0) }
    builder.append(")")
  }

  /// As it is: a connection of ours enters by no index that would have to be sorted anew (`PostgresSession`), and one that
  /// holds the predicate's columns before the key's is a good way in.
  public func appendFilter(_ predicate: SQLFragment, to builder: inout SQLBuilder) {
    builder.append("(")
    builder.append(predicate)
    builder.append(")")
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
    builder.append(") ON CONFLICT (")
    builder.list(key) { $1.append($0) }
    builder.append(") DO UPDATE SET ")
    builder.list(changes) { change, builder in
      builder.append(change.0)
      builder.append(" = ")
      if change.1 == .add {
        builder.append(table)
        builder.append(".")
        builder.append(change.0)
        builder.append(" + ")
      }
      builder.append("excluded.")
      builder.append(change.0)
    }
  }
}

extension SQLBuilder {
  /// Binds many values of a column's type as one.
  mutating func bindArray(_ values: some Collection<Value>, type: String) {
    bind(
      ParameterText.array(values), for: ColumnDescription(name: "", type: type + "[]", kind: .array, isNullable: true))
  }
}
