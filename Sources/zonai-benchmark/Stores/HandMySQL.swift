import CZonaiMySQL

/// The client library's own functions. What they read values from and write them into is C's, since the layouts of MariaDB's
/// and Oracle's libraries differ.
final class HandMySQL: HandDatabase {
  final class Statement {
    let handle: UnsafeMutablePointer<MYSQL_STMT>
    let parameters: UnsafeMutablePointer<zonai_mysql_parameters>
    /// nil for statements without rows.
    let row: UnsafeMutablePointer<zonai_mysql_row>?
    let isInteger: [Bool]

    init(
      _ handle: UnsafeMutablePointer<MYSQL_STMT>, _ parameters: UnsafeMutablePointer<zonai_mysql_parameters>,
      _ row: UnsafeMutablePointer<zonai_mysql_row>?, _ isInteger: [Bool]
    ) {
      self.handle = handle
      self.parameters = parameters
      self.row = row
      self.isInteger = isInteger
    }

    deinit {
      zonai_mysql_parameters_free(parameters)
      zonai_mysql_row_free(row)
      mysql_stmt_close(handle)
    }
  }

  private let handle: UnsafeMutablePointer<MYSQL>
  private var cells: [UInt8] = []
  /// Longer than any value that is read here.
  private static let longest = 16_384

  /// `place` is `mysql://USER:PASSWORD@HOST:PORT/DATABASE`.
  init(_ place: String) throws {
    let parts = place.split { "/:@".contains($0) }.map(String.init)
    guard parts.count == 6, let port = UInt32(parts[4]), let made = mysql_init(nil) else {
      throw HandFailure(description: "\(place) is no mysql://USER:PASSWORD@HOST:PORT/DATABASE")
    }
    handle = made
    zonai_mysql_set_charset(handle)
    // Where the server can, as the store does.
    zonai_mysql_set_tls(handle, 1)
    guard zonai_mysql_connect(handle, parts[3], parts[1], parts[2], parts[5], port, nil) != nil else {
      throw failure("connect")
    }
    try execute("SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'")
  }

  deinit { mysql_close(handle) }

  func prepare(_ text: String) throws -> Statement {
    guard let made = mysql_stmt_init(handle), mysql_stmt_prepare(made, text, UInt(text.utf8.count)) == 0,
      let parameters = zonai_mysql_parameters_make(UInt32(mysql_stmt_param_count(made)))
    else { throw failure(text) }
    guard let metadata = mysql_stmt_result_metadata(made) else { return Statement(made, parameters, nil, []) }
    defer { mysql_free_result(metadata) }
    let count = Int(mysql_num_fields(metadata))
    guard let row = zonai_mysql_row_make(UInt32(count)), let fields = mysql_fetch_fields(metadata) else {
      throw failure(text)
    }
    var isInteger: [Bool] = []
    for column in 0..<count {
      let isNumber = [MYSQL_TYPE_LONGLONG, MYSQL_TYPE_LONG, MYSQL_TYPE_NEWDECIMAL].contains(fields[column].type)
      isInteger.append(isNumber)
      let room = isNumber ? 8 : min(Int(clamping: fields[column].length), HandMySQL.longest)
      let type = isNumber ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_STRING
      guard zonai_mysql_row_want(row, UInt32(column), type, 0, room) != 0 else { throw failure(text) }
    }
    guard zonai_mysql_row_bind(made, row) == 0 else { throw failure(text) }
    return Statement(made, parameters, row, isInteger)
  }

  func execute(_ text: String) throws {
    guard mysql_real_query(handle, text, UInt(text.utf8.count)) == 0 else { throw failure(text) }
    if let rows = mysql_store_result(handle) { mysql_free_result(rows) }
  }

  @discardableResult func run(_ statement: Statement, _ values: [HandValue]) throws -> Int64 {
    try send(statement, values)
    guard let row = statement.row else { return 0 }
    cells.removeAll(keepingCapacity: true)
    var first: Int64?
    while try fetch(statement) {
      for (column, isInteger) in statement.isInteger.enumerated() {
        if first == nil { first = isInteger ? number(row, column) : 0 }
        cells.append(contentsOf: bytes(row, column))
      }
    }
    mysql_stmt_free_result(statement.handle)
    return first ?? 0
  }

  func read(_ statement: Statement, _ values: [HandValue], into page: inout HandPage) throws {
    try send(statement, values)
    page.clear()
    guard let row = statement.row else { return }
    while try fetch(statement) {
      page.keys.append(number(row, 0))
      page.tokens.append(contentsOf: bytes(row, 1))
      page.ends.append(page.tokens.count)
    }
    mysql_stmt_free_result(statement.handle)
  }

  private func send(_ statement: Statement, _ values: [HandValue]) throws {
    let parameters = statement.parameters
    let room = values.reduce(0) { room, value in
      switch value {
      case .integer: room + 8
      case .text(let text): room + zonai_mysql_room(text.utf8.count)
      case .bytes(let bytes): room + zonai_mysql_room(bytes.count)
      }
    }
    guard zonai_mysql_parameters_begin(parameters, room) != 0 else { throw HandFailure(description: "no memory") }
    for (index, value) in values.enumerated() {
      let number = UInt32(index)
      switch value {
      case .integer(let integer): zonai_mysql_bind_integer(parameters, number, integer)
      case .text(var text): text.withUTF8 { zonai_mysql_bind_text(parameters, number, $0.baseAddress, $0.count) }
      case .bytes(let bytes):
        bytes.withUnsafeBytes { zonai_mysql_bind_bytes(parameters, number, $0.baseAddress, $0.count) }
      }
    }
    guard values.isEmpty || zonai_mysql_bind_all(statement.handle, parameters) == 0,
      mysql_stmt_execute(statement.handle) == 0,
      statement.row == nil || mysql_stmt_store_result(statement.handle) == 0
    else { throw HandFailure(description: String(cString: mysql_stmt_error(statement.handle))) }
  }

  private func fetch(_ statement: Statement) throws -> Bool {
    switch mysql_stmt_fetch(statement.handle) {
    case 0: return true
    case MYSQL_NO_DATA: return false
    default:
      throw HandFailure(description: "a row does not fit: \(String(cString: mysql_stmt_error(statement.handle)))")
    }
  }

  private func number(_ row: UnsafeMutablePointer<zonai_mysql_row>, _ column: Int) -> Int64 {
    zonai_mysql_row_bytes(row, UInt32(column))?.loadUnaligned(as: Int64.self) ?? 0
  }

  private func bytes(_ row: UnsafeMutablePointer<zonai_mysql_row>, _ column: Int) -> UnsafeRawBufferPointer {
    let isNull = zonai_mysql_row_is_null(row, UInt32(column)) != 0
    return UnsafeRawBufferPointer(
      start: zonai_mysql_row_bytes(row, UInt32(column)),
      count: isNull ? 0 : Int(zonai_mysql_row_length(row, UInt32(column))))
  }

  private func failure(_ text: String) -> HandFailure {
    HandFailure(description: "\(String(cString: mysql_error(handle))): \(text)")
  }
}
