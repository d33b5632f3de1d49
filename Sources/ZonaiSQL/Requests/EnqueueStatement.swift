import ZonaiCore
import ZonaiJSON
import ZonaiThreads

/// A push as one SQL statement, which the application runs with its own driver in its own transaction: rolled back, it was
/// never there.
///
///     let statement = try zonai.enqueueStatement(message, to: audience, for: .sqlite)
///     try database.execute(sql: statement.text, arguments: StatementArguments(statement.values))
///
/// What only the database or a worker can tell (the table, its key, the predicate) is checked at the job's first claim, and
/// fails the job before anything is sent.
public struct EnqueueStatement: Sendable, Hashable {
  /// Whose SQL it is, and so what stands for a value: `?`, or `$1` in PostgreSQL.
  public enum Database: Sendable, Hashable {
    case sqlite, postgres, mysql
  }

  public let database: Database
  public let text: String
  /// What is bound to the placeholders, in their order; nil is NULL.
  public let values: [String?]
  /// Run next on the same connection, gives one row with the job's id; nil where the statement itself gives that row. An
  /// idempotency key that was there already gives the id of the job that it belongs to.
  public let idQuery: IDQuery?

  public struct IDQuery: Sendable, Hashable {
    public let text: String
    public let values: [String?]
  }

  /// Throws `invalidRequest` for what no worker could read again.
  init(_ request: EnqueueRequest, for database: Database) throws(StoreError) {
    if request.idempotencyKey?.isEmpty == true { throw AudienceRules.emptyIdempotencyKey }
    let document = PushRequest(
      app: request.app, request.definition, deletesReferencedRows: request.deletesReferencedRows
    ).text
    do throws(FieldFault) { _ = try PushRequest(parsing: document) } catch {
      throw StoreError(.invalidRequest, error.sentence)
    }
    let key = request.idempotencyKey
    self.database = database
    switch database {
    case .sqlite:
      let id = TimedID.after(nil, now: WallClock.milliseconds()).rawValue
      text = "INSERT INTO zonai_jobs (id, request, idempotency_key) VALUES (?, ?, ?)"
      values = [id, document, key]
      idQuery = IDQuery(
        text: "SELECT id FROM zonai_jobs WHERE id = ? OR (app = ? AND idempotency_key = ?)",
        values: [id, request.app.rawValue, key])
    case .postgres:
      text = "SELECT zonai_push($1::jsonb, $2)"
      values = [document, key]
      idQuery = nil
    case .mysql:
      text = "CALL zonai_push(?, ?, @zonai_job)"
      values = [document, key]
      idQuery = IDQuery(text: "SELECT @zonai_job", values: [])
    }
  }
}

extension Zonai {
  /// What `push` would record, as a statement for the application to run itself; the same checks,
  /// but for those that need the database, the app's binding among them: the job is bound at its
  /// first claim. Its parameters are those of `push`.
  public func enqueueStatement(
    _ message: PushMessage, to audience: Audience, for database: EnqueueStatement.Database, policy: Policy? = nil,
    idempotencyKey: String? = nil, attribution: [String: String] = [:], routes: Routes? = nil,
    deletesReferencedRows: Bool = false
  ) throws -> EnqueueStatement {
    try EnqueueStatement(
      checkedRequest(
        message, to: audience, policy: policy, idempotencyKey: idempotencyKey, attribution: attribution, routes: routes,
        deletesReferencedRows: deletesReferencedRows), for: database)
  }
}
