import ZonaiCore
import ZonaiThreads

extension SQLStore {
  /// Reads what there is to claim, then claims it in one short transaction, if nobody else did meanwhile.
  public func claim(_ request: ClaimRequest) async throws(StoreError) -> ClaimResult {
    looks.forget(request.worker)
    // Each round beyond the first follows a step that ended a job's pages or an empty batch: a few are plenty.
    for _ in 0..<16 {
      let changes = driver.changes
      let found = try await read { connection throws(StoreError) in try find(request, connection) }
      let result: ClaimResult?
      switch found {
      case .nothing(let idle):
        looks.note(request.worker, seen: changes)
        return .nothing(idle)
      case .page(let page):
        result = try await lease { connection throws(StoreError) in try claim(page, request, connection) }
      case .batch(let batch):
        result = try await lease { connection throws(StoreError) in try reclaim(batch, request, connection) }
      case .cannotRun(let id, let error):
        let failure = try await failure(of: id, error)
        result = try await write { connection throws(StoreError) in try stop(id, failure, connection) }
      case .tooSlow(let id): return try await postpone(id)
      case .done(let id):
        result = try await write { connection throws(StoreError) in try finish(id, connection) }
      }
      if let result { return result }
    }
    return .contended
  }

  /// Runs the transaction that begins a lease, and says how long ago that was.
  private func lease(
    _ body: @escaping @Sendable (Driver.Connection) throws(StoreError) -> ClaimResult?
  ) async throws(StoreError) -> ClaimResult? {
    let (result, begun) = try await write { connection throws(StoreError) -> (ClaimResult?, Int64) in
      // Before the store's clock is read.
      let begun = MonotonicClock.milliseconds()
      return (try body(connection), begun)
    }
    guard case .batch(var batch) = result else { return result }
    batch.ageMilliseconds = MonotonicClock.milliseconds() - begun
    return .batch(batch)
  }

  // MARK: Claiming a page

  private func claim(
    _ page: FoundPage, _ request: ClaimRequest, _ connection: Driver.Connection
  ) throws(StoreError) -> ClaimResult? {
    try checkVersion(connection)
    let lock = dialect.claimClause
    guard var record = try record(page.record.id, connection, lock: lock), record.state.isOpen,
      record.nextBatch == page.record.nextBatch, record.firstBatch == page.record.firstBatch
    else { return .contended }
    let now = try now(connection)
    let isEmpty = page.recipients.isEmpty
    let batch = record.nextBatch
    if let started = record.state.after(.claimed) {
      record.state = started
      record.startedAt = record.startedAt ?? now
    }
    record.isStarted = true
    record.lastKey = page.lastKey
    record.isAtEnd = page.isLast
    if !isEmpty {
      record.frontier = page.to
      record.nextBatch += 1
      if record.firstBatch == .none { record.firstBatch = .open }
    }
    try connection.run(
      sql(
        """
        UPDATE zonai_jobs SET state = \(record.state.rawValue), started_at = \(record.startedAt),
        is_started = 1, last_key = \(record.lastKey?.stored), at_end = \(record.isAtEnd),
        frontier = \(record.frontier?.stored), next_batch = \(record.nextBatch),
        first_batch = \(record.firstBatch.rawValue), turn = \(try nextTurn(connection)) WHERE id = \(record.id.rawValue)
        """))
    guard !isEmpty, let to = page.to else {
      return try complete(record, now, connection).map(ClaimResult.ended)
    }
    try connection.run(
      sql(
        """
        INSERT INTO zonai_batches (job, batch, from_key, to_key, is_first, fence, unsettled, worker, due_at)
        VALUES (\(record.id.rawValue), \(batch), \(page.record.frontier?.stored), \(to.stored),
        \(record.firstBatch == .open), 1, \(page.recipients.count), \(request.worker.rawValue),
        \(now + request.leaseMilliseconds))
        """))
    try remember(request.worker, now, connection)
    return .batch(
      ClaimedBatch(
        lease: BatchLease(job: record.id, batch: batch, fence: 1), job: try job(record, connection),
        recipients: page.recipients, isFirst: record.firstBatch == .open,
        isSole: record.firstBatch == .open && page.isLast && page.recipients.count == 1,
        keptGroups: record.keptGroups, now: now, leaseMilliseconds: request.leaseMilliseconds))
  }

  // MARK: Claiming a batch again

