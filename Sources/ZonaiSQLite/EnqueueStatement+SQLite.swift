import CZonaiSQLite
import ZonaiCore
import ZonaiSQL

extension EnqueueStatement {
  /// Runs it on the application's own connection (`sqlite3 *`), in the transaction that is open there, or in one of its own
  /// when none is; the job's id. The connection must be of the SQLite library that this process is linked with.
  ///
  /// It blocks, as every statement of SQLite does. Throws `idempotencyClash` when the key belongs to another push.
  @discardableResult
  public func run(onSQLite connection: OpaquePointer) throws(StoreError) -> JobID {
    guard database == .sqlite, let idQuery else {
      throw StoreError(.invalidRequest, "the statement is for another database: make it for .sqlite")
    }
    _ = try row(text, values, connection)
    guard let id = try row(idQuery.text, idQuery.values, connection) else {
      throw StoreError(.failed, "the job is not in zonai_jobs after its insert: look at the table's triggers")
    }
    return JobID(id)
  }

  /// The first column of the first row; nil when there is none.
  private func row(
    _ text: String, _ values: [String?], _ connection: OpaquePointer
  ) throws(StoreError) -> String? {
    var made: OpaquePointer?
    let code = sqlite3_prepare_v2(connection, text, -1, &made, nil)
    guard code == SQLITE_OK, let made else { throw error(text, connection) }
    let statement = SQLiteStatement(made)
    guard statement.bind(values.map { $0.map(Value.text) ?? .null }) == SQLITE_OK else { throw error(text, connection) }
    var first: String?
    while true {
      switch sqlite3_step(statement.handle) {
      case SQLITE_ROW: first = first ?? SQLiteRow(handle: statement.handle).text(0)
      case SQLITE_DONE: return first
      default: throw error(text, connection)
      }
    }
  }

  private func error(_ text: String, _ connection: OpaquePointer) -> StoreError {
    let words = String(cString: sqlite3_errmsg(connection))
    let code = sqlite3_extended_errcode(connection)
    // The one trigger on the table is Zonai's own.
    if code == SQLITE_CONSTRAINT | 7 << 8 { return StoreError(.idempotencyClash, words, statement: text) }
    let path = sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? "the database"
    return SQLiteError.error(
      code, system: sqlite3_system_errno(connection), path: path, words: words, statement: text)
  }
}
