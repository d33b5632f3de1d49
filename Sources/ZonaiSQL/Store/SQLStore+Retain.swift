import ZonaiCore

/// Removing jobs that ended long ago: in bites, each a short transaction.
///
/// First their rows say `removed`, and from then on there are no such jobs; then goes what belongs to them; their rows go
/// last. Whoever comes after one that was killed meanwhile goes on with what it left.
extension SQLStore {
  func retain(_ milliseconds: Int64, every: Int64) async throws(StoreError) -> Int {
    guard try await write({ connection throws(StoreError) in try beginRetention(every: every, connection) }) else {
      return 0
    }
    var removed = 0
    while !Task.isCancelled {
      let jobs = try await write { connection throws(StoreError) in try markForRemoval(milliseconds, connection) }
      removed += jobs.new
      if jobs.all.isEmpty { break }
      for job in jobs.all {
        plans.forget(job)
        while !Task.isCancelled, try await write({ connection throws(StoreError) in try bite(job, connection) }) {}
      }
    }
    return removed
  }

  /// Whether it is time, and nobody else's turn.
  private func beginRetention(every: Int64, _ connection: Driver.Connection) throws(StoreError) -> Bool {
    let now = try checkedNow(connection)
    let mine = try connection.run(
      sql(
        """
        UPDATE zonai_meta SET retained_at = \(now) WHERE id = 1 AND (retained_at <= \(now - every) OR retained_at > \(now))
        """))
    guard mine > 0 || every <= 0 else { return false }
    try connection.run(sql("DELETE FROM zonai_workers WHERE seen_at < \(now - Self.workerMemory)"))
    // Nobody may ever share again, to whose exchange it would fall.
    try connection.run(sql("DELETE FROM zonai_secrets WHERE ends_at <= \(now)"))
    return true
  }

  /// How many jobs, or rows of them, one transaction removes.
  private static var bite: Int { 500 }

  private struct Marked: Sendable {
    /// Those that somebody left half removed included.
    var all: [JobID] = []
    var new = 0
  }

  private func markForRemoval(_ milliseconds: Int64, _ connection: Driver.Connection) throws(StoreError) -> Marked {
    let now = try checkedNow(connection)
    var marked = Marked()
    let left = sql("SELECT id FROM zonai_jobs WHERE state = \(JobRecord.removed) ORDER BY id LIMIT \(Self.bite)")
    marked.all = try connection.all(left) { row throws(StoreError) in JobID(row.text(0)) }
    guard marked.all.isEmpty else { return marked }
    // The state is part of the condition, so a job that is resumed meanwhile stays; so does one of which a worker still
    // settles a batch.
    let ended = sql(
      """
      SELECT id FROM zonai_jobs WHERE state IN ('completed', 'failed', 'cancelled')
      AND finished_at < \(now - milliseconds) AND NOT EXISTS (SELECT 1 FROM zonai_batches
      WHERE job = zonai_jobs.id AND worker IS NOT NULL AND due_at > \(now)) ORDER BY id LIMIT \(Self.bite)
      \(words: dialect.claimClause)
      """)
    for id in try connection.all(ended, { row throws(StoreError) in row.text(0) }) {
      // The key may be used again: the job is gone for whoever asks.
      try connection.run(
        sql("UPDATE zonai_jobs SET state = \(JobRecord.removed), idempotency_key = NULL WHERE id = \(id)"))
      marked.all.append(JobID(id))
      marked.new += 1
    }
    return marked
  }

  /// Removes some of what belongs to a job, and the job when nothing does. Whether there is more.
  private func bite(_ job: JobID, _ connection: Driver.Connection) throws(StoreError) -> Bool {
    _ = try checkedNow(connection)
    let id = job.rawValue
    let batches = sql("SELECT batch FROM zonai_batches WHERE job = \(id) ORDER BY batch LIMIT \(Self.bite)")
    if let last = try connection.all(batches, { row throws(StoreError) in row.integer(0) }).last {
      try connection.run(sql("DELETE FROM zonai_batches WHERE job = \(id) AND batch <= \(last)"))
      return true
    }
    let lines = sql(
      "SELECT \(words: StoredLine.columns) FROM zonai_tally WHERE job = \(id) LIMIT \(Self.bite)")
    let some = try connection.all(lines) { row throws(StoreError) in StoredLine(row) }
    guard some.count >= Self.bite else {
      try connection.run(sql("DELETE FROM zonai_tally WHERE job = \(id)"))
      try connection.run(sql("DELETE FROM zonai_jobs WHERE id = \(id) AND state = \(JobRecord.removed)"))
      return false
    }
    var gone = 0
    for line in some.sorted() {
      gone += try connection.run(
        sql(
          """
          DELETE FROM zonai_tally WHERE job = \(id) AND transport = \(line.transport)
          AND fingerprint = \(line.fingerprint) AND platform = \(line.platform) AND outcome = \(line.outcome)
          AND evidence = \(line.evidence) AND reason = \(line.reason) AND detail = \(line.detail)
          """))
    }
    // Lines that the database does not find again one by one would be asked for without end.
    if gone == 0 { try connection.run(sql("DELETE FROM zonai_tally WHERE job = \(id)")) }
    return true
  }
}
