import CZonaiMySQL
import ZonaiCore
import ZonaiThreads

/// The application's own connection to its database: statements as text, values written into it, nothing prepared. On a
/// thread of its own, since it may wait for rows.
actor Application {
  private let executor: ThreadExecutor
  private let handle: Handle

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Frees the connection; only the actor's thread uses it.
  private final class Handle {
    let pointer: UnsafeMutablePointer<MYSQL>
    init(_ pointer: UnsafeMutablePointer<MYSQL>) { self.pointer = pointer }
    deinit { mysql_close(pointer) }
  }

  init(_ server: ServerURL, database: String? = nil, isRoot: Bool = false) throws {
    executor = try ThreadExecutor(name: "application")
    guard mysql_server_init(0, nil, nil) == 0, let pointer = mysql_init(nil) else { throw TestFailure("no memory") }
    handle = Handle(pointer)
    zonai_mysql_set_charset(pointer)
    let connected = zonai_mysql_connect(
      pointer, isRoot ? nil : server.host, isRoot ? "root" : server.user, isRoot ? nil : server.password, database,
      isRoot ? 0 : server.port, isRoot ? server.socket : nil)
    guard connected != nil else {
      throw TestFailure("the application cannot connect: \(String(cString: mysql_error(pointer)))")
    }
  }

  func run(_ statements: String...) throws {
    for statement in statements { _ = try rows(statement) }
  }

  /// Rows as text, NULL as nil.
  @discardableResult
  func rows(_ text: String) throws -> [[String?]] {
    let pointer = handle.pointer
    guard mysql_real_query(pointer, text, UInt(text.utf8.count)) == 0 else {
      throw TestFailure("\(mysql_errno(pointer)): \(String(cString: mysql_error(pointer))) in \(text.prefix(200))")
    }
    guard let result = mysql_store_result(pointer) else { return [] }
    defer { mysql_free_result(result) }
    var rows: [[String?]] = []
    while let row = mysql_fetch_row(result) {
      let lengths = mysql_fetch_lengths(result)
      rows.append(
        (0..<Int(mysql_num_fields(result))).map { column in
          row[column].map { start in
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(lengths?[column] ?? 0))
            return String(decoding: bytes, as: UTF8.self)
          }
        })
    }
    return rows
  }

  func first(_ text: String) throws -> String? { try rows(text).first?.first ?? nil }

  /// Which connection this is to the server.
  var number: UInt { mysql_thread_id(handle.pointer) }
}

/// What went wrong in the test's own doing.
struct TestFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A name as the server takes it.
func quoted(_ name: String) -> String {
  "`" + name.split(separator: "`", omittingEmptySubsequences: false).joined(separator: "``") + "`"
}

func quoted(_ table: TableName) -> String { (table.schema.map { quoted($0) + "." } ?? "") + quoted(table.name) }

/// A value as it is written into a statement.
func literal(_ value: Value) -> String {
  switch value {
  case .null: "NULL"
  case .boolean(let boolean): boolean ? "1" : "0"
  case .integer(let integer): "\(integer)"
  case .real(let real): "\(real)"
  case .text(let text): text.isEmpty ? "''" : "CONVERT(X'\(Array(text.utf8).hex)' USING utf8mb4)"
  case .bytes(let bytes): "X'\(bytes.hex)'"
  }
}
