import CZonaiSQLite

/// SQLite's own functions.
final class HandSQLite: HandDatabase {
  private let handle: OpaquePointer
  private var cells: [UInt8] = []

  init(_ place: String) throws {
    var opened: OpaquePointer?
    guard sqlite3_open(place, &opened) == SQLITE_OK, let opened else {
      throw HandFailure(description: "cannot open \(place)")
    }
    handle = opened
    sqlite3_busy_timeout(handle, 20_000)
    try execute("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON")
  }

  deinit { sqlite3_close_v2(handle) }

  func prepare(_ text: String) throws -> OpaquePointer {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
      let statement
    else { throw failure(text) }
    return statement
  }

  func execute(_ text: String) throws {
    guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw failure(text) }
  }

  @discardableResult func run(_ statement: OpaquePointer, _ values: [HandValue]) throws -> Int64 {
    bind(statement, values)
    defer { sqlite3_reset(statement) }
    cells.removeAll(keepingCapacity: true)
    var first: Int64?
    while try step(statement) {
      if first == nil { first = sqlite3_column_int64(statement, 0) }
      for column in 0..<sqlite3_column_count(statement) { cells.append(contentsOf: bytes(statement, column)) }
    }
    return first ?? 0
  }

  func read(_ statement: OpaquePointer, _ values: [HandValue], into page: inout HandPage) throws {
    bind(statement, values)
    defer { sqlite3_reset(statement) }
    page.clear()
    while try step(statement) {
      page.keys.append(sqlite3_column_int64(statement, 0))
      page.tokens.append(contentsOf: bytes(statement, 1))
      page.ends.append(page.tokens.count)
    }
  }

  private func bytes(_ statement: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(statement, column)))
  }

  private func bind(_ statement: OpaquePointer, _ values: [HandValue]) {
    for (index, value) in values.enumerated() {
      let number = Int32(index + 1)
      switch value {
      case .integer(let integer): sqlite3_bind_int64(statement, number, integer)
      case .text(var text):
        text.withUTF8 { utf8 in
          utf8.withMemoryRebound(to: CChar.self) {
            _ = zonai_sqlite_bind_text(statement, number, $0.baseAddress, UInt64($0.count))
          }
        }
      case .bytes(let bytes):
        bytes.withUnsafeBytes { _ = zonai_sqlite_bind_blob(statement, number, $0.baseAddress, UInt64($0.count)) }
      }
    }
  }

  private func step(_ statement: OpaquePointer) throws -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw failure(String(cString: sqlite3_sql(statement)))
    }
  }

  private func failure(_ text: String) -> HandFailure {
    HandFailure(description: "\(String(cString: sqlite3_errmsg(handle))): \(text)")
  }
}
