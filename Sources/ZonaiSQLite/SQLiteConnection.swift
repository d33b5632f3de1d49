import CZonaiSQLite
import ZonaiCore
import ZonaiSQL
import ZonaiThreads

/// One connection to the file, confined to the thread of its owner.
public final class SQLiteConnection: SQLConnection {
  private let handle: OpaquePointer
  private let path: String
  private var statements: [String: SQLiteStatement] = [:]
  private var uses = 0
  /// When a statement is interrupted: a moment of `MonotonicClock`.
  private let deadline: UnsafeMutablePointer<Int64>

  private static let cachedStatements = 128

  /// Opens the file, which must be there.
  init(path: String) throws(StoreError) {
    var opened: OpaquePointer?
    // With a folder in front, no name means something else to SQLite: ":memory:" is a file like any other.
    let file = path.hasPrefix("/") ? path : "./" + path
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(file, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let system = opened.map { sqlite3_system_errno($0) } ?? 0
      let words = opened.map { String(cString: sqlite3_errmsg($0)) }
      sqlite3_close_v2(opened)
      throw SQLiteError.error(code, system: system, path: path, words: words)
    }
    handle = opened
    self.path = path
    deadline = .allocate(capacity: 1)
    deadline.initialize(to: .max)
    // Some 20,000 steps of SQLite's machine take a fraction of a millisecond.
    sqlite3_progress_handler(handle, 20_000, isPastDeadline, deadline)
  }

  /// Sets what belongs to a connection, not to the file.
  func prepare(until end: Int64) throws(StoreError) {
    wait(until: end)
    // Commits survive a power cut, whatever the journal mode.
    try run(SQLStatement(text: "PRAGMA synchronous=FULL", values: [], isReused: false))
    // The application's foreign keys hold for our prunes as well.
    try run(SQLStatement(text: "PRAGMA foreign_keys=ON", values: [], isReused: false))
    let encoding = try first(SQLStatement(text: "PRAGMA encoding", values: [], isReused: false)) {
      row throws(StoreError) in row.text(0)
    }
    if let encoding, encoding != "UTF-8" {
      throw StoreError(
        .invalidRequest,
        "\(path) keeps text as \(encoding), in which tokens cannot be compared byte by byte: Zonai needs a UTF-8 database"
      )
    }
  }

  deinit {
    statements = [:]
    sqlite3_close_v2(handle)
    deadline.deallocate()
  }

  // MARK: Transactions

  func transaction<Result>(
    _ mode: SQLMode, deadline: Int64, _ body: (SQLiteConnection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    wait(until: deadline)
    try run(SQLStatement(text: mode == .read ? "BEGIN" : "BEGIN IMMEDIATE", values: []))
    do throws(StoreError) {
      let result = try body(self)
      guard isInTransaction else {
        throw StoreError(.refused, "the database ended the transaction by itself: look at the triggers of \(path)")
      }
      // The body used some of the time up.
      wait(until: deadline)
      try run(SQLStatement(text: "COMMIT", values: []))
      return result
    } catch {
      // A rollback that fails leaves nothing to roll back: SQLite did it before.
      // https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction
      self.deadline.pointee = .max
      if isInTransaction { _ = try? run(SQLStatement(text: "ROLLBACK", values: [])) }
      throw error
    }
  }

  /// Waits for other connections' locks up to that moment, and interrupts statements that run on past it.
  private func wait(until end: Int64) {
    deadline.pointee = end
    let left = max(0, end - MonotonicClock.milliseconds())
    sqlite3_busy_timeout(handle, Int32(clamping: left))
  }

  public var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// How many rows this connection has changed since it was opened.
  var changes: Int64 { sqlite3_total_changes64(handle) }

  /// Others see it by the file's data version.
  public func announceWork() throws(StoreError) {}

  public func checkDeferredConstraints() throws(StoreError) {
    var open: Int32 = 0
    var highest: Int32 = 0
    // https://www.sqlite.org/c3ref/c_dbstatus_options.html#sqlitedbstatusdeferredfks
    let code = sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &open, &highest, 0)
    if code == SQLITE_OK, open != 0 {
      throw StoreError(
        .refused, "a constraint or trigger of \(path) refused the change",
        databaseWords: "FOREIGN KEY constraint failed")
    }
  }

  // MARK: Statements

  @discardableResult
  public func run(
    _ statement: SQLStatement, _ each: (SQLiteRow) throws(StoreError) -> Void
  ) throws(StoreError) -> Int {
    let prepared = try prepared(statement)
    defer { prepared.reset() }
    let bound = prepared.bind(statement.values)
    guard bound == SQLITE_OK else { throw error(bound, statement) }
    while true {
      switch sqlite3_step(prepared.handle) {
      case SQLITE_ROW: try each(SQLiteRow(handle: prepared.handle))
      case SQLITE_DONE:
        return sqlite3_stmt_readonly(prepared.handle) != 0 ? 0 : Int(sqlite3_changes(handle))
      case let code: throw error(code, statement)
      }
    }
  }

  private func prepared(_ statement: SQLStatement) throws(StoreError) -> SQLiteStatement {
    uses += 1
    if statement.isReused, let known = statements[statement.text], !known.isInUse {
      known.isInUse = true
      known.lastUse = uses
      return known
    }
    var made: OpaquePointer?
    let flags = statement.isReused ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    var text = statement.text
    let code = text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) {
        sqlite3_prepare_v3(handle, $0.baseAddress, Int32(clamping: $0.count), flags, &made, nil)
      }
    }
    guard code == SQLITE_OK, let made else { throw error(code, statement) }
    let prepared = SQLiteStatement(made)
    prepared.isInUse = true
    prepared.lastUse = uses
    if statement.isReused, statements[statement.text] == nil { keep(prepared, statement.text) }
    return prepared
  }

  private func keep(_ prepared: SQLiteStatement, _ text: String) {
    if statements.count >= Self.cachedStatements,
      let oldest = statements.filter({ !$0.value.isInUse }).min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      statements[oldest.key] = nil
    }
    statements[text] = prepared
  }

  private func error(_ code: Int32, _ statement: SQLStatement) -> StoreError {
    // The message lives until the next call on this connection: copy it first.
    // https://www.sqlite.org/c3ref/errcode.html
    let words = String(cString: sqlite3_errmsg(handle))
    return SQLiteError.error(
      code, system: sqlite3_system_errno(handle), path: path, words: words, statement: statement.text)
  }

  /// Rises with every commit of other connections to the file, of this process or another.
  /// https://www.sqlite.org/pragma.html#pragma_data_version
  func dataVersion() throws(StoreError) -> Int64 {
    try first(SQLStatement(text: "PRAGMA data_version", values: [])) { row throws(StoreError) in row.integer(0) } ?? 0
  }

  /// The collation that the column was declared with; nil when there is no such column.
  func collation(schema: String, table: String, column: String) -> String? {
    var name: UnsafePointer<CChar>?
    let code = sqlite3_table_column_metadata(handle, schema, table, column, nil, &name, nil, nil, nil)
    guard code == SQLITE_OK, let name else { return nil }
    return String(cString: name)
  }
}

/// C's side of the deadline: called by SQLite on the connection's own thread, every so many steps.
private func isPastDeadline(_ deadline: UnsafeMutableRawPointer?) -> Int32 {
  guard let deadline else { return 0 }
  return MonotonicClock.milliseconds() > deadline.load(as: Int64.self) ? 1 : 0
}
