import ZonaiCore
import ZonaiThreads

/// What a look into the database found to do; claiming it is a second step.
enum FoundWork: Sendable {
  /// Jobs of which there is only a request yet.
  case requests([FoundRequest])
  case page(FoundPage)
  case batch(FoundBatch)
  /// The database does not take the job's statements, since its table is not what it was, or the job cannot be read.
  case cannotRun(JobID, StoreError)
  /// The time ran out over this job's rows.
  case tooSlow(JobID)
  /// The job's pages are at the end and nothing is open.
  case done(JobID)
  /// A transport of the worker is not bound yet.
  case unbound
  case nothing(Idle)
}

/// How a claim stands among all that is open.
struct Standing: Sendable {
  /// Above every job's turn: whoever is claimed from goes behind the others.
  var turn: Int64
  /// Whether there is no other job to turn to when this one's row is locked.
  var isOnly: Bool
}

/// A job's next page, which becomes a batch if the job is still where it was.
struct FoundPage: Sendable {
  var record: JobRecord
  var standing: Standing
  /// The job's open batches, as they were when the page was read.
  var open: OpenBatches
  /// Whether the page is still to be read, behind the lock.
  var isUnread = false
  var recipients: Recipients
  /// The key at which the batch ends; nil for a page without rows.
  var to: RowKey?
  var lastKey: RowKey?
  /// Whether there is no page behind it.
  var isLast: Bool
  /// What a look at the table found before the job's first claim.
  var notes: [JobNote] = []
}

/// A batch that nobody has: owed and due, or left by a worker that went.
struct FoundBatch: Sendable {
  var job: JobID
  var standing: Standing
  var batch: BatchRecord
  var recipients: Recipients
  var owed: [Int: OwedRecipient]
  var resting: [OwedRecipient]
  /// Set when the range holds more rows than a batch may: the key at which it is cut.
  var cutAfter: RowKey?

  var isEmpty: Bool { recipients.isEmpty && resting.isEmpty && batch.rejections.isEmpty }
}

extension SQLStore {
  /// Looks through the open jobs of the worker's app, the least recently claimed from first, except
  /// those that are passed over.
  func find(
    _ request: ClaimRequest, passing: Set<JobID>, _ connection: Driver.Connection
  ) throws(StoreError) -> FoundWork {
    let (now, bindings) = try checkedLook(request, connection)
    guard bindings.unbound(request.lanes).isEmpty else { return .unbound }
    let quarantine = try attendance.left(
      connectedAt: driver.connectedAt, lease: request.leaseMilliseconds, now: now,
      uptime: { () throws(StoreError) in try driver.uptime(on: connection) })
    var look = Look(request: request, now: now, quarantine: quarantine)
    let records = try openJobs(request, connection)
    let requested = records.filter { $0.isRequested && $0.dueAt <= now }
    if !requested.isEmpty { return try requests(of: requested, connection) }
    let servable = records.count { $0.transports.isSubset(of: request.transports) && $0.dueAt <= now }
    look.standing = Standing(turn: (records.map(\.turn).max() ?? 0) + 1, isOnly: servable <= 1)
    for record in records where !passing.contains(record.id) {
      if let fault = record.fault { return .cannotRun(record.id, fault) }
      guard record.transports.isSubset(of: request.transports) else {
        look.idle.unservable.append(record.id)
        continue
      }
      if record.dueAt > now {
        look.idle.note(record.dueAt - now, isLease: false)
        continue
      }
      do throws(StoreError) {
        if let found = try find(in: record, look, connection) {
          slow.forget(record.id)
          return found
        }
      } catch {
        if error.code == .tooSlow { return .tooSlow(record.id) }
        guard error.isAboutTheTable || error.isUnreadable else { throw error }
        return .cannotRun(record.id, error)
      }
      try note(record.id, in: &look, connection)
    }
    return .nothing(look.idle)
  }

  private func openJobs(
    _ request: ClaimRequest, _ connection: Driver.Connection
  ) throws(StoreError) -> [JobRecord] {
    var builder = SQLBuilder(dialect)
    // A request that nothing has read yet may be one of this app's.
    builder.write(
      """
      SELECT \(words: JobRecord.columns) FROM zonai_jobs WHERE state IN ('pending', 'running')
      AND app IN (\(request.app.rawValue), \(StoredApp.unread))
      """)
    if let only = request.only { builder.write(" AND id = \(only.rawValue)") }
    builder.append(" ORDER BY turn, id")
    return try connection.all(builder.statement()) { row throws(StoreError) in JobRecord(row) }
  }

