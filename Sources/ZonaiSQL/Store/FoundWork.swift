import ZonaiCore

/// What a look into the database found to do; claiming it is a second step.
enum FoundWork: Sendable {
  case page(FoundPage)
  case batch(FoundBatch)
  /// The database does not take the job's statements, since its table is not what it was, or the job cannot be read.
  case cannotRun(JobID, StoreError)
  /// The time ran out over this job's rows.
  case tooSlow(JobID)
  /// The job's pages are at the end and nothing is open.
  case done(JobID)
  case nothing(Idle)
}

/// A job's next page, which becomes a batch if the job is still where it was.
struct FoundPage: Sendable {
  var record: JobRecord
  var recipients: Recipients
  /// The key at which the batch ends; nil for a page without rows.
  var to: RowKey?
  var lastKey: RowKey?
  /// Whether there is no page behind it.
  var isLast: Bool
}

/// A batch that nobody has: owed and due, or left by a worker that went.
struct FoundBatch: Sendable {
  var job: JobID
  var batch: BatchRecord
  var recipients: Recipients
  var owed: [Int: OwedRecipient]
  var resting: [OwedRecipient]
  /// Set when the range holds more rows than a batch may: the key at which it is cut.
  var cutAfter: RowKey?

  var isEmpty: Bool { recipients.isEmpty && resting.isEmpty && batch.rejections.isEmpty }
}

extension SQLStore {
  /// Looks through the open jobs, the least recently claimed from first.
  func find(_ request: ClaimRequest, _ connection: Driver.Connection) throws(StoreError) -> FoundWork {
    try checkVersion(connection)
    let now = try now(connection)
    var idle = Idle()
    for record in try openJobs(request.only, connection) {
      if let fault = record.fault { return .cannotRun(record.id, fault) }
      guard record.transports.isSubset(of: request.transports) else {
        idle.unservable.append(record.id)
        continue
      }
      if record.dueAt > now {
        idle.note(record.dueAt - now, isLease: false)
        continue
      }
      do throws(StoreError) {
        if let found = try find(in: record, request, now, connection) {
          slow.forget(record.id)
          return found
        }
      } catch {
        if error.code == .tooSlow { return .tooSlow(record.id) }
        guard error.isAboutTheTable || error.isUnreadable else { throw error }
        return .cannotRun(record.id, error)
      }
      try note(record.id, in: &idle, request.worker, now, connection)
    }
    return .nothing(idle)
  }

  private func openJobs(_ only: JobID?, _ connection: Driver.Connection) throws(StoreError) -> [JobRecord] {
    var builder = SQLBuilder(dialect)
    builder.write("SELECT \(words: JobRecord.columns) FROM zonai_jobs WHERE state IN ('pending', 'running')")
    if let only { builder.write(" AND id = \(only.rawValue)") }
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
      return JobFailure(.store, found.sentence)
    }
    return error.failure
  }

  /// nil when there is nothing to do for this job just now.
  private func find(
    in record: JobRecord, _ request: ClaimRequest, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) -> FoundWork? {
    if let batch = try dueBatch(of: record, now, connection) {
      return .batch(try look(batch, of: record, request, now, connection))
    }
    if record.isAlone { return nil }
    guard record.isAtEnd else { return .page(try nextPage(of: record, request, connection)) }
    return try openBatches(record.id, connection).count == 0 ? .done(record.id) : nil
  }

  private func dueBatch(
    of record: JobRecord, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) -> BatchRecord? {
    let id = record.id.rawValue
    // Until the first batch is answered there is no other, except the rest of it after it was cut.
    let statement =
      record.isAlone
      ? sql(
        """
        SELECT \(words: BatchRecord.columns) FROM zonai_batches
        WHERE job = \(id) AND due_at <= \(now) AND is_first = 1 ORDER BY due_at, batch LIMIT 1
        """)
      : sql(
        """
        SELECT \(words: BatchRecord.columns) FROM zonai_batches
        WHERE job = \(id) AND due_at <= \(now) ORDER BY due_at, batch LIMIT 1
        """)
    return try connection.first(statement) { row throws(StoreError) in try BatchRecord(row) }
  }

  /// Whom a batch that was begun still has to send to.
  private func look(
    _ batch: BatchRecord, of record: JobRecord, _ request: ClaimRequest, _ now: Int64,
    _ connection: Driver.Connection
  ) throws(StoreError) -> FoundBatch {
    let plan = try plan(record.id, connection)
    var found = FoundBatch(
      job: record.id, batch: batch, recipients: Recipients(), owed: [:], resting: [], cutAfter: nil)
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

  private func nextPage(
    of record: JobRecord, _ request: ClaimRequest, _ connection: Driver.Connection
  ) throws(StoreError) -> FoundPage {
    // What could not be known when the job was enqueued is checked before its first send.
    let plan = try record.isStarted ? plan(record.id, connection) : checkedPlan(record.id, connection)
    var found = FoundPage(
      record: record, recipients: Recipients(), to: nil, lastKey: record.lastKey, isLast: true)
    if !record.isStarted { found.lastKey = try lastKey(plan, connection) }
    guard let lastKey = found.lastKey else { return found }
    let size = record.firstBatch == .none ? min(request.firstBatchSize, request.batchSize) : request.batchSize
    found.recipients = try page(plan, after: record.frontier, upTo: lastKey, limit: max(1, size), connection)
    guard !found.recipients.isEmpty else { return found }
    let reached = found.recipients.keys[found.recipients.count - 1]
    found.to = reached
    found.isLast = found.recipients.count < max(1, size) || reached.identity == lastKey.identity
    return found
  }

  /// What a job without anything to claim is waiting for.
  private func note(
    _ id: JobID, in idle: inout Idle, _ worker: WorkerID, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) {
    let counted = sql(
      """
      SELECT COALESCE(SUM(CASE WHEN due_at > \(now) AND worker IS NOT NULL AND worker <> \(worker.rawValue)
      THEN 1 ELSE 0 END), 0), COALESCE(SUM(resting_count), 0) FROM zonai_batches WHERE job = \(id.rawValue)
      """)
    try connection.run(counted) { row throws(StoreError) in
      idle.leasesElsewhere += Int(row.integer(0))
      idle.owedLater += Int(row.integer(1))
    }
    let earliest = sql(
      """
      SELECT due_at, worker FROM zonai_batches WHERE job = \(id.rawValue) AND due_at > \(now)
      ORDER BY due_at, batch LIMIT 1
      """)
    try connection.run(earliest) { row throws(StoreError) in
      idle.note(row.integer(0) - now, isLease: !row.isNull(1))
    }
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
  fileprivate var failure: JobFailure {
    JobFailure(.store, sentence + (databaseWords.map { " (\($0))" } ?? ""))
  }

  /// Whether the application's table is at fault, so that trying again would give the same.
  var isAboutTheTable: Bool {
    switch code {
    case .noSuchTable, .noSuchColumn, .noUsableKey, .tokenNotNullable, .referencedRows, .invalidPredicate,
      .invalidRequest, .denied, .refused, .failed:
      true
    default: false
    }
  }
}
