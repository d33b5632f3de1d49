import Synchronization
import ZonaiCore
import ZonaiMySQL
import ZonaiSQL
import ZonaiTestKit

/// A database of its own on the shared server, the application's connection to it, and a clock to turn.
final class MySQLFixture: StoreFixture {
  let database: ScratchDatabase
  let clock = TurnableClock()
  let isMariaDB: Bool
  private let sketches = Mutex<[TableName: TableSketch]>([:])

  let capabilities = StoreCapabilities(
    locksRows: true, keyKinds: [.integer, .text, .caseInsensitiveText, .uuid, .blob, .timestamp])

  var application: Application { database.application }

  init() async throws {
    database = try await ScratchDatabase()
    isMariaDB = try await database.application.first("SELECT VERSION()")?.contains("MariaDB") == true
  }

  func open() throws -> MySQLStore {
    var options = MySQLOptions()
    options.connections = PoolSizes(readers: 1, writers: 2)
    options.pollMilliseconds = 100
    return try MySQLStore(url: database.url, options: options, clock: { [clock] in clock.now })
  }

  // MARK: The application

  func create(_ table: TableSketch) async throws {
    sketches.withLock { $0[table.name] = table }
    let keys = Set(table.primaryKey + table.uniqueKeys.joined())
    var parts = table.columns.map { column in
      "\(quoted(column.name)) \(type(of: column.kind, isKey: keys.contains(column.name)))"
        + (column.isNullable ? " NULL" : " NOT NULL")
    }
    parts += table.references.map {
      "FOREIGN KEY (\(quoted($0.column))) REFERENCES \(quoted($0.table)) (\(quoted(key(of: $0.table))))"
    }
    parts += table.uniqueKeys.map { "UNIQUE (\(list($0)))" }
    if !table.primaryKey.isEmpty { parts.append("PRIMARY KEY (\(list(table.primaryKey)))") }
    if let schema = table.name.schema { try await application.run("CREATE DATABASE IF NOT EXISTS \(quoted(schema))") }
    try await application.run("CREATE TABLE \(quoted(table.name)) (\(parts.joined(separator: ", "))) ENGINE=InnoDB")
  }

  func drop(_ table: TableName) async throws { try await application.run("DROP TABLE \(quoted(table))") }

  func insert(_ rows: [[String: Value]], into table: TableName) async throws {
    try await application.run("START TRANSACTION")
    for row in rows {
      let columns = row.keys.sorted()
      let values = columns.map { written(row[$0] ?? .null, in: table, $0) }
      try await application.run(
        "INSERT INTO \(quoted(table)) (\(list(columns))) VALUES (\(values.joined(separator: ", ")))")
    }
    try await application.run("COMMIT")
  }

  func update(_ table: TableName, where column: String, is value: Value, set: [String: Value]) async throws {
    let changes = set.keys.sorted().map { "\(quoted($0)) = \(written(set[$0] ?? .null, in: table, $0))" }
    try await application.run(
      "UPDATE \(quoted(table)) SET \(changes.joined(separator: ", ")) WHERE \(condition(table, column, value))")
  }

  func delete(from table: TableName, where column: String, is value: Value) async throws {
    try await application.run("DELETE FROM \(quoted(table)) WHERE \(condition(table, column, value))")
  }

  func rows(of table: TableName) async throws -> [[String: Value]] {
    let columns = sketches.withLock { $0[table]?.columns } ?? []
    let read = columns.map { column in
      switch column.kind {
      case .timestamp: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', \(quoted(column.name))) DIV 1000"
      case .blob: "LOWER(HEX(\(quoted(column.name))))"
      default: quoted(column.name)
      }
    }
    return try await application.rows("SELECT \(read.joined(separator: ", ")) FROM \(quoted(table))").map { row in
      var values: [String: Value] = [:]
      for (column, text) in zip(columns, row) { values[column.name] = value(text, column.kind) }
      return values
    }
  }

  func refuseChanges(of table: TableName, where column: String, is value: Value, words: String) async throws {
    let text = words.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    for event in ["UPDATE", "DELETE"] {
      try await application.run(
        """
        CREATE TRIGGER \(quoted("no \(event)")) BEFORE \(event) ON \(quoted(table)) FOR EACH ROW
        IF OLD.\(quoted(column)) <=> \(literal(value)) THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = '\(text)'; END IF
        """)
    }
  }

  func whileLocked(
    _ table: TableName, where column: String, is value: Value, _ body: @Sendable () async throws -> Void
  ) async throws {
    let locker = try Application(database.server, database: database.name)
    try await locker.run(
      "START TRANSACTION", "SELECT * FROM \(quoted(table)) WHERE \(condition(table, column, value)) FOR UPDATE")
    try await body()
    try await locker.run("ROLLBACK")
  }

  // MARK: Damage

  func garble(_ job: JobID) async throws {
    try await application.run(
      "UPDATE zonai_jobs SET definition = '{', kept_groups = '{' WHERE id = \(literal(.text(job.rawValue)))")
  }

  // MARK: Time and versions

  func advance(milliseconds: Int64) { clock.advance(milliseconds: milliseconds) }

  func pretendNewerSchema(by builds: Int) async throws {
    try await application.run("UPDATE zonai_meta SET version = version + \(builds)")
  }

  // MARK: Types

  /// The collation that goes by bytes and keeps blanks, which the two servers call by different names.
  private var exact: String { isMariaDB ? "utf8mb4_nopad_bin" : "utf8mb4_0900_bin" }

  private func type(of kind: ColumnSketch.Kind, isKey: Bool) -> String {
    switch kind {
    case .integer: "BIGINT"
    case .text: (isKey ? "VARCHAR(190)" : "TEXT") + " COLLATE \(exact)"
    case .caseInsensitiveText: (isKey ? "VARCHAR(190)" : "TEXT") + " COLLATE utf8mb4_general_ci"
    case .uuid: isMariaDB ? "UUID" : "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin"
    case .blob: isKey ? "VARBINARY(255)" : "BLOB"
    case .boolean: "BOOLEAN"
    case .timestamp: "DATETIME(3)"
    }
  }

  private func kind(_ column: String, of table: TableName) -> ColumnSketch.Kind? {
    sketches.withLock { $0[table]?.column(column)?.kind }
  }

  private func key(of table: TableName) -> String { sketches.withLock { $0[table]?.primaryKey.first } ?? "id" }

  private func written(_ value: Value, in table: TableName, _ column: String) -> String {
    guard kind(column, of: table) == .timestamp, case .integer(let moment) = value else { return literal(value) }
    return "TIMESTAMPADD(MICROSECOND, \(moment)000, '1970-01-01')"
  }

  private func condition(_ table: TableName, _ column: String, _ value: Value) -> String {
    "\(quoted(column)) <=> \(written(value, in: table, column))"
  }

  private func value(_ text: String?, _ kind: ColumnSketch.Kind) -> Value {
    guard let text else { return .null }
    switch kind {
    case .integer, .boolean, .timestamp: return .integer(Int64(text) ?? 0)
    case .blob: return .bytes([UInt8](hex: text) ?? [])
    case .text, .caseInsensitiveText, .uuid: return .text(text)
    }
  }

  private func list(_ columns: [String]) -> String { columns.map { quoted($0) }.joined(separator: ", ") }
}