  /// Why the job cannot run: what cannot be read of it, or of its table, in the words of the enqueue checks where they find it too.
  func failure(of id: JobID, _ error: StoreError) async throws(StoreError) -> JobFailure {
    if error.isUnreadable { return error.failure }
    do throws(StoreError) {
      // In a transaction of its own: some databases end one with the first statement that fails.
      try await read { connection throws(StoreError) in _ = try checkedPlan(id, connection) }
    } catch let found {
      if found.isUnreadable { return found.failure }
      guard found.isAboutTheTable else { throw found }
      return found.failure
    }
    return error.failure
  }

  /// nil when there is nothing to do for this job just now.
  private func find(
    in record: JobRecord, _ look: Look, _ connection: Driver.Connection
  ) throws(StoreError) -> FoundWork? {
    if let batch = try dueBatch(of: record, look, connection) {
      return .batch(try recipients(of: batch, record, look, connection))
    }
    if record.isAlone { return nil }
    let open = try openBatches(record.id, connection)
    guard record.isAtEnd else {
      let page = FoundPage(record: record, standing: look.standing, open: open)
      // In a crowd a page that was read before the lock is mostly read in vain.
      if record.isStarted, look.standing.isOnly, crowds.takeTurn(record.id) { return .page(page.unread) }
      return .page(try read(page, look.request, connection))
    }
    return open.count == 0 ? .done(record.id) : nil
  }

  private func dueBatch(
    of record: JobRecord, _ look: Look, _ connection: Driver.Connection
  ) throws(StoreError) -> BatchRecord? {
    var builder = SQLBuilder(dialect)
    builder.write(
      """
      SELECT \(words: BatchRecord.columns) FROM zonai_batches
      WHERE job = \(record.id.rawValue) AND due_at <= \(look.now)
      """)
    // Until the first batch is answered there is no other, except the rest of it after it was cut.
    if record.isAlone { builder.append(" AND is_first = 1") }
    // Their owners may be alive, and were kept from renewing.
    if look.quarantine > 0 { builder.append(" AND worker IS NULL") }
    builder.append(" ORDER BY due_at, batch LIMIT 1")
    return try connection.first(builder.statement()) { row throws(StoreError) in try BatchRecord(row) }
  }

  /// Whom a batch that was begun still has to send to.
  private func recipients(
    of batch: BatchRecord, _ record: JobRecord, _ look: Look, _ connection: Driver.Connection
  ) throws(StoreError) -> FoundBatch {
    let (request, now) = (look.request, look.now)
    let plan = try plan(record.id, connection)
    var found = FoundBatch(
      job: record.id, standing: look.standing, batch: batch, recipients: Recipients(), owed: [:], resting: [],
      cutAfter: nil)
    guard let owed = batch.owed else {
      let size = max(1, request.batchSize)
      // One more than fits: it tells whether the range has grown.
      let rows = try page(plan, after: batch.from, upTo: batch.to, limit: size + 1, connection)
      guard rows.count > size else {
        found.recipients = rows
        return found
      }
      let middle = rows.keys[size - 1]
      found.cutAfter = middle
      found.recipients = try page(plan, after: batch.from, upTo: middle, limit: size, connection)
      return found
    }
    var due: [OwedRecipient] = []
    for var recipient in owed {
      // An outage that failed the job has its day again: else the resumed job would fail at its first answer.
      if let since = recipient.outageSince, since <= record.resumedAt {
        recipient.outageSince = nil
        recipient.outageRounds = 0
      }
      if recipient.notBefore <= now { due.append(recipient) } else { found.resting.append(recipient) }
    }
    let rows = try rows(plan, keys: due.map(\.key), connection)
    found.recipients = rows.recipients
    for (index, number) in rows.numbers.enumerated() { found.owed[index] = due[number] }
    return found
  }