  private func reclaim(
    _ found: FoundBatch, _ request: ClaimRequest, _ connection: Driver.Connection
  ) throws(StoreError) -> ClaimResult? {
    try checkVersion(connection)
    let lock = dialect.claimClause
    guard var batch = try batch(found.job, found.batch.batch, connection, lock: lock),
      batch.fence == found.batch.fence, batch.worker == found.batch.worker,
      batch.isSettling == found.batch.isSettling,
      var record = try record(found.job, connection, lock: lock), record.state.isOpen
    else { return .contended }
    let now = try now(connection)
    guard batch.dueAt <= now else { return .contended }
    let isTakeover = batch.worker != nil
    if isTakeover {
      batch.takeovers += 1
      record.counts.repeatedByTakeover += batch.unsettled
      try connection.run(
        sql(
          """
          UPDATE zonai_jobs SET repeated_by_takeover = repeated_by_takeover + \(batch.unsettled)
          WHERE id = \(record.id.rawValue)
          """))
      if batch.takeovers >= 3 { return try giveUp(batch, record, now, connection) }
    }
    if found.isEmpty {
      try drop(batch, record, connection)
      return try complete(record, now, connection).map(ClaimResult.ended)
    }
    if let middle = found.cutAfter {
      try cut(batch, after: middle, &record, now, connection)
      batch.to = middle
    }
    let turn = try nextTurn(connection)
    try connection.run(
      sql(
        """
        UPDATE zonai_batches SET to_key = \(batch.to.stored), fence = fence + 1, takeovers = \(batch.takeovers),
        unsettled = \(found.recipients.count), is_settling = 0, resting_count = \(found.resting.count),
        worker = \(request.worker.rawValue), due_at = \(now + request.leaseMilliseconds)
        WHERE job = \(record.id.rawValue) AND batch = \(batch.batch)
        """))
    try connection.run(
      sql(
        """
        UPDATE zonai_jobs SET turn = \(turn), next_batch = \(record.nextBatch) WHERE id = \(record.id.rawValue)
        """))
    try remember(request.worker, now, connection)
    let total = found.recipients.count + found.resting.count + batch.rejections.count
    return .batch(
      ClaimedBatch(
        lease: BatchLease(job: record.id, batch: batch.batch, fence: batch.fence + 1),
        job: try job(record, connection), recipients: found.recipients, owed: found.owed, resting: found.resting,
        rejections: batch.rejections, deliveredBefore: batch.delivered, isFirst: batch.isFirst && record.isAlone,
        isSole: record.isAtEnd && record.nextBatch == 2 && record.counts.settled == 0 && total == 1,
        isTakeover: isTakeover, keptGroups: record.keptGroups, now: now,
        leaseMilliseconds: request.leaseMilliseconds))
  }

  /// The third takeover since the last resume: whatever ends its workers would go on doing so.
  private func giveUp(
    _ batch: BatchRecord, _ record: JobRecord, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) -> ClaimResult {
    try connection.run(
      sql(
        """
        UPDATE zonai_batches SET worker = NULL, unsettled = 0, takeovers = \(batch.takeovers), due_at = \(now)
        WHERE job = \(record.id.rawValue) AND batch = \(batch.batch)
        """))
    let failure = JobFailure(
      .takeovers,
      "batch \(batch.batch) changed hands three times without being settled: look for what ends its workers, then resume "
        + "the job")
    var record = record
    try fail(&record, failure, now, connection)
    return .ended(try job(record, connection))
  }

  /// Leaves what lies behind the key to a batch of its own, which nobody has yet.
  private func cut(
    _ batch: BatchRecord, after middle: RowKey, _ record: inout JobRecord, _ now: Int64,
    _ connection: Driver.Connection
  ) throws(StoreError) {
    try connection.run(
      sql(
        """
        INSERT INTO zonai_batches (job, batch, from_key, to_key, is_first, due_at)
        VALUES (\(record.id.rawValue), \(record.nextBatch), \(middle.stored), \(batch.to.stored), 0, \(now))
        """))
    record.nextBatch += 1
    try connection.announceWork()
  }

  /// Everybody left the table, or the predicate, meanwhile: nobody is owed an answer any more.
  private func drop(
    _ batch: BatchRecord, _ record: JobRecord, _ connection: Driver.Connection
  ) throws(StoreError) {
    try connection.run(
      sql("DELETE FROM zonai_batches WHERE job = \(record.id.rawValue) AND batch = \(batch.batch)"))
    guard batch.isFirst, record.isAlone else { return }
    try connection.run(sql("UPDATE zonai_jobs SET first_batch = 2 WHERE id = \(record.id.rawValue)"))
  }

  // MARK: Ends

  func stop(
    _ id: JobID, _ failure: JobFailure, _ connection: Driver.Connection
  ) throws(StoreError) -> ClaimResult {
    guard var record = try anyRecord(id, connection, lock: dialect.lockClause), record.state.isOpen else {
      return .contended
    }
    try fail(&record, failure, try now(connection), connection)
    return .ended(try shown(record, connection))
  }

  private func finish(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> ClaimResult? {
    guard let record = try record(id, connection, lock: dialect.lockClause) else { return .contended }
    return try complete(record, try now(connection), connection).map(ClaimResult.ended)
  }

  // MARK: Common steps

  /// Rises with every claim, over all jobs: a clock's milliseconds would tie.
  func nextTurn(_ connection: Driver.Connection) throws(StoreError) -> Int64 {
    let statement = sql(
      "SELECT COALESCE(MAX(turn), 0) + 1 FROM zonai_jobs WHERE state IN ('pending', 'running')")
    return try connection.first(statement) { row throws(StoreError) in row.integer(0) } ?? 1
  }

  func remember(_ worker: WorkerID, _ now: Int64, _ connection: Driver.Connection) throws(StoreError) {
    var upsert = SQLBuilder(dialect)
    dialect.appendUpsert(
      into: "zonai_workers", [("worker", .text(worker.rawValue)), ("seen_at", .integer(now))], key: ["worker"],
      whenThere: [("seen_at", .replace)], to: &upsert)
    try connection.run(upsert.statement())
  }
}

extension JobRecord {
  /// Whether the first batch is out and unanswered, so that nothing else may run.
  var isAlone: Bool { firstBatch == .open }
}
