import CZonaiPostgres

/// libpq's own functions, those that block.
final class HandPostgres: HandDatabase {
  private let handle: OpaquePointer
  private var names = 0
  private var cells: [UInt8] = []
  private var text: [CChar] = []
  private var starts: [Int] = []

  init(_ place: String) throws {
    guard let opened = PQconnectdb(place), PQstatus(opened) == CONNECTION_OK else {
      throw HandFailure(description: "cannot reach \(place)")
    }
    handle = opened
    zonai_pq_ignore_notices(handle)
    try execute(
      """
      SET TimeZone TO 'UTC'; SET enable_seqscan TO off; SET enable_bitmapscan TO off; SET enable_sort TO off;
      SET jit TO off; SET max_parallel_workers_per_gather TO 0; SET work_mem TO '64MB'
      """)
  }

  deinit { PQfinish(handle) }

  func prepare(_ text: String) throws -> String {
    names += 1
    let name = "hand_\(names)"
    try finish(PQprepare(handle, name, text, 0, nil), text)
    return name
  }

  func execute(_ text: String) throws { try finish(PQexec(handle, text), text) }

  private func finish(_ result: OpaquePointer?, _ text: String) throws {
    defer { PQclear(result) }
    let status = PQresultStatus(result)
    guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else { throw failure(text) }
  }

  @discardableResult func run(_ statement: String, _ values: [HandValue]) throws -> Int64 {
    let result = try rows(statement, values)
    defer { PQclear(result) }
    cells.removeAll(keepingCapacity: true)
    let columns = PQnfields(result)
    for row in 0..<PQntuples(result) {
      for column in 0..<columns { cells.append(contentsOf: bytes(result, row, column)) }
    }
    return PQntuples(result) > 0 && columns > 0 ? number(bytes(result, 0, 0)) : 0
  }

  func read(_ statement: String, _ values: [HandValue], into page: inout HandPage) throws {
    let result = try rows(statement, values)
    defer { PQclear(result) }
    page.clear()
    for row in 0..<PQntuples(result) {
      page.keys.append(number(bytes(result, row, 0)))
      page.tokens.append(contentsOf: bytes(result, row, 1))
      page.ends.append(page.tokens.count)
    }
  }

  private func rows(_ statement: String, _ values: [HandValue]) throws -> OpaquePointer? {
    text.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    for value in values {
      starts.append(text.count)
      switch value {
      case .integer(let integer): append(String(integer))
      case .text(let words): append(words)
      case .bytes(let bytes): text.append(contentsOf: bytes.lazy.map { CChar(bitPattern: $0) })
      }
      text.append(0)
    }
    let result = text.withUnsafeBufferPointer { memory in
      let pointers = starts.map { start in memory.baseAddress.map { $0 + start } }
      return PQexecPrepared(handle, statement, Int32(values.count), pointers, nil, nil, 0)
    }
    let status = PQresultStatus(result)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
      PQclear(result)
      throw failure(statement)
    }
    return result
  }

  private func append(_ words: String) { text.append(contentsOf: words.utf8.lazy.map { CChar(bitPattern: $0) }) }

  private func bytes(_ result: OpaquePointer?, _ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
  }

  private func number(_ digits: UnsafeRawBufferPointer) -> Int64 {
    digits.reduce(0) { (0x30...0x39).contains($1) ? $0 &* 10 &+ Int64($1 &- 0x30) : $0 }
  }

  private func failure(_ text: String) -> HandFailure {
    HandFailure(description: "\(String(cString: PQerrorMessage(handle))): \(text)")
  }
}
