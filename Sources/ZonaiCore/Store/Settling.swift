/// One step of a batch's settling. Together or not at all.
public enum Settlement: Sendable {
  /// What was answered.
  case answers(BatchAnswers)
  /// What became of the rejections; ends the batch, or leaves what is still owed.
  case prunes(BatchPrunes)
}

/// What was answered: committed in one transaction, whatever the job's state by then.
///
/// Without rejections this also ends the batch (or gives its lease back, when recipients are still owed).
public struct BatchAnswers: Sendable {
  public var lease: BatchLease
  /// Deliveries, transient failures and expiries; never rejections, which are counted with their prune.
  public var tally: [TallyLine]
  /// Rejections to come: recorded now, counted with their prune.
  public var rejections: [Rejection]
  /// Who is still owed, `notBefore` as a duration from now.
  public var owed: [OwedRecipient]
  /// Rejections whose evidence the store weighs before it commits anything (`weighed`).
  public var circumstantial: [CircumstantialRejection]
  /// Whether the job has this one recipient and no other: then the record of the lane may stand in
  /// for a witness.
  public var isSole: Bool
  public var repeatedAfterLostAnswer: Int
  /// Set when the job must stop; the first failure stays.
  public var failure: JobFailure?

  public init(
    lease: BatchLease, tally: [TallyLine] = [], rejections: [Rejection] = [], owed: [OwedRecipient] = [],
    circumstantial: [CircumstantialRejection] = [], isSole: Bool = false, repeatedAfterLostAnswer: Int = 0,
    failure: JobFailure? = nil
  ) {
    self.lease = lease
    self.tally = tally
    self.rejections = rejections
    self.owed = owed
    self.circumstantial = circumstantial
    self.isSole = isSole
    self.repeatedAfterLostAnswer = repeatedAfterLostAnswer
    self.failure = failure
  }
}

/// What to do about a batch's rejections, once their hooks were asked.
///
/// A rejection that is recorded and not named here stays recorded: the batch's lease is given back, and its next claim
/// hands it out again. With every rejection named and nobody owed, the batch ends.
public struct BatchPrunes: Sendable {
  public enum Decision: String, Sendable, Hashable {
    /// Carry out the job's policy on the row, if key, token and last-seen still match.
    case followPolicy
    /// Leave the row: the hook said so.
    case keep
    /// The row no longer matched when the hook would have been asked.
    case spare
  }

  public var lease: BatchLease
  /// Rejections of the batch that were recorded, with what to do.
  public var decisions: [(rejection: Rejection, decision: Decision)]
  public var hooksFailed: Int

  public init(lease: BatchLease, decisions: [(rejection: Rejection, decision: Decision)], hooksFailed: Int = 0) {
    self.lease = lease
    self.decisions = decisions
    self.hooksFailed = hooksFailed
  }
}

public enum SettleResult: Sendable {
  case committed(Committed)
  /// Another worker owns the batch; nothing was written.
  case leaseLost
}

public struct Committed: Sendable {
  /// The job after the commit, without its tally.
  public var job: Job
  /// The rejections that an `answers` step recorded: the conclusive ones, and those whose evidence
  /// sufficed. Hooks are asked for these only.
  public var recorded: [Rejection]
  /// What became of each decision of a `prunes` step, in its order: pruned, spared or kept.
  public var outcomes: [TallyLine.Outcome]
  /// Prunes that the database refused, each undone alone, in its words.
  public var refusals: [String]

  public init(
    job: Job, recorded: [Rejection] = [], outcomes: [TallyLine.Outcome] = [], refusals: [String] = []
  ) {
    self.job = job
    self.recorded = recorded
    self.outcomes = outcomes
    self.refusals = refusals
  }
}
