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
  private let optionFile: OptionFile
  private let isBodyDone = Mutex(false)

  let capabilities: StoreCapabilities

  var application: Application { database.application }

  init() async throws {
    database = try await ScratchDatabase()
    isMariaDB = try await database.application.first("SELECT VERSION()")?.contains("MariaDB") == true
    capabilities = StoreCapabilities(
      locksRows: true, showsLockWaits: isMariaDB, raisesConflicts: true, otherSchema: database.otherName,
      keyKinds: [
        .integer, .smallInteger, .real, .text, .fixedText, .caseInsensitiveText, .uuid, .blob, .timestamp, .moment,
        .wallClock,
      ])
    // What the store does not set for itself, it gets from here.
    optionFile = try OptionFile("[zonai]\ninit-command=SET SESSION time_zone='\(MySQLFixture.zone)'\n")
    try await application.run("SET SESSION time_zone = '\(MySQLFixture.zone)'")
  }

  /// The application's, which knows of no summer.
  private static let zone = "-07:00"

  func open() throws -> MySQLStore {
    var options = MySQLOptions()
    options.connections = PoolSizes(readers: 1, writers: 2)
    options.pollMilliseconds = 100
    return try MySQLStore(
      url: database.url + "?option-file=" + optionFile.path, options: options, clock: { [clock] in clock.now })
  }

  func close(_ store: MySQLStore) async { await store.close() }

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

  func alter(_ table: TableName, _ change: TableChange) async throws {
    let clause =
      switch change {
      case .add(let column): "ADD COLUMN \(quoted(column.name)) \(type(of: column.kind, isKey: false)) NULL"
      case .drop(let column): "DROP COLUMN \(quoted(column))"
      case .rename(let column, let name): "RENAME COLUMN \(quoted(column)) TO \(quoted(name))"
      }
    sketches.withLock { sketches in
      var columns = sketches[table]?.columns ?? []
      switch change {
      case .add(let column): columns.append(column)
      case .drop(let name): columns.removeAll { $0.name == name }
      case .rename(let old, let name):
        for index in columns.indices where columns[index].name == old { columns[index].name = name }
      }
      sketches[table]?.columns = columns
    }
    try await application.run("ALTER TABLE \(quoted(table)) \(clause)")
  }

  func insert(_ rows: [[String: Value]], into table: TableName) async throws {
    let columns = Set(rows.flatMap(\.keys)).sorted()
    for start in stride(from: 0, to: rows.count, by: 200) {
      let values = rows[start..<min(rows.count, start + 200)].map { row in
        "(" + columns.map { written(row[$0] ?? .null, in: table, $0) }.joined(separator: ", ") + ")"
      }
      try await application.run(
        "INSERT INTO \(quoted(table)) (\(list(columns))) VALUES \(values.joined(separator: ", "))")
    }
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
      case .moment: "CONVERT_TZ(\(quoted(column.name)), '\(MySQLFixture.zone)', '+00:00')"
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

  func refuseChanges(of table: TableName, quoting column: String) async throws {
    for event in ["UPDATE", "DELETE"] {
      try await application.run(
        """
        CREATE TRIGGER \(quoted("quote \(event)")) BEFORE \(event) ON \(quoted(table)) FOR EACH ROW
        BEGIN
          DECLARE words TEXT;
          SET words = CONCAT('guarded: ', OLD.\(quoted(column)));
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = words;
        END
        """)
    }
  }

  func whileLocked(
    _ table: TableName, where column: String, is value: Value, _ body: @Sendable () async throws -> Void
  ) async throws {
    let locker = try await locker(of: table, where: column, is: value)
    try await body()
    try await locker.run("ROLLBACK")
  }

  func whileLockedUntilWaitedFor(
    _ table: TableName, where column: String, is value: Value, then other: Value?, set: [String: Value],
    _ body: @Sendable () async throws -> Void
  ) async throws {
    // One at a time: read by two, the server's list of waits would never be old enough to be made anew.
    let seat = await Seats.lockWatchers.take()
    do {
      try await watched(table, where: column, is: value, then: other, set: set, body)
    } catch {
      await Seats.lockWatchers.giveBack(seat)
      throw error
    }
    await Seats.lockWatchers.giveBack(seat)
  }

  private func watched(
    _ table: TableName, where column: String, is value: Value, then other: Value?, set: [String: Value],
    _ body: @Sendable () async throws -> Void
  ) async throws {
    let locker = try await locker(of: table, where: column, is: value)
    let number = await locker.number
    let watcher = try Application(database.server)
    let changes = set.keys.sorted().map { "\(quoted($0)) = \(written(set[$0] ?? .null, in: table, $0))" }
    let updates = [value, other].compactMap { $0 }.map { value in
      "UPDATE \(quoted(table)) SET \(changes.joined(separator: ", ")) WHERE \(condition(table, column, value))"
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await self.untilWaitedFor(number, watcher)
        if other != nil {
          do { for update in updates { try await locker.run(update) } } catch {
            // The victim of a dead-lock: all of it again.
            try await locker.run("START TRANSACTION")
            for update in updates { try await locker.run(update) }
          }
        }
        try await locker.run("COMMIT")
      }
      do { try await body() } catch {
        group.cancelAll()
        throw error
      }
      // A body that ended without a wait ends this too.
      try await self.application.run("DO 0")
      isBodyDone.withLock { $0 = true }
      try await group.waitForAll()
      isBodyDone.withLock { $0 = false }
    }
  }

  private func locker(of table: TableName, where column: String, is value: Value) async throws -> Application {
    let locker = try Application(database.server, database: database.name)
    try await locker.run(
      "SET SESSION time_zone = '\(MySQLFixture.zone)'", "START TRANSACTION",
      "SELECT * FROM \(quoted(table)) WHERE \(condition(table, column, value)) FOR UPDATE")
    return locker
  }

  /// Returns when another session waits for a lock of that one, as the server's own list tells.
  private func untilWaitedFor(_ number: UInt, _ watcher: Application) async throws {
    let waits = """
      SELECT COUNT(*) FROM information_schema.INNODB_LOCK_WAITS w JOIN information_schema.INNODB_TRX t
      ON t.trx_id = w.blocking_trx_id WHERE t.trx_mysql_thread_id = \(number)
      """
    while !isBodyDone.withLock({ $0 }) {
      try Task.checkCancellation()
      if try await watcher.first(waits) != "0" { return }
      // The server makes the list anew when nobody has read it for 100 ms: asked sooner, it would say the same for ever.
      try await watcher.run("DO SLEEP(0.12)")
    }
  }

  func raiseConflicts(on table: TableName, where column: String, is value: Value, times: Int) async throws {
    // What no rollback reaches: a table without transactions.
    try await application.run(
      "CREATE TABLE conflicts (number INT) ENGINE=MyISAM", "INSERT INTO conflicts VALUES (\(times))")
    for event in ["UPDATE", "DELETE"] {
      try await application.run(
        """
        CREATE TRIGGER \(quoted("conflict \(event)")) BEFORE \(event) ON \(quoted(table)) FOR EACH ROW
        IF OLD.\(quoted(column)) <=> \(literal(value)) AND (SELECT number FROM conflicts) > 0 THEN
          UPDATE conflicts SET number = number - 1;
          SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found';
        END IF
        """)
    }
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
    case .smallInteger: "INT"
    case .real: "DOUBLE"
    case .text: (isKey ? "VARCHAR(191)" : "MEDIUMTEXT") + " COLLATE \(exact)"
    case .fixedText: "CHAR(40) COLLATE utf8mb4_bin"
    case .caseInsensitiveText: (isKey ? "VARCHAR(191)" : "MEDIUMTEXT") + " COLLATE utf8mb4_general_ci"
    case .uuid: isMariaDB ? "UUID" : "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin"
    case .blob: isKey ? "VARBINARY(255)" : "BLOB"
    case .boolean: "BOOLEAN"
    case .timestamp: "DATETIME(3)"
    case .moment: "TIMESTAMP(6)"
    case .wallClock: "DATETIME(6)"
    }
  }

  private func kind(_ column: String, of table: TableName) -> ColumnSketch.Kind? {
    sketches.withLock { $0[table]?.column(column)?.kind }
  }

  private func key(of table: TableName) -> String { sketches.withLock { $0[table]?.primaryKey.first } ?? "id" }

  private func written(_ value: Value, in table: TableName, _ column: String) -> String {
    switch (kind(column, of: table), value) {
    case (.timestamp, .integer(let moment)): "TIMESTAMPADD(MICROSECOND, \(moment)000, '1970-01-01')"
    case (.moment, .text(let text)): "CONVERT_TZ('\(text)', '+00:00', '\(MySQLFixture.zone)')"
    default: literal(value)
    }
  }

  private func condition(_ table: TableName, _ column: String, _ value: Value) -> String {
    "\(quoted(column)) <=> \(written(value, in: table, column))"
  }

  private func value(_ text: String?, _ kind: ColumnSketch.Kind) -> Value {
    guard let text else { return .null }
    switch kind {
    case .integer, .smallInteger, .boolean, .timestamp: return .integer(Int64(text) ?? 0)
    case .real: return .real(Double(text) ?? 0)
    case .blob: return .bytes([UInt8](hex: text) ?? [])
    case .text, .fixedText, .caseInsensitiveText, .uuid, .moment, .wallClock: return .text(text)
    }
  }

  private func list(_ columns: [String]) -> String { columns.map { quoted($0) }.joined(separator: ", ") }
}
