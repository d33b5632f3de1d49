/// What happened to a batch. Moments are in the store's milliseconds since 1970, as the batch's owner reckons them from the
/// claim.
public enum BatchEvent: Sendable {
  case started(now: Int64)
  /// A send that `BatchStep.go` asked for has ended.
  case answered(dispatch: Int, PushBatchResult, now: Int64)
  /// The moment that the last step named has come.
  case timerFired(now: Int64)
  case witnesses([Group: GroupCounts], now: Int64)
  /// What the other environment said, by index into the recipients; one without an answer in time
  /// is missing.
  case checked([Int: EnvironmentAnswer], now: Int64)
  case stopped(StopCause, now: Int64)
  case settled(SettleResult)
  case rows([Row?])
  /// The hooks' answers, in the order in which they were asked for; nil for one that was not asked since the budget was used up.
  case hooked([BatchPrunes.Decision?], failed: Int)

  public enum StopCause: Sendable, Hashable {
    /// The worker stops: what was answered is settled, the rest given back.
    case shutdown
    /// The job was cancelled or failed elsewhere.
    case jobStopped
    /// Another worker owns the batch: nothing is committed.
    case leaseLost
  }
}

/// What the batch's owner does next.
public enum BatchStep: Sendable {
  /// Start these sends, if any; fire the timer at `wakeAt`, if one is named (it replaces an earlier one). With neither, wait
  /// for what is under way.
  case go([Dispatch], wakeAt: Int64?)
  /// Take back the permit to open requests, and wait for what is in flight.
  case revoke
  case askWitnesses([Group])
  /// Ask about these recipients in the other environments of their lanes, as far as the job's
  /// budget reaches.
  case checkEnvironment([Dispatch])
  case settle(Settlement)
  case askRows([Rejection])
  case askHooks([HookQuestion])
  /// The batch is done, or given back. `job` is the job after the last commit.
  case finished(job: Job)
  /// The lease is lost: drop everything.
  case abandoned

  /// One send: these recipients of the batch over this transport.
  public struct Dispatch: Sendable, Hashable {
    public let id: Int
    public let transport: TransportName
    /// Indexes into the batch's recipients.
    public let selection: [Int]
  }

  public struct HookQuestion: Sendable, Hashable {
    public let rejection: Rejection
    public let row: Row
  }
}
