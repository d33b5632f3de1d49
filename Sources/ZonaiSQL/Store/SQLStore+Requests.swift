import ZonaiCore
import ZonaiJSON

/// What SQL enqueued, before a worker has made a definition of it.
struct FoundRequest: Sendable {
  var job: JobID
  /// What to record, with the audience's key filled in, or why the job cannot run.
  var outcome: Result<Definition, JobFailure>

  struct Definition: Sendable {
    var app: AppName
    var stored: StoredDefinition
    var transports: Set<TransportName>
    var deletesReferencedRows: Bool
  }
}

/// SQL of other programs writes a request and nothing else. The first worker that looks at the job, whatever its lanes,
/// checks it and records it as an enqueue of Zonai's own would have, or fails it with the same sentence.
extension SQLStore {
  /// Looks at the requests of some of these jobs: few enough for one short transaction.
  func requests(of records: [JobRecord], _ connection: Driver.Connection) throws(StoreError) -> FoundWork {
    var found: [FoundRequest] = []
    for record in records.prefix(16) {
      let outcome: Result<FoundRequest.Definition, JobFailure>
      do throws(StoreError) {
        outcome = try self.outcome(record, connection)
      } catch {
        if error.code == .tooSlow { return .tooSlow(record.id) }
        guard error.isAboutTheTable else { throw error }
        outcome = .failure(error.failure)
      }
      found.append(FoundRequest(job: record.id, outcome: outcome))
      // Some databases end the transaction with the first statement that fails.
      if case .failure = outcome { break }
    }
    return .requests(found)
  }

  private func outcome(
    _ record: JobRecord, _ connection: Driver.Connection
  ) throws(StoreError) -> Result<FoundRequest.Definition, JobFailure> {
    let statement = sql("SELECT request, idempotency_key FROM zonai_jobs WHERE id = \(record.id.rawValue)")
    let row = try connection.first(statement) { row throws(StoreError) in
      (text: row.optionalText(0), key: row.optionalText(1))
    }
    let request: PushRequest
    do throws(FieldFault) { request = try PushRequest(parsing: row?.text) } catch {
      return .failure(JobFailure(.request, error.sentence))
    }
    do throws(MessageFault) { try MessageRules.validate(request.definition.message) } catch {
      return .failure(JobFailure(.message, error.sentence))
    }
    let wanted = EnqueueRequest(
      app: request.app, definition: request.definition, idempotencyKey: row?.key,
      deletesReferencedRows: request.deletesReferencedRows)
    if record.app.rawValue == StoredApp.unread {
      if let other = try job(of: wanted, connection) {
        return .failure(JobFailure(.request, "the idempotency key belongs to job \(other) of \(request.app)"))
      }
    } else if record.app != request.app {
      let sentence =
        "the request is for \(request.app), but its row is in \(record.app): give the app in the request alone"
      return .failure(JobFailure(.request, sentence))
    }
    let plan = try resolve(wanted, connection)
    return .success(
      FoundRequest.Definition(
        app: request.app, stored: try StoredDefinition(plan.definition), transports: plan.definition.routes.transports,
        deletesReferencedRows: request.deletesReferencedRows))
  }

  /// Records what was found; done with the first job that cannot run.
  func adopt(_ requests: [FoundRequest], _ connection: Driver.Connection) throws(StoreError) -> ClaimAttempt {
    try checkVersion(connection)
    for request in requests {
      let id = request.job
      switch request.outcome {
      case .failure(let failure): return .done(try stop(id, failure, connection))
      case .success(let definition):
        try connection.run(
          sql(
            """
            UPDATE zonai_jobs SET app = \(definition.app.rawValue), definition = \(definition.stored.definition),
            predicate = \(definition.stored.predicate), transports = \(JobRecord.text(definition.transports)),
            deletes_referenced = \(definition.deletesReferencedRows) WHERE id = \(id.rawValue) AND definition IS NULL
            """))
      }
    }
    return .again
  }
}
