import ZonaiCore

extension SQLStore {
  public func change(_ change: JobChange) async throws(StoreError) -> ChangeResult {
    try await write { connection throws(StoreError) in
      try checkVersion(connection)
      switch change {
      case .cancel(let id): return .job(try cancel(id, connection))
      case .resume(let id, let suspects): return .job(try resume(id, suspects, connection))
      case .fail(let lease, let failure): return .job(try fail(lease, failure, connection))
      case .retain(let milliseconds): return .removed(try retain(milliseconds, connection))
      }
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
    let record = try locked(id, connection)
    guard let cancelled = record.state.after(.cancelled) else {
      throw StoreError(.wrongState, "job \(id) is \(record.state.rawValue) and cannot be cancelled")
    }
    let now = try now(connection)
    try connection.run(
      sql(
        "UPDATE zonai_jobs SET state = \(cancelled.rawValue), finished_at = \(now) WHERE id = \(id.rawValue)"))
    return try changed(id, connection)
  }

  private func resume(
    _ id: JobID, _ suspects: SuspectMode, _ connection: Driver.Connection
  ) throws(StoreError) -> Job {
    let record = try locked(id, connection)
    guard let resumed = record.state.after(.resumed) else {
      throw StoreError(
        .wrongState, "job \(id) is \(record.state.rawValue) and cannot be resumed: only a failed or cancelled one can")
    }
    let now = try now(connection)
    var kept = record.keptGroups
    if suspects == .keep {
      let held = sql(
        "SELECT DISTINCT suspects FROM zonai_batches WHERE job = \(id.rawValue) AND suspects IS NOT NULL")
      try connection.run(held) { row throws(StoreError) in kept.formUnion(try [Group](stored: row.text(0))) }
    }
    try connection.run(sql("UPDATE zonai_batches SET takeovers = 0 WHERE job = \(id.rawValue)"))
    try connection.run(
      sql(
        """
        UPDATE zonai_jobs SET state = \(resumed.rawValue), error_code = NULL, error_detail = NULL, finished_at = NULL,
        started_at = \(record.startedAt ?? now), suspects = \(suspects.rawValue), kept_groups = \(Array(kept).stored),
        resumed_at = \(now) WHERE id = \(id.rawValue)
        """))
    try connection.announceWork()
    return try changed(id, connection)
  }

  /// Fails the job and gives the batch back as it was claimed: nothing was sent.
  private func fail(
    _ lease: BatchLease, _ failure: JobFailure, _ connection: Driver.Connection
  ) throws(StoreError) -> Job {
    guard let batch = try owned(lease, connection, lock: dialect.lockClause) else {
      return try changed(lease.job, connection)
    }
    let now = try now(connection)
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

  /// Removes what ended long ago, except where a worker still settles.
  private func retain(_ milliseconds: Int64, _ connection: Driver.Connection) throws(StoreError) -> Int {
    let now = try now(connection)
    let statement = sql(
      """
      SELECT id FROM zonai_jobs WHERE finished_at < \(now - milliseconds) AND state NOT IN ('pending', 'running')
      AND NOT EXISTS (SELECT 1 FROM zonai_batches WHERE job = zonai_jobs.id AND worker IS NOT NULL AND due_at > \(now))
      """)
    let ended = try connection.all(statement) { row throws(StoreError) in row.text(0) }
    for id in ended {
      try connection.run(sql("DELETE FROM zonai_batches WHERE job = \(id)"))
      try connection.run(sql("DELETE FROM zonai_tally WHERE job = \(id)"))
      try connection.run(sql("DELETE FROM zonai_jobs WHERE id = \(id)"))
      plans.forget(JobID(id))
    }
    return ended.count
  }
}
