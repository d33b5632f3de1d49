import ZonaiCore

extension SQLStore {
  public func change(_ change: JobChange) async throws(StoreError) -> ChangeResult {
    switch change {
    case .cancel(let id): .job(try await write { connection throws(StoreError) in try cancel(id, connection) })
    case .resume(let id, let suspects, let rebound):
      .job(try await write { connection throws(StoreError) in try resume(id, suspects, rebound, connection) })
    case .fail(let lease, let failure):
      .job(try await write { connection throws(StoreError) in try fail(lease, failure, connection) })
    case .retain(let milliseconds, let every): .removed(try await retain(milliseconds, every: every))
    }
  }

  private func locked(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> JobRecord {
    guard let record = try record(id, connection, lock: dialect.lockClause) else { throw missing(id) }
    return record
  }

  private func changed(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> Job {
    guard let job = try account(id, connection) else { throw missing(id) }
    return job
  }

  private func cancel(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> Job {
    try checkVersion(connection)
    let record = try locked(id, connection)
    let now = try checkedNow(connection)
    guard let cancelled = record.state.after(.cancelled) else {
      throw StoreError(.wrongState, "job \(id) is \(record.state.rawValue) and cannot be cancelled")
    }
    try connection.run(
      sql(
        "UPDATE zonai_jobs SET state = \(cancelled.rawValue), finished_at = \(now) WHERE id = \(id.rawValue)"))
    return try changed(id, connection)
  }

  private func resume(
    _ id: JobID, _ suspects: SuspectMode, _ rebound: Bool, _ connection: Driver.Connection
  ) throws(StoreError) -> Job {
    try checkVersion(connection)
    // Batches before their job, as everybody does; in their order, as a renewal does.
    let taken = sql(
      """
      SELECT batch FROM zonai_batches WHERE job = \(id.rawValue) AND takeovers > 0 ORDER BY batch
      \(words: dialect.lockClause)
      """)
    for batch in try connection.all(taken, { row throws(StoreError) in row.integer(0) }) {
      try connection.run(
        sql("UPDATE zonai_batches SET takeovers = 0 WHERE job = \(id.rawValue) AND batch = \(batch)"))
    }
    let record = try locked(id, connection)
    let now = try checkedNow(connection)
    guard let resumed = record.state.after(.resumed) else {
      throw StoreError(
        .wrongState, "job \(id) is \(record.state.rawValue) and cannot be resumed: only a failed or cancelled one can")
    }
    let bindings = try bindings(of: record.app, connection)
    var identities = record.storedIdentities
    if rebound {
      identities = bindings.identities(needing: record.transports).stored
    } else {
      try bindings.checkResume(of: id, with: try record.identities())
    }
    var kept = record.keptGroups
    if suspects == .keep {
      let held = sql(
        "SELECT DISTINCT suspects FROM zonai_batches WHERE job = \(id.rawValue) AND suspects IS NOT NULL")
      try connection.run(held) { row throws(StoreError) in kept.formUnion(try [Group](stored: row.text(0))) }
    }
    try connection.run(
      sql(
        """
        UPDATE zonai_jobs SET state = \(resumed.rawValue), error_code = NULL, error_detail = NULL, finished_at = NULL,
        started_at = \(record.startedAt ?? now), suspects = \(suspects.rawValue), kept_groups = \(Array(kept).stored),
        resumed_at = \(now), identities = \(identities) WHERE id = \(id.rawValue)
        """))
    try connection.announceWork()
    return try changed(id, connection)
  }

  /// Fails the job and gives the batch back as it was claimed: nothing was sent.
  private func fail(
    _ lease: BatchLease, _ failure: JobFailure, _ connection: Driver.Connection
  ) throws(StoreError) -> Job {
    try checkVersion(connection)
    guard let batch = try owned(lease, connection, lock: dialect.lockClause) else {
      return try changed(lease.job, connection)
    }
    let now = try checkedNow(connection)
    let dueAt = batch.rejections.isEmpty ? batch.owed?.map(\.notBefore).min() ?? now : now
    try connection.run(
      sql(
        """
        UPDATE zonai_batches SET worker = NULL, unsettled = 0, is_settling = 0, due_at = \(dueAt)
        WHERE job = \(lease.job.rawValue) AND batch = \(lease.batch)
        """))
    var record = try locked(lease.job, connection)
    try fail(&record, failure, now, connection)
    return try changed(lease.job, connection)
  }
}
