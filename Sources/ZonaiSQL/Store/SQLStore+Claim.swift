import ZonaiCore
import ZonaiThreads

extension SQLStore {
  /// Reads what there is to claim, then claims it in one short transaction, if nobody else did meanwhile.
  ///
  /// A job whose row somebody holds is passed over while there are others. Where all that is left is held, that is not "no
  /// work": then the row is waited for.
  public func claim(_ request: ClaimRequest) async throws(StoreError) -> ClaimResult {
    looks.forget(request.worker)
    var held: Set<JobID> = []
    var waits = false
    // Each round beyond the first follows a job that was held, or a step that ended a job's pages or an empty batch.
    for _ in 0..<32 {
      let changes = driver.changes
      let passed = held
      let found = try await read { connection throws(StoreError) in
        try find(request, passing: passed, connection)
      }
      let attempt: ClaimAttempt
      switch found {
      case .nothing(let idle):
        if held.isEmpty {
          looks.note(request.worker, seen: changes)
          return .nothing(idle)
        }
        held = []
        waits = true
        continue
      case .unbound:
        attempt = try await write { connection throws(StoreError) in
          try checkVersion(connection)
          _ = try bind(request.lanes, to: request.app, connection)
          return .again
        }
      case .requests(let requests):
        attempt = try await write { connection throws(StoreError) in try adopt(requests, connection) }
      case .page(let page):
        attempt = try await lease(page.record.id, waits: waits || page.standing.isOnly) {
          lock, failure, connection throws(StoreError) in
          try claim(page, request, lock: lock, failure, connection)
        }
      case .batch(let batch):
        attempt = try await lease(batch.job, waits: waits || batch.standing.isOnly) {
          lock, _, connection throws(StoreError) in try reclaim(batch, request, lock: lock, connection)
        }
      case .cannotRun(let id, let error):
        let failure = try await failure(of: id, error)
        attempt = .done(try await write { connection throws(StoreError) in try stop(id, failure, connection) })
      case .tooSlow(let id): return try await postpone(id)
      case .done(let id):
        attempt = try await write { connection throws(StoreError) in try finish(id, connection) }
      }
      switch attempt {
      case .done(let result): return result
      case .again: continue
      case .held(let id): held.insert(id)
      }
    }
    return .contended
  }

  /// Runs the transaction that begins a lease, and says how long ago that was.
  ///
  /// The body gets the words that lock a row, and something to raise when a read of the application's table failed in it.
  private func lease(
    _ id: JobID, waits: Bool,
    _ body: @escaping @Sendable (StaticString, Seen, Driver.Connection) throws(StoreError) -> ClaimAttempt
  ) async throws(StoreError) -> ClaimAttempt {
    let lock = waits ? dialect.lockClause : dialect.claimClause
    let isShort = waits && dialect.claimClause.utf8CodeUnitCount > 0
    let wait = isShort ? min(claimWait, limits.writing) : limits.writing
    let failure = Seen()
    let attempt: ClaimAttempt
    let begun: Int64
    do throws(StoreError) {
      (attempt, begun) = try await transaction(.write, deadline: MonotonicClock.milliseconds() + wait) {
        connection throws(StoreError) -> (ClaimAttempt, Int64) in
        // Before the store's clock is read.
        let begun = MonotonicClock.milliseconds()
        return (try body(lock, failure, connection), begun)
      }
    } catch {
      // The next look reads the page without the lock, and finds out what is wrong with the table.
      if failure.value {
        crowds.forget(id)
        return .again
      }
      guard isShort, error.code == .busy || error.code == .tooSlow else { throw error }
      crowds.forget(id)
      return .done(.contended)
    }
    guard case .done(.batch(var batch)) = attempt else { return attempt }
    batch.ageMilliseconds = MonotonicClock.milliseconds() - begun
    return .done(.batch(batch))
  }

  /// How long a job's row is waited for, in milliseconds: claims and settlings hold it for a few.
  private var claimWait: Int64 { 2000 }

  // MARK: Claiming a page

