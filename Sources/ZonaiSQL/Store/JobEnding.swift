import ZonaiCore

// How a job ends: the only two places that write it. Both want the job's row locked.

extension SQLStore {
  /// Completes the job if its pages are at the end and nothing is open; nil when it goes on.
  func complete(
    _ record: JobRecord, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) -> Job? {
    guard record.isAtEnd, let finished = record.state.after(.finished),
      try openBatches(record.id, connection).count == 0
    else { return nil }
    var record = record
    record.state = finished
    record.finishedAt = now
    try connection.run(
      sql(
        """
        UPDATE zonai_jobs SET state = \(finished.rawValue), finished_at = \(now) WHERE id = \(record.id.rawValue)
        """))
    let job = try shown(record, connection)
    plans.forget(record.id)
    return job
  }

  /// The job after a settling: completed, if this was its last.
  func completeOrShow(
    _ record: JobRecord, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) -> Job {
    if let completed = try complete(record, now, connection) { return completed }
    return try job(record, connection)
  }

  /// Fails the job, unless it has ended already: the first failure stays.
  func fail(
    _ record: inout JobRecord, _ failure: JobFailure, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) {
    guard let failed = record.state.after(.failed) else { return }
    record.state = failed
    record.error = failure
    record.finishedAt = now
    try connection.run(
      sql(
        """
        UPDATE zonai_jobs SET state = \(failed.rawValue), finished_at = \(now), error_code = \(failure.code.rawValue),
        error_detail = \(failure.detail) WHERE id = \(record.id.rawValue)
        """))
  }
}
