import CZonaiSQLite
import ZonaiCore
import ZonaiThreads

/// The application's own connection to its database file.
///
/// @unchecked: the connection is opened in SQLite's serialized mode, and the tests use it from one task at a time.
final class Application: @unchecked Sendable {
  private let handle: OpaquePointer

  /// Makes the file if it is not there.
  init(path: String) throws {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX
    guard sqlite3_open_v2(path, &opened, flags, nil) == SQLITE_OK, let opened else {
      throw TestFailure("cannot open \(path)")
    }
    handle = opened
    sqlite3_busy_timeout(handle, 20_000)
  }

  deinit { sqlite3_close_v2(handle) }

  func run(_ text: String, _ values: [Value] = []) throws { _ = try rows(text, values) }

  func rows(_ text: String, _ values: [Value] = []) throws -> [[String: Value]] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK, let statement else {
      throw TestFailure("\(String(cString: sqlite3_errmsg(handle))) in \(text)")
    }
    defer { sqlite3_finalize(statement) }
    for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1), of: statement) }
    var rows: [[String: Value]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW:
        var row: [String: Value] = [:]
        for column in 0..<sqlite3_column_count(statement) {
          guard let name = sqlite3_column_name(statement, column) else { continue }
          row[String(cString: name)] = value(column, of: statement)
        }
        rows.append(row)
      case SQLITE_DONE: return rows
      default: throw TestFailure("\(String(cString: sqlite3_errmsg(handle))) in \(text)")
      }
    }
  }

  func first(_ text: String, _ values: [Value] = []) throws -> Value? { try rows(text, values).first?.first?.value }

  func transaction(_ body: () throws -> Void) throws {
    try run("BEGIN IMMEDIATE")
    do {
      try body()
      try run("COMMIT")
    } catch {
      try run("ROLLBACK")
      throw error
    }
  }

  private func bind(_ value: Value, at index: Int32, of statement: OpaquePointer) {
    switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .boolean(let boolean): sqlite3_bind_int64(statement, index, boolean ? 1 : 0)
    case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
    case .real(let real): sqlite3_bind_double(statement, index, real)
    case .text(let text):
      let bytes = Array(text.utf8CString)
      _ = zonai_sqlite_bind_text(statement, index, bytes, UInt64(bytes.count - 1))
    case .bytes(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
    case .bytes(let bytes): _ = zonai_sqlite_bind_blob(statement, index, bytes, UInt64(bytes.count))
    }
  }

  private func value(_ column: Int32, of statement: OpaquePointer) -> Value {
    let type = sqlite3_column_type(statement, column)
    if type == SQLITE_INTEGER { return .integer(sqlite3_column_int64(statement, column)) }
    if type == SQLITE_FLOAT { return .real(sqlite3_column_double(statement, column)) }
    if type == SQLITE_NULL { return .null }
    let start = sqlite3_column_blob(statement, column)
    let bytes = Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    return type == SQLITE_TEXT ? .text(String(decoding: bytes, as: UTF8.self)) : .bytes(bytes)
  }
}

/// What went wrong in the test's own doing.
struct TestFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
