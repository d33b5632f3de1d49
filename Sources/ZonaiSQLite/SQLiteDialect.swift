import ZonaiCore
import ZonaiSQL

/// What SQLite writes in its own way.
public struct SQLiteDialect: SQLDialect {
  public typealias Connection = SQLiteConnection

  public init() {}

  /// In backticks: what stands in double quotes and names no column, SQLite takes for text, and so a column that was
  /// dropped would read as a token. https://www.sqlite.org/quirks.html#dblquote
  public func quoted(_ identifier: String) -> String {
    guard identifier.utf8.contains(UInt8(ascii: "`")) else { return "`" + identifier + "`" }
    return "`" + identifier.split(separator: "`", omittingEmptySubsequences: false).joined(separator: "``") + "`"
  }

  public func placeholder(_ number: Int, type: String?) -> String { "?" }

  public var now: StaticString {
    // unixepoch('subsec') is not known before SQLite 3.42.
    "CAST(strftime('%s', 'now') AS INTEGER) * 1000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER)"
  }

  public var newID: StaticString {
    // 'now' stays what it was while a statement runs, so both halves are of one moment.
    """
    lower(substr(printf('%012x', CAST(strftime('%s', 'now') AS INTEGER) * 1000
    + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER)), 1, 8) || '-' || substr(printf('%012x',
    CAST(strftime('%s', 'now') AS INTEGER) * 1000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER)), 9)
    || '-7' || substr(hex(randomblob(2)), 2) || '-' || substr('89ab', 1 + (random() & 3), 1)
    || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))
    """
  }

  public func type(_ kind: ZonaiColumn.Kind) -> StaticString {
    switch kind {
    case .integer: "INTEGER"
    case .word, .text: "TEXT"
    }
  }

  public var indexesStandInTable: Bool { false }

  // BEGIN IMMEDIATE has locked everything already.
  public var lockClause: StaticString { "" }
  public var claimClause: StaticString { "" }

  /// What a transaction that writes has locked: the whole file.
  public func lockForMigration(on connection: SQLiteConnection) throws(StoreError) {}

  // Any connection takes 32,766 values; a key of five columns and its pair stay far below.
  // https://www.sqlite.org/limits.html#max_variable_number
  public var pairsAtOnce: Int { 500 }

  // https://www.sqlite.org/limits.html#max_variable_number
  public var mostValues: Int { 32_766 }

  // MARK: Clauses

  public func appendHasToken(_ column: ColumnDescription, to builder: inout SQLBuilder) {
    // NULL is unequal to nothing; an empty blob is not an empty text.
    builder.append("(")
    builder.identifier(column)
    builder.append(" <> '' AND ")
    builder.identifier(column)
    builder.append(" <> x'')")
  }

  /// No column of SQLite has a capacity.
  public func appendIsCutOff(_ column: ColumnDescription, to builder: inout SQLBuilder) { builder.append("0") }

  public func appendBound(
    _ bound: KeyBound, _ value: RowKey, of key: [ColumnDescription], to builder: inout SQLBuilder
  ) {
    func operation(_ builder: inout SQLBuilder) {
      switch bound {
      case .after: builder.append(" > ")
      case .upTo: builder.append(" <= ")
      }
    }
    guard key.count > 1 else {
      for (column, value) in zip(key, value.values) {
        builder.identifier(column)
        operation(&builder)
        builder.bind(value, for: column)
      }
      return
    }
    // Row values use the whole key's index. https://www.sqlite.org/rowvalue.html#scrolling_window_queries
    builder.append("(")
    builder.list(key) { $1.identifier($0) }
    builder.append(")")
    operation(&builder)
    builder.append("(")
    builder.list(Array(zip(key, value.values))) { $1.bind($0.1, for: $0.0) }
    builder.append(")")
  }

  public func appendFilter(_ predicate: SQLFragment, to builder: inout SQLBuilder) {
    // IS TRUE changes nothing in WHERE, but keeps SQLite from entering by an index of a column in it: pages would then be
    // sorted anew, each from all rows that match.
    builder.append("((")
    builder.append(predicate)
    builder.append(") IS TRUE)")
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
        builder.append(change.0)
        builder.append(" + ")
      }
      builder.append("excluded.")
      builder.append(change.0)
    }
  }
}
