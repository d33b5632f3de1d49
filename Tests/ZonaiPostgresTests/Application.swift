import CZonaiPostgres
import ZonaiCore
import ZonaiPostgres
import ZonaiSQL
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The application's own connection, on a thread of its own: it may wait for locks.
actor Application {
  private let executor: ThreadExecutor
  private let client: Client

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ url: String, zone: String = "America/St_Johns") throws {
    executor = try ThreadExecutor(name: "application")
    guard let handle = PQconnectdb(url) else { throw TestFailure("no memory for a connection") }
    client = Client(handle)
    guard PQstatus(handle) == CONNECTION_OK else {
      let words = String(cString: PQerrorMessage(handle))
      throw TestFailure(words)
    }
    zonai_pq_ignore_notices(handle)
    PQclear(PQexec(handle, "SET TimeZone TO '\(zone)'"))
  }

  deinit { executor.close() }

  private var handle: OpaquePointer { client.handle }

  /// Runs one statement with its values as text; gives the rows as text. nil is NULL.
  @discardableResult
  func run(_ text: String, _ values: [String?] = []) throws -> [[String?]] {
    let copies = values.map { $0.flatMap { strdup($0) } }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { $0.map { UnsafePointer($0) } }
    let result = pointers.withUnsafeBufferPointer {
      values.isEmpty
        ? PQexec(handle, text) : PQexecParams(handle, text, Int32(values.count), nil, $0.baseAddress, nil, nil, 0)
    }
    defer { PQclear(result) }
    guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
      let number = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
      throw TestFailure(String(cString: PQerrorMessage(handle)) + " " + text, number: number)
    }
    return (0..<PQntuples(result)).map { row in
      (0..<PQnfields(result)).map { column in
        PQgetisnull(result, row, column) == 1 ? nil : String(cString: PQgetvalue(result, row, column))
      }
    }
  }

  func runAll(_ texts: [String]) throws { for text in texts { try run(text) } }

  var process: Int32 { PQbackendPID(handle) }

  @discardableResult
  func enqueue(_ statement: EnqueueStatement) throws -> JobID { try statement.run(onPostgres: handle) }
}

private final class Client {
  let handle: OpaquePointer
  init(_ handle: OpaquePointer) { self.handle = handle }
  deinit { PQfinish(handle) }
}

struct TestFailure: Error, CustomStringConvertible {
  let description: String
  /// The server's number of the error.
  var number: String?

  init(_ description: String, number: String? = nil) {
    self.description = description
    self.number = number
  }
}

func quoted(_ name: String) -> String {
  "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}

func quoted(_ table: TableName) -> String { (table.schema.map { quoted($0) + "." } ?? "") + quoted(table.name) }

func literal(_ text: String) -> String {
  "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
}
