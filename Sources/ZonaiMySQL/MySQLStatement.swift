import CZonaiMySQL
import ZonaiCore
import ZonaiSQL

/// A prepared statement of one connection, confined to its thread.
final class MySQLStatement {
  let handle: UnsafeMutablePointer<MYSQL_STMT>
  /// Counts the uses of the connection's statements: the one used longest ago goes first.
  var lastUse = 0
  var isInUse = false
  /// Where the rows of the last execution went. Oracle's library writes there once more when the statement is executed again.
  var result: MySQLResult?
  private let parameters: UnsafeMutablePointer<zonai_mysql_parameters>

  /// nil when there is no memory.
  init?(_ handle: UnsafeMutablePointer<MYSQL_STMT>) {
    guard let parameters = zonai_mysql_parameters_make(UInt32(mysql_stmt_param_count(handle))) else { return nil }
    self.handle = handle
    self.parameters = parameters
  }

  deinit {
    zonai_mysql_parameters_free(parameters)
    // What fails here is a connection that was lost, and the statement with it.
    _ = mysql_stmt_close(handle)
  }

  /// Copies the values to where the library reads them; false when that fails, or there are more or fewer than the
  /// statement wants.
  func bind(_ values: [Value]) -> Bool {
    guard values.count == Int(parameters.pointee.count) else { return false }
    let room = values.reduce(0) { $0 + zonai_mysql_room(MySQLStatement.size($1)) }
    guard zonai_mysql_parameters_begin(parameters, room) != 0 else { return false }
    for (index, value) in values.enumerated() { bind(value, at: UInt32(index)) }
    return values.isEmpty || zonai_mysql_bind_all(handle, parameters) == 0
  }

  private func bind(_ value: Value, at index: UInt32) {
    switch value {
    case .null: zonai_mysql_bind_null(parameters, index)
    case .boolean(let boolean): zonai_mysql_bind_integer(parameters, index, boolean ? 1 : 0)
    case .integer(let integer): zonai_mysql_bind_integer(parameters, index, integer)
    case .real(let real): zonai_mysql_bind_real(parameters, index, real)
    case .text(var text):
      text.withUTF8 { zonai_mysql_bind_text(parameters, index, $0.baseAddress, $0.count) }
    case .bytes(let bytes):
      bytes.withUnsafeBytes { zonai_mysql_bind_bytes(parameters, index, $0.baseAddress, $0.count) }
    }
  }

  static func size(_ values: [Value]) -> Int { values.reduce(0) { $0 + size($1) } }

  private static func size(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .boolean, .integer, .real: 8
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    }
  }
}
