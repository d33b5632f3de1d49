/// What happened in the engine, for logs and metrics. None of it holds a secret or a whole token; each has a one-line
/// description.
public enum ZonaiEvent: Sendable {
  /// A job was recorded; `wasThere` when its idempotency key had recorded it before.
  case enqueued(JobID, wasThere: Bool)
  /// A worker began, or ended.
  case workerStarted(WorkerID, transports: [TransportName])
  case workerStopped(WorkerID)
  case claimed(BatchLease, recipients: Int, isTakeover: Bool)
  /// A look at the job's table before its first send found something that an operator should see.
  case noted(JobID, JobNote)
  /// One send of a batch over one transport came back.
  case sent(BatchLease, TransportName, SendCounts)
  /// A lane's answers ask for less traffic: this worker leaves it alone for a while.
  case laneSlowed(TransportName, milliseconds: Int64)
  /// Tokens that the service called bad were asked about in its other environment.
  case environmentChecked(JobID, TransportName, asked: Int)
  /// A token was reported dead, and its row still matched: the hook is asked next.
  case rejected(JobID, RejectionReport)
  /// A hook threw, or outlasted its limit. The policy is followed all the same.
  case hookFailed(JobID, eventID: String, HookFailure)
  /// A commit; the counts are the job's after it.
  case settled(BatchLease, JobState, JobCounts)
  /// The database refused a prune, in its words; the row was spared.
  case pruneRefused(JobID, words: String)
  /// A job came to an end, seen by this worker.
  case jobEnded(JobID, JobState, JobCounts, JobFailure?)
  /// A batch stops early, since its job was stopped or its lease could not be renewed; what was answered is settled.
  case batchStopped(BatchLease, BatchEvent.StopCause)
  /// Another worker owns the batch: what was answered here is not committed.
  case leaseLost(BatchLease)
  /// Leases were renewed later than planned: the machine or the store is slow. At two thirds of a lease sending stops.
  case heartbeatLate(milliseconds: Int64)
  /// The store failed. `retryInMilliseconds` is nil when that was the last try.
  case storeTrouble(StoreCall, StoreError, retryInMilliseconds: Int64?)
  /// A transport broke its contract, or gave no answers long after `sendLimitSeconds`.
  case transportMisbehaved(TransportName, String)
  /// So many jobs were removed, since they had ended longer ago than `retentionSeconds`.
  case jobsRemoved(Int)
  /// Nothing to do; said once until something changes.
  case idle(Idle)
  /// A worker was told to stop and claims nothing more.
  case stopping(WorkerID, batchesInFlight: Int)

  /// What was asked of the store.
  public enum StoreCall: String, Sendable, Hashable {
    case bind, claim, renew, inspect, settle, waitForWork, change
  }

  /// How the recipients of one send were answered.
  public struct SendCounts: Sendable, Hashable {
    public var delivered: Int
    /// Answered, but not delivered to.
    public var otherwise: Int
    public var notSent: Int
    /// From the engine's call to the last answer.
    public var milliseconds: Int64

    public init(delivered: Int = 0, otherwise: Int = 0, notSent: Int = 0, milliseconds: Int64 = 0) {
      self.delivered = delivered
      self.otherwise = otherwise
      self.notSent = notSent
      self.milliseconds = milliseconds
    }
  }

  /// A rejection without its token.
  public struct RejectionReport: Sendable, Hashable {
    public var eventID: String
    public var group: Group
    public var evidence: Evidence
    public var reason: Reason

    public init(eventID: String, group: Group, evidence: Evidence, reason: Reason) {
      self.eventID = eventID
      self.group = group
      self.evidence = evidence
      self.reason = reason
    }
  }
}

/// Hears every event. It is called on the engine's own tasks: be quick, hand on what takes time.
public typealias ZonaiObserver = @Sendable (ZonaiEvent) -> Void
