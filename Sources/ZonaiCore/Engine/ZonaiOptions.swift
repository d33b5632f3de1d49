/// The engine's settings. Each has the name that it has in the configuration file; durations are in seconds.
///
/// What belongs to one lane (`requestTimeoutSeconds`, `connectionsPerLane`, keys, topics) is set where its transport is made.
public struct ZonaiOptions: Sendable, Hashable {
  /// What follows a permanent rejection, for jobs that do not say. The default, `clearColumn`, keeps the row: it may be
  /// somebody's account, and the next registration revives it.
  public var onPermanentRejection = Policy.clearColumn

  /// How many recipients are claimed, sent and settled together. The default, 500, keeps a crash cheap (at most this many
  /// are sent again) and a commit rare. From 1 to 10,000.
  public var batchSize = 500

  /// How many recipients a job's first batch has. It is alone until its answers are committed, so a bad message or key
  /// costs little. The default is 50; never more than `batchSize`.
  public var firstBatchSize = 50

  /// How many batches are under way at once. The default, 4, keeps a lane busy while one batch waits for its slow answers
  /// and another for its commit; more costs memory and wins little, since a lane's streams are the limit. From 1 to 64.
  public var batchesInFlight = 4

  /// How many times a recipient is sent to before its last answer counts. The default, 3, stays below what the services'
  /// own libraries do. From 1 to 100; the count goes on over all claims of a batch.
  public var maxAttemptsPerBatch = 3

  /// The first wait before another attempt, doubled for each further one. nil, the default, is a second on top of what the
  /// services ask for (10 s for FCM, 60 s after a 429 that names no time); a value replaces these.
  public var retryBaseSeconds: Double?

  /// The longest wait that doubling leads to. The default is 60. A service that asks for more gets it.
  public var maxRetryDelaySeconds: Double = 60

  /// How long one hook may take. The default, 10, is generous for a query and short for a hang; a hook that outlasts it is
  /// reported, and the policy followed.
  public var hookTimeoutSeconds: Double = 10

  /// How many hooks run at once, each on a thread of its own. The default, 4, is kind to the application's database.
  /// From 1 to 64.
  public var hooksAtOnce = 4

  /// How long the hooks of one batch may take together. The default is 60, one lease: hooks that were not asked by then are
  /// asked with the batch's next claim.
  public var hookBudgetSeconds: Double = 60

  /// How many hooks that never returned a process may carry, each with its thread. With one more, the worker stops and says
  /// so: only a restart gets the threads back. The default is 16.
  public var abandonedHooksLimit = 16

  /// For how long a batch belongs to the worker that claimed it, unless renewed, which happens every third of it. The
  /// default, 60, is how long the work of a dead worker lies still; a shorter one is paid with more commits.
  public var leaseSeconds: Double = 60

  /// How long what is in flight may take to settle once the worker was told to stop. The default, 20, is below the thirty
  /// seconds that supervisors commonly wait before they kill.
  public var gracePeriodSeconds: Double = 20

  /// How long an idle worker waits before it looks again, where the store cannot tell it of new work. The default, 2, is a
  /// query that nobody notices.
  public var pollSeconds: Double = 2

  /// How long a call to the store that fails in passing is tried again, with backoff, before it counts as failed. The
  /// default, 120, outlives a failover.
  public var storePatienceSeconds: Double = 120

  /// How long a transport may take over one send of a batch. After that it may open nothing more, and who was not sent to
  /// is owed; answers that are missing a minute later count as lost. The default, 900, leaves a batch of 500 its time on a
  /// single stream; the limit is there for transports that never return.
  public var sendLimitSeconds: Double = 900

  /// For how long jobs are kept after they ended, in seconds; failed and cancelled ones can be resumed until then. The
  /// default is seven days; nil keeps them for good. Workers see to it: one of them, every ten minutes.
  public var retentionSeconds: Double? = 604_800

  /// The name of the worker in listings, to which a random part is added; nil, the default, is the machine's name and the
  /// process.
  public var workerName: String?

  public init() {}
}

extension ZonaiOptions {
  var retryPolicy: RetryPolicy {
    RetryPolicy(
      maxAttempts: maxAttemptsPerBatch, baseMilliseconds: retryBaseSeconds.map { max(1, $0.milliseconds) },
      maxDelayMilliseconds: maxRetryDelaySeconds.milliseconds)
  }
}

extension Double {
  /// Seconds as whole milliseconds.
  var milliseconds: Int64 { Int64((self * 1000).rounded()) }
}
