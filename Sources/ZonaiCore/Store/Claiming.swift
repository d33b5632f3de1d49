public struct ClaimRequest: Sendable {
  public var worker: WorkerID
  /// The worker's app; jobs of others are left alone.
  public var app: AppName
  /// What the worker is configured for, one for each of its transports. A job that needs another
  /// transport is left alone and named in `Idle.unservable`. A transport that the app has not used
  /// yet is bound to its lane by the claim.
  public var lanes: [LaneIdentity]
  /// The versions of the bindings under which the worker began, as `bind` told them.
  public var bindingVersions: [TransportName: Int64]
  public var batchSize: Int
  /// The size of a job's first batch, which is alone until its answers are committed: a bad message or key costs little.
  public var firstBatchSize: Int
  public var leaseMilliseconds: Int64
  /// Serve only this job.
  public var only: JobID?

  public init(
    worker: WorkerID, app: AppName = .standard, lanes: [LaneIdentity],
    bindingVersions: [TransportName: Int64] = [:], batchSize: Int = 500, firstBatchSize: Int = 50,
    leaseMilliseconds: Int64 = 60_000, only: JobID? = nil
  ) {
    self.worker = worker
    self.app = app
    self.lanes = lanes
    self.bindingVersions = bindingVersions
    self.batchSize = batchSize
    self.firstBatchSize = firstBatchSize
    self.leaseMilliseconds = leaseMilliseconds
    self.only = only
  }

  public var transports: Set<TransportName> { Set(lanes.map(\.transport)) }
}

public enum ClaimResult: Sendable {
  case batch(ClaimedBatch)
  /// The claim brought a job to its end (an empty audience, a third takeover, a column that is gone). Claim again.
  case ended(Job)
  /// Somebody else was quicker. Claim again.
  case contended
  case nothing(Idle)
}

/// Why there is nothing to claim.
public struct Idle: Sendable {
  /// In how many milliseconds something that this worker can serve falls due: owed recipients, or a lease that ends. nil:
  /// nothing is waiting.
  public var nextDueInMilliseconds: Int64?
  /// Whether the earliest of these is somebody's lease (who may be dead) rather than a not-before time.
  public var waitsForLease: Bool
  /// Whether a batch of another live worker is in the way: its job goes on there.
  public var leasesElsewhere: Int
  /// Recipients that are owed later.
  public var owedLater: Int
  /// Open jobs that need a transport this worker does not have.
  public var unservable: [JobID]

  public init(
    nextDueInMilliseconds: Int64? = nil, waitsForLease: Bool = false, leasesElsewhere: Int = 0, owedLater: Int = 0,
    unservable: [JobID] = []
  ) {
    self.nextDueInMilliseconds = nextDueInMilliseconds
    self.waitsForLease = waitsForLease
    self.leasesElsewhere = leasesElsewhere
    self.owedLater = owedLater
    self.unservable = unservable
  }
}

/// A batch that the caller now owns, until its lease ends.
public struct ClaimedBatch: Sendable {
  public var lease: BatchLease
  /// The job without its tally.
  public var job: Job
  /// Whom to send to. For what is owed these are the rows as they are now.
  public var recipients: Recipients
  /// What is known of those that were owed, by index into `recipients`; empty for a new page.
  public var owed: [Int: OwedRecipient]
  /// Owed recipients of this batch that are not due yet. They must come back in the settlement.
  public var resting: [OwedRecipient]
  /// Answers of an earlier claim that still want their hook and their prune.
  public var rejections: [Rejection]
  /// Whether this is the job's first batch: nothing else runs until its answers are committed.
  public var isFirst: Bool
  /// Whether the job has this one recipient and no other.
  public var isSole: Bool
  /// Whether a dead worker's batch was taken over.
  public var isTakeover: Bool
  /// Groups whose circumstantial answers count as transient (`SuspectMode.keep`).
  public var keptGroups: Set<Group>
  /// The store's clock at the claim, in milliseconds since 1970.
  public var now: Int64
  public var leaseMilliseconds: Int64
  /// How long ago the lease began, in milliseconds, when the claim was handed out: what the store searched before that costs
  /// the batch nothing. nil when the store does not say; then the lease is taken to be as old as the call.
  public var ageMilliseconds: Int64?

  public init(
    lease: BatchLease, job: Job, recipients: Recipients, owed: [Int: OwedRecipient] = [:],
    resting: [OwedRecipient] = [], rejections: [Rejection] = [],
    isFirst: Bool = false, isSole: Bool = false, isTakeover: Bool = false, keptGroups: Set<Group> = [], now: Int64,
    leaseMilliseconds: Int64, ageMilliseconds: Int64? = nil
  ) {
    self.lease = lease
    self.job = job
    self.recipients = recipients
    self.owed = owed
    self.resting = resting
    self.rejections = rejections
    self.isFirst = isFirst
    self.isSole = isSole
    self.isTakeover = isTakeover
    self.keptGroups = keptGroups
    self.now = now
    self.leaseMilliseconds = leaseMilliseconds
    self.ageMilliseconds = ageMilliseconds
  }
}

public struct RenewRequest: Sendable {
  public var worker: WorkerID
  public var app: AppName
  /// Empty for a worker that only says that it is there.
  public var leases: [BatchLease]
  public var leaseMilliseconds: Int64
  /// What the worker tells of itself; nil leaves what it told before.
  public var status: WorkerStatus?
  /// Whether the worker ends: it is listed no more. Its leases, if it has any left, stay as they are.
  public var isLast: Bool

  public init(
    worker: WorkerID, app: AppName = .standard, leases: [BatchLease], leaseMilliseconds: Int64,
    status: WorkerStatus? = nil, isLast: Bool = false
  ) {
    self.worker = worker
    self.app = app
    self.leases = leases
    self.leaseMilliseconds = leaseMilliseconds
    self.status = status
    self.isLast = isLast
  }
}

public struct RenewedLease: Sendable, Hashable {
  public var lease: BatchLease
  /// False when another worker owns the batch by now, or it is gone: commit nothing.
  public var isOwned: Bool
  /// The job's state; one that is not `running` wants its batch stopped: what was answered settled, the rest given back.
  public var jobState: JobState

  public init(lease: BatchLease, isOwned: Bool, jobState: JobState) {
    self.lease = lease
    self.isOwned = isOwned
    self.jobState = jobState
  }
}
