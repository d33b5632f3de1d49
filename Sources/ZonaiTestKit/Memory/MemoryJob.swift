import ZonaiCore

/// One job as the in-memory store has it.
struct MemoryJob: Sendable {
  let id: JobID
  var app = AppName.standard
  var identities: [LaneIdentity] = []
  var definition: JobDefinition
  let idempotencyKey: String?
  let createdAt: Int64
  var state = JobState.pending
  var counts = JobCounts()
  /// Lines with a count of 0 as keys.
  var tally: [TallyLine: Int] = [:]
  var error: JobFailure?
  var notes: [JobNote] = []
  /// Stands for a row that cannot be read, which memory does not have.
  var isGarbled = false
  var suspects = SuspectMode.ask
  var keptGroups: Set<Group> = []
  var checks = CheckBudget()
  var startedAt: Int64?
  var finishedAt: Int64?

  /// The last key that was handed out; nil before the first page.
  var frontier: RowKey?
  /// The greatest key of the audience, fixed at the first claim.
  var lastKey: RowKey?
  var isAtEnd = false
  /// Whether the first batch's answers were committed, so that others may follow.
  var isFirstAnswered = false
  /// Whether the first page was one recipient and the last.
  var isSole = false
  /// Rises with every claim of any job; 0 before the first.
  var lastClaimed = 0
  /// Open batches only, by number.
  var batches: [Int64: MemoryBatch] = [:]
  var batchesMade: Int64 = 0

  var audience: Audience { definition.audience }

  /// The job as callers see it.
  func account(withTally: Bool) -> Job {
    let owed = batches.values.flatMap(\.owed)
    return Job(
      id: id, app: app, definition: definition, identities: identities, state: state, counts: counts,
      tally: withTally ? lines : [], notes: notes, error: error, suspects: suspects, owed: owed.count,
      nextDueAt: owed.map(\.notBefore).min(), createdAt: createdAt, dueAt: createdAt, startedAt: startedAt,
      finishedAt: finishedAt)
  }

  private var lines: [TallyLine] {
    tally.map { line, count in
      var line = line
      line.count = count
      return line
    }.sorted {
      ($0.group.platform.name, $0.outcome.rawValue, $0.reason.rawValue, $0.detail)
        < ($1.group.platform.name, $1.outcome.rawValue, $1.reason.rawValue, $1.detail)
    }
  }

  mutating func count(_ line: TallyLine) {
    var key = line
    key.count = 0
    if tally[key] == nil, tally.keys.count(where: { !$0.detail.isEmpty }) >= TallyLine.mostDetails { key.detail = "" }
    tally[key, default: 0] += line.count
    switch line.outcome {
    case .delivered: counts.delivered += line.count
    case .transientlyFailed: counts.transientlyFailed += line.count
    case .expired: counts.expired += line.count
    case .pruned: counts.pruned += line.count
    case .spared: counts.spared += line.count
    case .kept: counts.kept += line.count
    }
    if line.outcome.isRejection { counts.permanentlyRejected += line.count }
  }

  /// The first error stays, and only a job that runs can fail.
  mutating func fail(_ failure: JobFailure, at now: Int64) {
    guard let failed = state.after(.failed) else { return }
    state = failed
    error = failure
    finishedAt = now
  }

  mutating func completeIfDone(at now: Int64) {
    guard isAtEnd, batches.isEmpty, let finished = state.after(.finished) else { return }
    state = finished
    finishedAt = now
  }

  mutating func addBatch(after from: RowKey?, upTo to: RowKey) -> MemoryBatch {
    batchesMade += 1
    return MemoryBatch(number: batchesMade, from: from, to: to)
  }
}

/// One batch that is not settled.
struct MemoryBatch: Sendable {
  let number: Int64
  /// The range of keys: after `from`, up to and including `to`.
  let from: RowKey?
  var to: RowKey
  /// Rises with every claim.
  var fence: Int64 = 0
  /// nil when the lease was given back or never taken.
  var owner: WorkerID?
  var leaseUntil: Int64 = 0
  /// Since the last resume.
  var takeovers = 0
  /// Whether answers were committed: from then on `owed` says who is left, and no longer the range.
  var isAnswered = false
  /// What the present owner has committed of its answers, so that nothing counts twice.
  var isSettling = false
  var owed: [OwedRecipient] = []
  var rejections: [Rejection] = []
  /// How many recipients the present claim may have sent to, and has not settled.
  var unsettled = 0

  func isLeased(at now: Int64) -> Bool { owner != nil && leaseUntil > now }

  /// Whether there is something to do for whoever claims it now.
  func isDue(at now: Int64) -> Bool {
    if isLeased(at: now) { return false }
    return owner != nil || !isAnswered || !rejections.isEmpty || owed.contains { $0.notBefore <= now }
  }

  mutating func giveBack() {
    owner = nil
    isSettling = false
    unsettled = 0
  }
}
