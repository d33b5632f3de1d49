import CZonaiPostgres
import ZonaiCore
import ZonaiSQL

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension EnqueueStatement {
  /// Runs it on the application's own connection (`PGconn *`), in the transaction that is open there, or in one of its own
  /// when none is; the job's id.
  ///
  /// It blocks until the server has answered. Throws `idempotencyClash` when the key belongs to another push; PostgreSQL
  /// takes nothing more in that transaction then.
  @discardableResult
  public func run(onPostgres connection: OpaquePointer) throws(StoreError) -> JobID {
    guard database == .postgres else {
      throw StoreError(.invalidRequest, "the statement is for another database: make it for .postgres")
    }
    let copies = values.map { $0.flatMap { strdup($0) } }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { UnsafePointer($0) }
    let made = pointers.withUnsafeBufferPointer {
      PQexecParams(connection, text, Int32($0.count), nil, $0.baseAddress, nil, nil, 0)
    }
    guard let made else { throw failure(nil, String(cString: PQerrorMessage(connection))) }
    let result = PostgresResult(made)
    guard PQresultStatus(made) == PGRES_TUPLES_OK, result.rowCount == 1 else {
      throw failure(PostgresError.number(result), String(cString: PQresultErrorMessage(made)))
    }
    return JobID(PostgresRow(result: result, row: 0).text(0))
  }

  private func failure(_ number: String?, _ words: String) -> StoreError {
    let (code, sentence): (StoreError.Code, String) =
      switch number {
      case "23505": (.idempotencyClash, "the idempotency key belongs to another push: use another key for this one")
      case "42883": (.notMigrated, "there is no function zonai_push here: create it with \"zonai migrate\"")
      case "42501": (.denied, "the role may not enqueue: GRANT EXECUTE ON FUNCTION zonai_push(jsonb, text) to it")
      case nil, "": (.unavailable, "the connection to PostgreSQL was lost")
      default: (.failed, "PostgreSQL does not take the push")
      }
    return StoreError(code, sentence, databaseWords: words, statement: text)
  }
}
