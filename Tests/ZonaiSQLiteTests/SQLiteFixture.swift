import CZonaiSQLite
import Synchronization
import ZonaiCore
import ZonaiSQLite
import ZonaiTestKit

/// A database file in a folder of its own, the application's connection to it, and a clock to turn.
final class SQLiteFixture: StoreFixture {
  let folder: TemporaryFolder
  let application: Application
  let clock = TurnableClock()
  let capabilities = StoreCapabilities(locksRows: false, limitsText: false)

  var path: String { folder.path("app.db") }

  init(journal: Journal = .wal) throws {
    folder = try TemporaryFolder()
    application = try Application(path: folder.path("app.db"))
    try application.run("PRAGMA journal_mode=\(journal.rawValue)")
    try application.run("PRAGMA synchronous=OFF")
    try application.run("PRAGMA foreign_keys=ON")
  }

  enum Journal: String, CaseIterable {
    case wal = "WAL"
    case rollback = "DELETE"
  }

  func open() throws -> SQLiteStore { try SQLiteStore(path: path, clock: { [clock] in clock.now }) }

  func close(_ store: SQLiteStore) async { await store.close() }

  // MARK: The application

  func create(_ table: TableSketch) throws {
    var parts = table.columns.map { column in
      "\(quoted(column.name)) \(column.kind.declaration)\(column.isNullable ? "" : " NOT NULL")"
    }
    parts += table.references.map { "FOREIGN KEY (\(quoted($0.column))) REFERENCES \(quoted($0.table.name))" }
    parts += table.uniqueKeys.map { "UNIQUE (\(list($0)))" }
    if !table.primaryKey.isEmpty { parts.append("PRIMARY KEY (\(list(table.primaryKey)))") }
    try application.run("CREATE TABLE \(quoted(table.name)) (\(parts.joined(separator: ", ")))")
  }

  func drop(_ table: TableName) throws { try application.run("DROP TABLE \(quoted(table))") }

  func alter(_ table: TableName, _ change: TableChange) throws {
    let clause =
      switch change {
      case .add(let column): "ADD COLUMN \(quoted(column.name)) \(column.kind.declaration)"
      case .drop(let column): "DROP COLUMN \(quoted(column))"
      case .rename(let column, let name): "RENAME COLUMN \(quoted(column)) TO \(quoted(name))"
      }
    try application.run("ALTER TABLE \(quoted(table)) \(clause)")
  }

  func insert(_ rows: [[String: Value]], into table: TableName) throws {
    try application.transaction {
      for row in rows {
        let columns = row.keys.sorted()
        try application.run(
          "INSERT INTO \(quoted(table)) (\(list(columns))) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))",
          columns.map { row[$0] ?? .null })
      }
    }
  }

  func update(_ table: TableName, where column: String, is value: Value, set: [String: Value]) throws {
    let columns = set.keys.sorted()
    try application.run(
      "UPDATE \(quoted(table)) SET \(columns.map { "\(quoted($0)) = ?" }.joined(separator: ", ")) "
        + "WHERE \(quoted(column)) IS ?", columns.map { set[$0] ?? .null } + [value])
  }

  func delete(from table: TableName, where column: String, is value: Value) throws {
    try application.run("DELETE FROM \(quoted(table)) WHERE \(quoted(column)) IS ?", [value])
  }

  func rows(of table: TableName) throws -> [[String: Value]] {
    try application.rows("SELECT * FROM \(quoted(table))")
  }

  func refuseChanges(of table: TableName, where column: String, is value: Value, words: String) throws {
    let text = words.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    for event in ["UPDATE", "DELETE"] {
      try application.run(
        """
        CREATE TRIGGER \(quoted("no \(event)")) BEFORE \(event) ON \(quoted(table))
        WHEN OLD.\(quoted(column)) IS \(literal(value)) BEGIN SELECT RAISE(ABORT, '\(text)'); END
        """)
    }
  }

  func refuseChanges(of table: TableName, quoting column: String) throws {
    // RAISE takes a literal alone: a trigger for each value.
    let values = Set(try rows(of: table).compactMap { $0[column] })
    for (number, value) in values.enumerated() {
      guard case .text(let text) = value else { continue }
      for event in ["UPDATE", "DELETE"] {
        try application.run(
          """
          CREATE TRIGGER \(quoted("quote \(event) \(number)")) BEFORE \(event) ON \(quoted(table))
          WHEN OLD.\(quoted(column)) IS \(literal(value)) BEGIN SELECT RAISE(ABORT, \(literal(.text("guarded: " + text)))); END
          """)
      }
    }
  }

  func whileLocked(
    _ table: TableName, where column: String, is value: Value, _ body: @Sendable () async throws -> Void
  ) async throws {
    throw TestFailure("SQLite locks no single rows")
  }

  func whileLockedUntilWaitedFor(
    _ table: TableName, where column: String, is value: Value, then other: Value?, set: [String: Value],
    _ body: @Sendable () async throws -> Void
  ) async throws {
    throw TestFailure("SQLite locks no single rows")
  }

  func raiseConflicts(on table: TableName, where column: String, is value: Value, times: Int) throws {
    throw TestFailure("SQLite has no dead-locks")
  }

  // MARK: Damage

  func garble(_ job: JobID) throws {
    try application.run("UPDATE zonai_jobs SET definition = '{', kept_groups = '{' WHERE id = ?", [.text(job.rawValue)])
  }

  // MARK: Time and versions

  func advance(milliseconds: Int64) { clock.advance(milliseconds: milliseconds) }

  func pretendNewerSchema(by builds: Int) throws {
    try application.run("UPDATE zonai_meta SET version = version + \(builds)")
  }

  // MARK: Names

  private func list(_ columns: [String]) -> String { columns.map(quoted).joined(separator: ", ") }

  private func literal(_ value: Value) -> String {
    switch value {
    case .integer(let integer): "\(integer)"
    case .text(let text):
      "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    default: "NULL"
    }
  }
}

func quoted(_ name: String) -> String {
  "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}

func quoted(_ table: TableName) -> String { (table.schema.map { quoted($0) + "." } ?? "") + quoted(table.name) }

extension ColumnSketch.Kind {
  fileprivate var declaration: String {
    switch self {
    case .integer, .smallInteger, .timestamp: "INTEGER"
    case .real: "REAL"
    case .text, .uuid, .moment, .wallClock: "TEXT"
    case .fixedText: "CHAR(40)"
    case .caseInsensitiveText: "TEXT COLLATE NOCASE"
    case .blob: "BLOB"
    case .boolean: "BOOLEAN"
    }
  }
}
