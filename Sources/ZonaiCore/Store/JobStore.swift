/// What enqueues, shows and changes jobs.
public protocol JobStore: Sendable {
  /// Validates, records the job durably, and returns once the row is committed.
  func enqueue(_ request: EnqueueRequest) async throws(StoreError) -> Enqueued
  func jobs(_ query: JobQuery) async throws(StoreError) -> JobListing
  func change(_ change: JobChange) async throws(StoreError) -> ChangeResult
}

public struct EnqueueRequest: Sendable {
  /// The audience's key may still be empty: the table's primary key is filled in.
  public var definition: JobDefinition
  /// The same key with the same content gives the same job; with other content it is refused.
  public var idempotencyKey: String?
  /// `deleteRow` on a table that others reference is meant.
  public var deletesReferencedRows: Bool

  public init(definition: JobDefinition, idempotencyKey: String? = nil, deletesReferencedRows: Bool = false) {
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
  /// Newest first.
  case list(limit: Int, states: Set<JobState>?)
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
  /// A failed or cancelled job goes on from where it stopped.
  case resume(JobID, suspects: SuspectMode)
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
