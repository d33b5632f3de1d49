import CZonaiSQLite

/// The application's own side of the demonstration: an SQLite file that it makes, fills and looks at.
///
/// Zonai itself never creates a database; the statements here are what the application would do without Zonai.
struct DemoDatabase: ~Copyable {
  private let handle: OpaquePointer

  init(creating path: String) throws(CommandFailure) {
    var opened: OpaquePointer?
    let result = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    guard result == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw CommandFailure("demo", "cannot make \(path): \(String(cString: sqlite3_errstr(result)))", exitCode: .failed)
    }
    handle = opened
    sqlite3_busy_timeout(handle, 5000)
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements that give no rows.
  func run(_ sql: String) throws(CommandFailure) {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
  }

  /// The rows of a query as text, nil for NULL, with the columns' names first.
  func rows(_ sql: String) throws(CommandFailure) -> [[String?]] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
    defer { sqlite3_finalize(statement) }
    let columns = 0..<sqlite3_column_count(statement)
    var rows: [[String?]] = [columns.map { sqlite3_column_name(statement, $0).map { String(cString: $0) } }]
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        rows.append(columns.map { sqlite3_column_text(statement, $0).map { String(cString: $0) } })
      case SQLITE_DONE: return rows
      default: throw failure()
      }
    }
  }

  private func failure() -> CommandFailure {
    CommandFailure(
      "demo", "the demonstration's database: \(String(cString: sqlite3_errmsg(handle)))", exitCode: .failed)
  }
}
