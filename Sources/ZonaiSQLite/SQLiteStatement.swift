import CZonaiSQLite
import ZonaiCore
import ZonaiSQL

/// A prepared statement of one connection, confined to its thread.
final class SQLiteStatement {
  let handle: OpaquePointer
  /// Counts the uses of the connection's statements: the one used longest ago goes first.
  var lastUse = 0
  var isInUse = false

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { sqlite3_finalize(handle) }

  /// Binds the values; gives SQLite's code.
  func bind(_ values: [Value]) -> Int32 {
    for (index, value) in values.enumerated() {
      let code = bind(value, at: Int32(index + 1))
      if code != SQLITE_OK { return code }
    }
    return SQLITE_OK
  }

  private func bind(_ value: Value, at index: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(handle, index)
    case .boolean(let boolean): return sqlite3_bind_int64(handle, index, boolean ? 1 : 0)
    case .integer(let integer): return sqlite3_bind_int64(handle, index, integer)
    case .real(let real): return sqlite3_bind_double(handle, index, real)
    case .text(var text):
      return text.withUTF8 { utf8 in
        utf8.withMemoryRebound(to: CChar.self) { characters in
          // An empty buffer may have no address, which SQLite would take for NULL.
          guard let start = characters.baseAddress else { return zonai_sqlite_bind_text(handle, index, "", 0) }
          return zonai_sqlite_bind_text(handle, index, start, UInt64(characters.count))
        }
      }
    case .bytes(let bytes):
      if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
      return bytes.withUnsafeBytes { zonai_sqlite_bind_blob(handle, index, $0.baseAddress, UInt64($0.count)) }
    }
  }

  /// Makes it ready for the next use, and lets go of what was bound.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
    isInUse = false
  }
}

/// The row that a statement stands on.
public struct SQLiteRow: SQLRow {
  let handle: OpaquePointer

  public var columnCount: Int { Int(sqlite3_column_count(handle)) }

  public func name(_ column: Int) -> String {
    sqlite3_column_name(handle, Int32(column)).map { String(cString: $0) } ?? ""
  }

  public func isNull(_ column: Int) -> Bool { sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL }

  public func integer(_ column: Int) -> Int64 { sqlite3_column_int64(handle, Int32(column)) }

  public func text(_ column: Int) -> String {
    sqlite3_column_text(handle, Int32(column)).map { start in
      let count = Int(sqlite3_column_bytes(handle, Int32(column)))
      return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    } ?? ""
  }

  public func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    // In this order: the second call gives the length of what the first one converted.
    // https://www.sqlite.org/c3ref/column_blob.html
    let start = sqlite3_column_blob(handle, Int32(column))
    let count = Int(sqlite3_column_bytes(handle, Int32(column)))
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }

  /// No type of SQLite pads.
  public func token(_ column: Int) -> UnsafeRawBufferPointer { bytes(column) }

  public func value(_ column: Int) -> Value {
    switch sqlite3_column_type(handle, Int32(column)) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(handle, Int32(column)))
    case SQLITE_TEXT:
      if let text = String(validating: bytes(column), as: UTF8.self) {
        .text(text)
      } else {
        .bytes(Array(bytes(column)))
      }
    case SQLITE_BLOB: .bytes(Array(bytes(column)))
    default: .null
    }
  }

  public func keyValue(_ column: Int) throws(StoreError) -> Value {
    let value = value(column)
    guard case .bytes = value, sqlite3_column_type(handle, Int32(column)) == SQLITE_TEXT else { return value }
    throw StoreError(
      .failed,
      "some row holds text in the key column \(name(column)) that is not UTF-8, and pages cannot go on from it: correct "
        + "the row, or name another key")
  }
}
