import ZonaiCore

/// A job's row, without its definition.
struct JobRecord: Sendable {
  var id: JobID
  var state: JobState
  var transports: Set<TransportName>
  var suspects: SuspectMode
  var keptGroups: Set<Group>
  /// The last key that belongs to some batch; nil before the first page.
  var frontier: RowKey?
  /// The audience's last key at the first claim; nil before it, and for an empty table.
  var lastKey: RowKey?
  var isStarted: Bool
  var isAtEnd: Bool
  var firstBatch: FirstBatch
  var nextBatch: Int64
  var counts: JobCounts
  var error: JobFailure?
  var createdAt: Int64
  var dueAt: Int64
  var startedAt: Int64?
  var finishedAt: Int64?
  var resumedAt: Int64

  /// The job's first batch is alone until its answers are committed.
  enum FirstBatch: Int64 {
    case none, open, answered
  }

  static let columns: StaticString = """
    id, state, transports, suspects, kept_groups, frontier, last_key, is_started, at_end, first_batch, next_batch, \
    delivered, permanently_rejected, transiently_failed, expired, pruned, spared, kept, repeated_by_takeover, \
    repeated_after_lost_answer, hooks_failed, error_code, error_detail, created_at, due_at, started_at, finished_at, \
    resumed_at
    """

  init(_ row: some SQLRow) throws(StoreError) {
    guard let state = JobState(rawValue: row.text(1)), let suspects = SuspectMode(rawValue: row.text(3)),
      let firstBatch = FirstBatch(rawValue: row.integer(9))
    else { throw .unreadable(Job.self, "nobody knows its state \(row.text(1))") }
    id = JobID(row.text(0))
    self.state = state
    transports = Self.transports(row.text(2))
    self.suspects = suspects
    keptGroups = Set(try [Group](stored: row.text(4)))
    frontier = row.isNull(5) ? nil : try RowKey(stored: row.text(5))
    lastKey = row.isNull(6) ? nil : try RowKey(stored: row.text(6))
    isStarted = row.integer(7) != 0
    isAtEnd = row.integer(8) != 0
    self.firstBatch = firstBatch
    nextBatch = row.integer(10)
    counts = JobCounts()
    counts.delivered = Int(row.integer(11))
    counts.permanentlyRejected = Int(row.integer(12))
    counts.transientlyFailed = Int(row.integer(13))
    counts.expired = Int(row.integer(14))
    counts.pruned = Int(row.integer(15))
    counts.spared = Int(row.integer(16))
    counts.kept = Int(row.integer(17))
    counts.repeatedByTakeover = Int(row.integer(18))
    counts.repeatedAfterLostAnswer = Int(row.integer(19))
    counts.hooksFailed = Int(row.integer(20))
    if let code = row.optionalText(21) {
      error = JobFailure(JobFailure.Code(rawValue: code), row.optionalText(22) ?? "")
    }
    createdAt = row.integer(23)
    dueAt = row.integer(24)
    startedAt = row.optionalInteger(25)
    finishedAt = row.optionalInteger(26)
    resumedAt = row.integer(27)
  }

  static func transports(_ text: String) -> Set<TransportName> {
    Set(text.split(separator: " ").map { TransportName(rawValue: String($0)) })
  }

  static func text(_ transports: Set<TransportName>) -> String {
    transports.map(\.rawValue).sorted().joined(separator: " ")
  }

  func job(_ definition: JobDefinition, open: OpenBatches, tally: [TallyLine] = []) -> Job {
    Job(
      id: id, definition: definition, state: state, counts: counts, tally: tally, error: error, suspects: suspects,
      owed: open.owed, nextDueAt: open.nextDueAt, createdAt: createdAt, dueAt: dueAt, startedAt: startedAt,
      finishedAt: finishedAt)
  }
}

/// A job's batches that are not settled yet.
struct OpenBatches: Sendable {
  var count = 0
  var owed = 0
  var nextDueAt: Int64?
}

extension SQLStore {
  /// The job's row; `lock` keeps others from changing it until the transaction ends.
  func record(
    _ id: JobID, _ connection: Driver.Connection, lock: StaticString = ""
  ) throws(StoreError) -> JobRecord? {
    let statement = sql(
      "SELECT \(words: JobRecord.columns) FROM zonai_jobs WHERE id = \(id.rawValue)\(words: lock)")
    return try connection.first(statement) { row throws(StoreError) in try JobRecord(row) }
  }

  func openBatches(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> OpenBatches {
    let statement = sql(
      """
      SELECT COUNT(*), COALESCE(SUM(owed_count), 0), MIN(owed_due_at) FROM zonai_batches WHERE job = \(id.rawValue)
      """)
    return try connection.first(statement) { row throws(StoreError) in
      OpenBatches(count: Int(row.integer(0)), owed: Int(row.integer(1)), nextDueAt: row.optionalInteger(2))
    } ?? OpenBatches()
  }

  /// The job as callers see it, without its tally.
  func job(_ record: JobRecord, _ connection: Driver.Connection) throws(StoreError) -> Job {
    let definition = try definition(record.id, connection)
    return record.job(definition, open: try openBatches(record.id, connection))
  }

  func missing(_ id: JobID) -> StoreError {
    StoreError(.notFound, "there is no job \(id): see \"zonai jobs list\"")
  }
}
