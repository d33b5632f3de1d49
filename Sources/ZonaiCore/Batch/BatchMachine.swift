/// The life of one claimed batch, from its rows to its end: what is sent and sent again, whose fault each answer is, what is
/// settled, whom the hooks hear of, and what is pruned.
///
/// A value: events in, one step out. Its owner does what the step says and tells what came of it. Late events are harmless.
public struct BatchMachine: Sendable {
  /// Where the batch stands.
  enum Stage: Sendable, Hashable {
    /// Recipients are sent to, and again. Leaves for `weighing`, `settling` or `reading` when nothing is under way.
    case sending
    /// Witnesses were asked for; what follows is `sending` again, or the conclusion.
    case weighing
    /// Other environments are being asked about tokens; what follows is `sending`, and the
    /// conclusion.
    case checking
    /// The answers are being committed. Leaves for `reading` with rejections, for `over` without.
    case settling
    /// The rows of the rejections are being read. Leaves for `hooking`, or `pruning` when no row matches.
    case reading
    /// The hooks are being asked. Leaves for `pruning`.
    case hooking
    /// The prunes are being committed. Leaves for `over`.
    case pruning
    case over
  }

  let batch: ClaimedBatch
  let retry: RetryPolicy
  var lanes: [TransportName: BatchLane]
  var random: SplitMix64

  var stage = Stage.sending
  var members: [BatchMember] = []
  var cases: [BatchGroup] = []
  /// The last answer of everybody who was not delivered to.
  var verdicts: [Int: Verdict] = [:]
  /// The latest delivery of each case, to decide what was accepted after what.
  var accepted: [(order: UInt64, credential: UInt32)?] = []
  /// Deliveries, and answers that prove a token dead, vouch for the credential under which they came.
  var vouched: [(order: UInt64, credential: UInt32)?] = []

  var dispatches = 0
  /// When the job's counts were read; nil before.
  var witnessesAt: Int64?
  var isStopping = false
  var wasRevoked = false
  var failure: JobFailure?
  var repeatedAfterLostAnswer = 0
  /// What other environments said of rejected recipients.
  var checks: [Int: EnvironmentCheck] = [:]
  /// The outage round of those who wait for a service to come back.
  var outageRounds: [Int: Int] = [:]
  var now: Int64 = 0

  /// Rejections whose hooks and prunes are to come.
  var rejections: [Rejection] = []
  var decisions: [(rejection: Rejection, decision: BatchPrunes.Decision)] = []
  var asked: [Rejection] = []

  private var slowed: [TransportName: Int64] = [:]

  public init(batch: ClaimedBatch, lanes: [TransportName: LanePlan], retry: RetryPolicy, seed: UInt64) {
    self.batch = batch
    self.retry = retry
    self.lanes = lanes.mapValues { BatchLane(plan: $0) }
    random = SplitMix64(seed: seed)
    rejections = batch.rejections
  }

  /// How long each lane should be left alone, in milliseconds, because of what it answered since the last call.
  public mutating func takeSlowed() -> [TransportName: Int64] {
    defer { slowed = [:] }
    return slowed
  }

  mutating func slow(_ transport: TransportName, for milliseconds: Int64) {
    slowed[transport] = max(slowed[transport] ?? 0, milliseconds)
  }

  var hasWitnesses: Bool { witnessesAt != nil }

  /// How many recipients are delivered to, in this claim.
  public var delivered: Int { cases.reduce(0) { $0 + $1.delivered } }

  public mutating func handle(_ event: BatchEvent) -> BatchStep {
    switch event {
    case .started(let now):
      guard stage == .sending, members.isEmpty else { return .go([], wakeAt: nil) }
      self.now = now
      route()
      return batch.recipients.isEmpty && !rejections.isEmpty && !isStopping ? readRows() : next()

    case .answered(let dispatch, let result, let now):
      guard let transport = lanes.first(where: { $0.value.dispatch == dispatch })?.key else {
        return .go([], wakeAt: nil)
      }
      self.now = now
      take(result, of: transport)
      return stage == .sending ? next() : .go([], wakeAt: nil)

    case .timerFired(let now):
      self.now = now
      return stage == .sending ? next() : .go([], wakeAt: nil)

    case .witnesses(let accounts, let now):
      guard stage == .weighing else { return .go([], wakeAt: nil) }
      self.now = now
      for index in cases.indices {
        if let account = accounts[cases[index].group] { cases[index].counts = account }
      }
      witnessesAt = now
      stage = .sending
      return next()

    case .checked(let answers, let now):
      guard stage == .checking else { return .go([], wakeAt: nil) }
      self.now = now
      take(answers)
      stage = .sending
      return next()

    case .stopped(let cause, let now):
      guard stage != .over else { return .go([], wakeAt: nil) }
      if cause == .leaseLost {
        stage = .over
        return .abandoned
      }
      self.now = now
      isStopping = true
      // Checks that are under way are waited for; no further one is opened.
      if stage == .checking { return .revoke }
      return stage == .sending ? next() : .go([], wakeAt: nil)

    case .settled(let result):
      return settled(result)

    case .rows(let rows):
      guard stage == .reading else { return .go([], wakeAt: nil) }
      return ask(rows)

    case .hooked(let answers, let failed):
      guard stage == .hooking else { return .go([], wakeAt: nil) }
      for (rejection, answer) in zip(asked, answers) {
        if let answer { decisions.append((rejection, answer)) }
      }
      return prune(hooksFailed: failed)
    }
  }

  // MARK: After the answers are known

  private mutating func settled(_ result: SettleResult) -> BatchStep {
    guard stage == .settling || stage == .pruning else { return .go([], wakeAt: nil) }
    guard case .committed(let committed) = result else {
      stage = .over
      return .abandoned
    }
    if stage == .settling {
      rejections += committed.recorded
      if !rejections.isEmpty { return readRows() }
    }
    stage = .over
    return .finished(job: committed.job)
  }

  private mutating func readRows() -> BatchStep {
    stage = .reading
    return .askRows(rejections)
  }

  private mutating func ask(_ rows: [Row?]) -> BatchStep {
    var questions: [BatchStep.HookQuestion] = []
    for (rejection, row) in zip(rejections, rows) {
      if let row {
        questions.append(BatchStep.HookQuestion(rejection: rejection, row: row))
      } else {
        // The device came back, or the row is gone: nobody is told, nothing is touched.
        decisions.append((rejection, .spare))
      }
    }
    guard !questions.isEmpty else { return prune(hooksFailed: 0) }
    asked = questions.map(\.rejection)
    stage = .hooking
    return .askHooks(questions)
  }

  private mutating func prune(hooksFailed: Int) -> BatchStep {
    stage = .pruning
    return .settle(.prunes(BatchPrunes(lease: batch.lease, decisions: decisions, hooksFailed: hooksFailed)))
  }
}
