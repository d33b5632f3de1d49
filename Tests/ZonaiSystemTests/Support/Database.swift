import CZonaiSQLite
import Testing
import ZonaiThreads

/// The application's own hands on its database file.
struct Database: Sendable {
  let path: String

  /// Runs statements, all or none of them; makes the file if it is not there.
  func run(_ sql: String) throws {
    let handle = try open()
    defer { sqlite3_close_v2(handle) }
    let result = sqlite3_exec(handle, "BEGIN IMMEDIATE; \(sql); COMMIT", nil, nil, nil)
    try #require(result == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle))): \(sql)")
  }

  /// Every row, its columns as text.
  func rows(_ sql: String) throws -> [[String?]] {
    let handle = try open()
    defer { sqlite3_close_v2(handle) }
    var statement: OpaquePointer?
    try #require(
      sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    defer { sqlite3_finalize(statement) }
    var rows: [[String?]] = []
    while true {
      let step = sqlite3_step(statement)
      if step == SQLITE_DONE { return rows }
      try #require(step == SQLITE_ROW, "\(String(cString: sqlite3_errmsg(handle)))")
      rows.append(
        (0..<sqlite3_column_count(statement)).map { column in
          sqlite3_column_text(statement, column).map { String(cString: $0) }
        })
    }
  }

  /// Whether nobody is writing just now.
  var isFree: Bool {
    get throws {
      let handle = try open()
      defer { sqlite3_close_v2(handle) }
      sqlite3_busy_timeout(handle, 0)
      return sqlite3_exec(handle, "BEGIN EXCLUSIVE; ROLLBACK", nil, nil, nil) == SQLITE_OK
    }
  }

  /// The first column of the first row, as a number.
  func number(_ sql: String) throws -> Int { try rows(sql).first?.first?.flatMap { Int($0) } ?? -1 }

  private func open() throws -> OpaquePointer {
    var handle: OpaquePointer?
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    let opened = try #require(handle)
    sqlite3_busy_timeout(opened, 20_000)
    return opened
  }
}

/// A text as a literal of SQL.
func quoted(_ text: String) -> String {
  "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
}