  /// The job's next page, from where its record says that the pages have come to.
  func read(
    _ page: FoundPage, _ request: ClaimRequest, _ connection: Driver.Connection
  ) throws(StoreError) -> FoundPage {
    let record = page.record
    let begun = MonotonicClock.milliseconds()
    // What could not be known when the job was enqueued is checked before its first send.
    let plan = try record.isStarted ? plan(record.id, connection) : checkedPlan(record.id, connection)
    var found = page
    found.isUnread = false
    found.lastKey = try record.isStarted ? record.lastKey : lastKey(plan, connection)
    if !record.isStarted { found.notes = try knownNotes(on: plan, connection) }
    guard let lastKey = found.lastKey else { return found }
    let size = record.firstBatch == .none ? min(request.firstBatchSize, request.batchSize) : request.batchSize
    found.recipients = try self.page(plan, after: record.frontier, upTo: lastKey, limit: max(1, size), connection)
    crowds.noteRead(record.id, milliseconds: MonotonicClock.milliseconds() - begun)
    guard !found.recipients.isEmpty else { return found }
    let reached = found.recipients.keys[found.recipients.count - 1]
    found.to = reached
    found.isLast = found.recipients.count < max(1, size) || reached.identity == lastKey.identity
    return found
  }

  /// What a job without anything to claim is waiting for.
  private func note(
    _ id: JobID, in look: inout Look, _ connection: Driver.Connection
  ) throws(StoreError) {
    let (now, worker) = (look.now, look.request.worker.rawValue)
    // In quarantine a lease that ended holds as one that did not.
    let held = look.quarantine > 0 ? Int64.min : now
    let counted = sql(
      """
      SELECT COALESCE(SUM(CASE WHEN due_at > \(held) AND worker IS NOT NULL AND worker <> \(worker)
      THEN 1 ELSE 0 END), 0), COALESCE(SUM(resting_count), 0) FROM zonai_batches WHERE job = \(id.rawValue)
      """)
    try connection.run(counted) { row throws(StoreError) in
      look.idle.leasesElsewhere += Int(row.integer(0))
      look.idle.owedLater += Int(row.integer(1))
    }
    let earliest = sql(
      """
      SELECT due_at, worker FROM zonai_batches WHERE job = \(id.rawValue) AND due_at > \(now)
      ORDER BY due_at, batch LIMIT 1
      """)
    try connection.run(earliest) { row throws(StoreError) in
      look.idle.note(row.integer(0) - now, isLease: !row.isNull(1))
    }
    guard look.quarantine > 0 else { return }
    let lapsed = sql(
      """
      SELECT 1 FROM zonai_batches WHERE job = \(id.rawValue) AND due_at <= \(now) AND worker IS NOT NULL LIMIT 1
      """)
    if try connection.first(lapsed, { _ throws(StoreError) in true }) != nil {
      look.idle.note(look.quarantine, isLease: true)
    }
  }
}

/// One look for work, and what it met.
private struct Look {
  let request: ClaimRequest
  let now: Int64
  /// For how long no other worker's batch is taken over.
  let quarantine: Int64
  var standing = Standing(turn: 1, isOnly: true)
  var idle = Idle()
}

extension FoundPage {
  init(record: JobRecord, standing: Standing, open: OpenBatches) {
    self.init(
      record: record, standing: standing, open: open, recipients: Recipients(), to: nil, lastKey: record.lastKey,
      isLast: true)
  }

  fileprivate var unread: FoundPage {
    var page = self
    page.isUnread = true
    return page
  }
}

extension Idle {
  fileprivate mutating func note(_ milliseconds: Int64, isLease: Bool) {
    guard milliseconds < nextDueInMilliseconds ?? .max else { return }
    nextDueInMilliseconds = milliseconds
    waitsForLease = isLease
  }
}

extension StoreError {
  var failure: JobFailure {
    JobFailure(.store, sentence + (databaseWords.map { " (\($0))" } ?? ""))
  }

  /// Whether the application's table is at fault, so that trying again would give the same.
  var isAboutTheTable: Bool {
    switch code {
    case .noSuchTable, .noSuchColumn, .noUsableKey, .tokenNotNullable, .noSingleToken, .referencedRows,
      .invalidPredicate,
      .invalidRequest, .denied, .refused, .failed:
      true
    default: false
    }
  }
}
