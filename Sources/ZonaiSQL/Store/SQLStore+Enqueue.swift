import ZonaiCore

extension SQLStore {
  public func enqueue(_ request: EnqueueRequest) async throws(StoreError) -> Enqueued {
    // The table is looked at outside of the write: it may be large, and a job of many values takes time to write down.
    let (repeated, definition) = try await read { connection throws(StoreError) -> (Job?, JobDefinition) in
      try checkVersion(connection)
      try bindings(of: request.app, connection).check(request.lanes)
      if let job = try earlierJob(of: request, connection) { return (job, job.definition) }
      return (nil, try resolve(request, connection).definition)
    }
    if let repeated { return Enqueued(job: repeated, wasThere: true) }
    let stored = try StoredDefinition(definition)
    return try await write { connection throws(StoreError) in
      try checkVersion(connection)
      let bindings = try bind(request.lanes, to: request.app, connection)
      if let id = try known(request, as: definition, connection) {
        guard let record = try record(id, connection) else { throw missing(id) }
        let job = record.job(
          definition, open: try openBatches(id, connection), tally: try tally(id, connection))
        return Enqueued(job: job, wasThere: true)
      }
      let now = try now(connection)
      let id = try nextID(now, connection)
      let needed = definition.routes.transports
      let identities = bindings.identities(needing: needed)
      try connection.run(
        sql(
          """
          INSERT INTO zonai_jobs (id, app, identities, state, definition, predicate, transports, idempotency_key,
          deletes_referenced, suspects, kept_groups, created_at, due_at) VALUES (\(id.rawValue),
          \(request.app.rawValue), \(identities.isEmpty ? nil : identities.stored), \(JobState.pending.rawValue),
          \(stored.definition), \(stored.predicate), \(JobRecord.text(needed)),
          \(request.idempotencyKey), \(request.deletesReferencedRows), \(SuspectMode.ask.rawValue), '[]', \(now), \(now))
          """))
      try connection.announceWork()
      // Workers come and go under new names: those of the day before are forgotten here, where it costs nothing.
      try connection.run(sql("DELETE FROM zonai_workers WHERE seen_at < \(now - 86_400_000)"))
      let job = Job(
        id: id, app: request.app, definition: definition, identities: identities, state: .pending, createdAt: now,
        dueAt: now)
      return Enqueued(job: job, wasThere: false)
    }
  }

  /// The job that an earlier enqueue of the same request made, whatever became of its table since.
  private func earlierJob(of request: EnqueueRequest, _ connection: Driver.Connection) throws(StoreError) -> Job? {
    guard let found = try job(of: request, connection), let job = try account(found, connection),
      AudienceRules.isRepeat(request.definition, of: job.definition)
    else { return nil }
    return job
  }

  /// The request's plan: its definition with the key filled in, after all checks.
  func resolve(
    _ request: EnqueueRequest, _ connection: Driver.Connection
  ) throws(StoreError) -> JobPlan {
    let table = try dialect.describe(request.definition.audience.table, on: connection)
    let definition = try AudienceRules.resolve(request, against: table)
    let plan = try JobPlan(definition, table: table, dialect: dialect)
    try dialect.checkRights(definition.policy, on: plan.target, connection)
    do throws(StoreError) {
      // Reads no row, but makes the database understand the predicate.
      _ = try page(plan, after: nil, upTo: RowKey(plan.target.key.map { _ in .null }), limit: 0, connection)
    } catch {
      guard error.isAboutTheTable, error.code != .denied else { throw error }
      throw StoreError(
        .invalidPredicate, "the database does not take the predicate: correct it",
        databaseWords: error.databaseWords, statement: error.statement)
    }
    return plan
  }

  /// The job that the request's idempotency key enqueued; nil when it is new.
  private func known(
    _ request: EnqueueRequest, as wanted: JobDefinition, _ connection: Driver.Connection
  ) throws(StoreError) -> JobID? {
    guard let id = try job(of: request, connection) else { return nil }
    var known: JobDefinition?
    do throws(StoreError) { known = try definition(id, connection) } catch {
      guard error.isUnreadable else { throw error }
    }
    // Where SQL has enqueued it, the key's columns may not be filled in yet.
    guard let known, AudienceRules.isRepeat(wanted, of: known) || AudienceRules.isRepeat(known, of: wanted) else {
      throw StoreError(
        .idempotencyClash,
        "the idempotency key belongs to job \(id), which says something else: use another key for another push")
    }
    return id
  }

  func job(of request: EnqueueRequest, _ connection: Driver.Connection) throws(StoreError) -> JobID? {
    guard let key = request.idempotencyKey else { return nil }
    let statement = sql(
      "SELECT id FROM zonai_jobs WHERE app = \(request.app.rawValue) AND idempotency_key = \(key)")
    return try connection.first(statement) { row throws(StoreError) in JobID(row.text(0)) }
  }

  /// A UUID of version 7 by the store's clock, above every other: jobs sort by the time of their enqueuing.
  private func nextID(_ now: Int64, _ connection: Driver.Connection) throws(StoreError) -> JobID {
    let last = try connection.first(sql("SELECT MAX(id) FROM zonai_jobs")) { row throws(StoreError) in
      row.optionalText(0)
    }
    return TimedID.after(last ?? nil, now: now)
  }
}
