/// What a worker tells of itself with every heartbeat.
public struct WorkerStatus: Sendable, Hashable {
  /// The machine it runs on, by its own name.
  public var host: String
  /// The number of its process there.
  public var process: Int
  /// Recipients that it has settled since it started.
  public var settled: Int
  /// How many it settled in a second, over the last minute or since it started.
  public var settledPerSecond: Double

  public init(host: String, process: Int, settled: Int = 0, settledPerSecond: Double = 0) {
    self.host = host
    self.process = process
    self.settled = settled
    self.settledPerSecond = settledPerSecond
  }
}

/// One worker as the store knows it.
public struct WorkerAccount: Sendable, Hashable {
  public var worker: WorkerID
  /// The app whose jobs it works on.
  public var app: AppName
  /// What it told last; nil of a worker that only claims and never told.
  public var status: WorkerStatus?
  /// How many batches are its own just now.
  public var leases: Int
  /// The jobs of these batches, each once.
  public var jobs: [JobID]
  /// When it was first and last heard of, in milliseconds since 1970 by the store's clock.
  public var startedAt: Int64
  public var lastSeenAt: Int64
  /// How long ago that was when it was asked, by the store's clock.
  public var lastSeenAgo: Int64
  /// Whether it was heard of within its own lease. One that is not is dead, stopped, or cut off from the database.
  public var isAlive: Bool

  public init(
    worker: WorkerID, app: AppName = .standard, status: WorkerStatus? = nil, leases: Int, jobs: [JobID],
    startedAt: Int64, lastSeenAt: Int64, lastSeenAgo: Int64, isAlive: Bool
  ) {
    self.worker = worker
    self.app = app
    self.status = status
    self.leases = leases
    self.jobs = jobs
    self.startedAt = startedAt
    self.lastSeenAt = lastSeenAt
    self.lastSeenAgo = lastSeenAgo
    self.isAlive = isAlive
  }
}
