/// What enqueues, shows and changes jobs.
public protocol JobStore: Sendable {
  /// Validates, records the job durably, and returns once the row is committed.
  func enqueue(_ request: EnqueueRequest) async throws(StoreError) -> Enqueued
  func jobs(_ query: JobQuery) async throws(StoreError) -> JobListing
  func change(_ change: JobChange) async throws(StoreError) -> ChangeResult

  /// Binds the app's transports to the identities of these lanes, where they are not bound yet.
  /// Throws `otherBinding`, and writes nothing, when one is bound to another identity.
  func bind(_ request: BindRequest) async throws(StoreError) -> AppBindings
  /// Binds the app to these lanes, whatever it was bound to; fails its open jobs that need a
  /// transport whose identity this changes. From the commit on no worker claims under the old
  /// binding. Throws `notFound` for an app without bindings.
  func rebind(_ request: BindRequest) async throws(StoreError) -> Rebinding
  /// Every app that is bound, or named by an open job or a live worker, by name.
  func apps() async throws(StoreError) -> [AppAccount]
}

public struct EnqueueRequest: Sendable {
  /// The app that the job belongs to.
  public var app: AppName
  /// What the enqueuing process is configured for: checked against the app's bindings, and bound
  /// where there is none. Empty for a process without lanes.
  public var lanes: [LaneIdentity]
  /// The audience's key may still be empty: the table's primary key is filled in.
  public var definition: JobDefinition
  /// The same key with the same content gives the same job of this app; with other content it is
  /// refused.
  public var idempotencyKey: String?
  /// `deleteRow` on a table that others reference is meant.
  public var deletesReferencedRows: Bool

  public init(
    app: AppName = .standard, lanes: [LaneIdentity] = [], definition: JobDefinition, idempotencyKey: String? = nil,
    deletesReferencedRows: Bool = false
  ) {
    self.app = app
    self.lanes = lanes
    self.definition = definition
    self.idempotencyKey = idempotencyKey
    self.deletesReferencedRows = deletesReferencedRows
  }
}

public struct Enqueued: Sendable {
  public var job: Job
  /// Whether the idempotency key had enqueued it before.
  public var wasThere: Bool

  public init(job: Job, wasThere: Bool) {
    self.job = job
    self.wasThere = wasThere
  }
}

public enum JobQuery: Sendable {
  /// Newest first; of one app or of all.
  case list(limit: Int, states: Set<JobState>?, app: AppName? = nil)
  case one(JobID)
  /// Counts an audience by platform, after the same checks as an enqueue; writes nothing.
  case count(EnqueueRequest)
  /// Who works, or did so within a day and did not say that it ends.
  case workers
}

public enum JobListing: Sendable {
  case jobs([Job])
  /// nil when there is no such job.
  case job(Job?)
  case audience(AudienceCount)
  case workers([WorkerAccount])
}

public struct AudienceCount: Sendable, Hashable {
  /// The audience with its key filled in.
  public var audience: Audience
  public var recipients: [Platform: Int]
  /// What an operator should look at before anything is sent.
  public var notes: [JobNote]

  public init(audience: Audience, recipients: [Platform: Int], notes: [JobNote] = []) {
    self.audience = audience
    self.recipients = recipients
    self.notes = notes
  }
}

public enum JobChange: Sendable {
  case cancel(JobID)
  /// A failed or cancelled job goes on from where it stopped. One that belongs to another identity
  /// than its app is bound to is refused as `otherBinding`, unless `rebound`: then it belongs to
  /// what the app is bound to from now on.
  case resume(JobID, suspects: SuspectMode, rebound: Bool = false)
  /// The job cannot run: found by a worker before any send of its first batch.
  case fail(BatchLease, JobFailure)
  /// Removes jobs that ended longer ago than this, with all that belongs to them, in many short transactions; never one that
  /// is open, nor one of which a worker still settles a batch. With `every` it does nothing when this was begun by anybody
  /// less than so many milliseconds ago. Ends early when its task is cancelled.
  case retain(milliseconds: Int64, every: Int64 = 0)
}

public enum ChangeResult: Sendable {
  case job(Job)
  case removed(Int)
}