  private func claim(
    _ found: FoundPage, _ request: ClaimRequest, lock: StaticString, _ failure: Seen, _ connection: Driver.Connection
  ) throws(StoreError) -> ClaimAttempt {
    let id = found.record.id
    guard var record = try record(id, connection, lock: lock) else { return .held(id) }
    let (now, bindings) = try checkedLook(request, connection)
    guard record.state.isOpen else { return .again }
    if let failure = identify(&record, by: bindings) { return .done(try stop(id, failure, connection)) }
    var page = found
    let isWhereItWas = record.nextBatch == found.record.nextBatch && record.firstBatch == found.record.firstBatch
    if found.isUnread || !isWhereItWas {
      if !found.isUnread { crowds.noteLoss(id) }
      // Where there are others, one that was claimed from meanwhile is not the next one any more.
      guard found.standing.isOnly, record.isStarted, !record.isAlone, !record.isAtEnd, crowds.isQuick(id) else {
        return .again
      }
      page.record = record
      do throws(StoreError) { page = try read(page, request, connection) } catch {
        failure.set()
        throw error
      }
    }
    let isEmpty = page.recipients.isEmpty
    let batch = record.nextBatch
    if let started = record.state.after(.claimed) {
      record.state = started
      record.startedAt = record.startedAt ?? now
    }
    if !record.isStarted { record.notes = page.notes }
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
        first_batch = \(record.firstBatch.rawValue), turn = \(max(record.turn, page.standing.turn)),
        notes = \(record.notes.isEmpty ? nil : record.notes.stored), identities = \(record.storedIdentities)
        WHERE id = \(id.rawValue)
        """))
    guard !isEmpty, let to = page.to else { return try end(record, now, connection) }
    try connection.run(
      sql(
        """
        INSERT INTO zonai_batches (job, batch, from_key, to_key, is_first, fence, unsettled, worker, due_at)
        VALUES (\(id.rawValue), \(batch), \(page.record.frontier?.stored), \(to.stored),
        \(record.firstBatch == .open), 1, \(page.recipients.count), \(request.worker.rawValue),
        \(now + request.leaseMilliseconds))
        """))
    try rememberClaim(request, now, connection)
    return .done(
      .batch(
        ClaimedBatch(
          lease: BatchLease(job: id, batch: batch, fence: 1),
          job: record.job(try definition(id, connection), open: page.open),
          recipients: page.recipients, isFirst: record.firstBatch == .open,
          isSole: record.firstBatch == .open && page.isLast && page.recipients.count == 1,
          keptGroups: record.keptGroups, now: now, leaseMilliseconds: request.leaseMilliseconds)))
  }

  /// What a claim comes to that found a job's pages at their end.
  private func end(
    _ record: JobRecord, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) -> ClaimAttempt {
    try complete(record, now, connection).map { .done(.ended($0)) } ?? .again
  }

  // MARK: Claiming a batch again

  private func reclaim(
    _ found: FoundBatch, _ request: ClaimRequest, lock: StaticString, _ connection: Driver.Connection
  ) throws(StoreError) -> ClaimAttempt {
    guard var batch = try batch(found.job, found.batch.batch, connection, lock: lock) else { return .held(found.job) }
    guard batch.fence == found.batch.fence, batch.worker == found.batch.worker,
      batch.isSettling == found.batch.isSettling
    else { return .again }
    guard var record = try record(found.job, connection, lock: lock) else { return .held(found.job) }
    let (now, bindings) = try checkedLook(request, connection)
    guard record.state.isOpen, batch.dueAt <= now else { return .again }
    if let failure = identify(&record, by: bindings) { return .done(try stop(found.job, failure, connection)) }
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
      if batch.takeovers >= 3 { return .done(try giveUp(batch, record, now, connection)) }
    }
    if found.isEmpty {
      try drop(batch, record, connection)
      return try end(record, now, connection)
    }
    if let middle = found.cutAfter {
      try cut(batch, after: middle, &record, now, connection)
      batch.to = middle
    }
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
        UPDATE zonai_jobs SET turn = \(max(record.turn, found.standing.turn)), next_batch = \(record.nextBatch),
        identities = \(record.storedIdentities) WHERE id = \(record.id.rawValue)
        """))
    try rememberClaim(request, now, connection)
    let total = found.recipients.count + found.resting.count + batch.rejections.count
    return .done(
      .batch(
        ClaimedBatch(
          lease: BatchLease(job: record.id, batch: batch.batch, fence: batch.fence + 1),
          job: try job(record, connection), recipients: found.recipients, owed: found.owed, resting: found.resting,
          rejections: batch.rejections, isFirst: batch.isFirst && record.isAlone,
          isSole: record.isAtEnd && record.nextBatch == 2 && record.counts.settled == 0 && total == 1,
          isTakeover: isTakeover, keptGroups: record.keptGroups, now: now,
          leaseMilliseconds: request.leaseMilliseconds)))
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
    guard var record = try anyRecord(id, connection, lock: dialect.lockClause) else { return .contended }
    let now = try checkedNow(connection)
    guard record.state.isOpen else { return .contended }
    try fail(&record, failure, now, connection)
    return .ended(try shown(record, connection))
  }

  private func finish(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> ClaimAttempt {
    guard let record = try record(id, connection, lock: dialect.lockClause) else { return .again }
    return try end(record, try checkedNow(connection), connection)
  }

  // MARK: Common steps

  /// Fills in what the job's transports are bound to. Gives the reason why the job cannot go on
  /// when it belongs to another identity, or when its row does not say which.
  private func identify(_ record: inout JobRecord, by bindings: AppBindings) -> JobFailure? {
    let bound = bindings.identities(needing: record.transports).stored
    if record.storedIdentities == bound { return nil }
    do throws(StoreError) {
      let known = try record.identities()
      do throws(JobFailure) {
        record.storedIdentities = try bindings.identities(of: known, needing: record.transports).stored
        return nil
      } catch {
        return error
      }
    } catch {
      return error.failure
    }
  }

  /// Rises with every claim, over all jobs: a clock's milliseconds would tie.
  func nextTurn(_ connection: Driver.Connection) throws(StoreError) -> Int64 {
    let statement = sql(
      "SELECT COALESCE(MAX(turn), 0) + 1 FROM zonai_jobs WHERE state IN ('pending', 'running')")
    return try connection.first(statement) { row throws(StoreError) in row.integer(0) } ?? 1
  }
}

/// What came of one try to claim what was found.
enum ClaimAttempt: Sendable {
  case done(ClaimResult)
  /// It is not as it was: look again.
  case again
  /// Somebody holds its row just now.
  case held(JobID)
}

extension JobRecord {
  /// Whether the first batch is out and unanswered, so that nothing else may run.
  var isAlone: Bool { firstBatch == .open }
}
