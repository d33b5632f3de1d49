import CZonaiSQLite
import Testing

/// The application's database, as its owner makes it and looks at it.
struct Database {
  let path: String

  /// Makes the file if it is not there, and runs the statements.
  func run(_ sql: String) throws {
    let handle = try open()
    defer { sqlite3_close_v2(handle) }
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    try #require(result == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
  }

  /// The first column of every row, as text.
  func column(_ sql: String) throws -> [String?] {
    let handle = try open()
    defer { sqlite3_close_v2(handle) }
    var statement: OpaquePointer?
    try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
    defer { sqlite3_finalize(statement) }
    var values: [String?] = []
    while sqlite3_step(statement) == SQLITE_ROW {
      values.append(sqlite3_column_text(statement, 0).map { String(cString: $0) })
    }
    return values
  }

  private func open() throws -> OpaquePointer {
    var handle: OpaquePointer?
    try #require(sqlite3_open(path, &handle) == SQLITE_OK)
    let opened = try #require(handle)
    sqlite3_busy_timeout(opened, 5000)
    return opened
  }
}
