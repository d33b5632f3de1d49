import ZonaiCore

/// A job's row, without its definition.
struct JobRecord: Sendable {
  var id: JobID
  var app: AppName
  /// As its row has them; nil before they are known.
  var storedIdentities: String?
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
  var notes: [JobNote]
  var createdAt: Int64
  var dueAt: Int64
  var startedAt: Int64?
  var finishedAt: Int64?
  var resumedAt: Int64
  /// Rises with every claim, over all jobs.
  var turn: Int64
  /// Whether SQL enqueued it and no worker has looked at it yet: there is only its request.
  var isRequested: Bool
  /// What of the row cannot be read; its place holds the least that it could mean.
  var fault: StoreError?

  /// The job's first batch is alone until its answers are committed.
  enum FirstBatch: Int64 {
    case none, open, answered
  }

  /// The state of a job's row while all that belongs to it is being removed: from then on there is no such job.
  static let removed = "removed"

  static let columns: StaticString = """
    id, state, transports, suspects, kept_groups, frontier, last_key, is_started, at_end, first_batch, next_batch, \
    delivered, permanently_rejected, transiently_failed, expired, pruned, spared, kept, repeated_by_takeover, \
    repeated_after_lost_answer, hooks_failed, error_code, error_detail, created_at, due_at, started_at, finished_at, \
    resumed_at, turn, CASE WHEN definition IS NULL THEN 1 ELSE 0 END, app, identities, notes
    """

  /// Throws nothing: one row that cannot be read must not hide the others.
  init(_ row: some SQLRow) {
    var fault: StoreError?
    func read<Part>(_ fallback: Part, _ part: () throws(StoreError) -> Part) -> Part {
      do throws(StoreError) {
        return try part()
      } catch {
        fault = fault ?? error
        return fallback
      }
    }
    func word<Word: RawRepresentable>(_ raw: Word.RawValue, else fallback: Word) -> Word {
      read(fallback) { () throws(StoreError) in
        guard let word = Word(rawValue: raw) else { throw .unreadable(Word.self, "nobody knows \(raw)") }
        return word
      }
    }
    id = JobID(row.text(0))
    state = word(row.text(1), else: .failed)
    transports = Self.transports(row.text(2))
    suspects = word(row.text(3), else: .ask)
    keptGroups = read([]) { () throws(StoreError) in
      let groups = row.text(4)
      return groups == "[]" ? [] : Set(try [Group](stored: groups))
    }
    frontier = read(nil) { () throws(StoreError) in row.isNull(5) ? nil : try RowKey(stored: row.text(5)) }
    lastKey = read(nil) { () throws(StoreError) in row.isNull(6) ? nil : try RowKey(stored: row.text(6)) }
    isStarted = row.integer(7) != 0
    isAtEnd = row.integer(8) != 0
    firstBatch = word(row.integer(9), else: .open)
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
    turn = row.integer(28)
    isRequested = row.integer(29) != 0
    app = AppName(rawValue: row.text(30))
    storedIdentities = row.optionalText(31)
    notes = read([]) { () throws(StoreError) in row.isNull(32) ? [] : try [JobNote](stored: row.text(32)) }
    self.fault = fault
  }

  static func transports(_ text: String) -> Set<TransportName> {
    guard text.utf8.contains(UInt8(ascii: " ")) else { return text.isEmpty ? [] : [TransportName(rawValue: text)] }
    return Set(text.split(separator: " ").map { TransportName(rawValue: String($0)) })
  }

  static func text(_ transports: Set<TransportName>) -> String {
    transports.map(\.rawValue).sorted().joined(separator: " ")
  }

  /// What its transports were bound to; empty before they are known.
  func identities() throws(StoreError) -> [LaneIdentity] {
    guard let storedIdentities else { return [] }
    return try [LaneIdentity](stored: storedIdentities)
  }

  /// Identities that cannot be read are not shown; a claim and a resume refuse them.
  func job(_ definition: JobDefinition, open: OpenBatches, tally: [TallyLine] = []) -> Job {
    Job(
      id: id, app: app, definition: definition, identities: (try? identities()) ?? [], state: state, counts: counts,
      tally: tally, notes: notes, error: error, suspects: suspects, owed: open.owed, nextDueAt: open.nextDueAt,
      createdAt: createdAt, dueAt: dueAt, startedAt: startedAt, finishedAt: finishedAt)
  }
}

/// A job's batches that are not settled yet.
struct OpenBatches: Sendable {
  var count = 0
  var owed = 0
  var nextDueAt: Int64?
}

extension SQLStore {
  /// The job's row, which must be readable; `lock` keeps others from changing it until the transaction ends.
  func record(
    _ id: JobID, _ connection: Driver.Connection, lock: StaticString = ""
  ) throws(StoreError) -> JobRecord? {
    let record = try anyRecord(id, connection, lock: lock)
    if let fault = record?.fault { throw fault }
    return record
  }

  /// The job's row, as far as it can be read.
  func anyRecord(
    _ id: JobID, _ connection: Driver.Connection, lock: StaticString = ""
  ) throws(StoreError) -> JobRecord? {
    let statement = sql(
      """
      SELECT \(words: JobRecord.columns) FROM zonai_jobs
      WHERE id = \(id.rawValue) AND state <> \(JobRecord.removed)\(words: lock)
      """)
    return try connection.first(statement) { row throws(StoreError) in JobRecord(row) }
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

  /// The job to look at: of what cannot be read there is a stand-in, and the job's error says so.
  func shown(
    _ record: JobRecord, tally: [TallyLine] = [], _ connection: Driver.Connection
  ) throws(StoreError) -> Job {
    var fault = record.fault
    var definition = JobDefinition.unreadable
    do throws(StoreError) {
      definition = try self.definition(record.id, connection)
    } catch {
      guard error.isUnreadable else { throw error }
      fault = fault ?? error
    }
    var job = record.job(definition, open: try openBatches(record.id, connection), tally: tally)
    if let fault { job.error = job.error ?? JobFailure(record.isRequested ? .request : .store, fault.sentence) }
    return job
  }

  func missing(_ id: JobID) -> StoreError {
    StoreError(.notFound, "there is no job \(id): see \"zonai jobs list\"")
  }
}

extension JobDefinition {
  /// Stands where a job's definition cannot be read.
  fileprivate static let unreadable = JobDefinition(
    message: PushMessage(), audience: Audience("unreadable", token: "unreadable"), policy: .none,
    routes: Routes(apple: nil, android: nil, unknown: nil))
}
