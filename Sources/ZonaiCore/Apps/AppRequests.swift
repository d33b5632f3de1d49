/// A process that is about to use an app's lanes.
public struct BindRequest: Sendable {
  public var app: AppName
  /// What the process is configured for, one for each transport that it has.
  public var lanes: [LaneIdentity]

  public init(app: AppName, lanes: [LaneIdentity]) {
    self.app = app
    self.lanes = lanes
  }
}

/// What a rebind came to.
public struct Rebinding: Sendable, Hashable {
  public struct Change: Sendable, Hashable {
    public var from: LaneIdentity
    public var to: LaneIdentity

    public init(from: LaneIdentity, to: LaneIdentity) {
      self.from = from
      self.to = to
    }
  }

  /// The app's bindings after it.
  public var bindings: AppBindings
  /// The transports that were bound to another identity before, in order.
  public var changes: [Change]
  /// How many open jobs that need one of these transports were failed.
  public var failedJobs: Int

  public init(bindings: AppBindings, changes: [Change] = [], failedJobs: Int = 0) {
    self.bindings = bindings
    self.changes = changes
    self.failedJobs = failedJobs
  }
}

/// One app as the store knows it: bound, or named by an open job or a live worker.
public struct AppAccount: Sendable, Hashable {
  public var bindings: AppBindings
  /// Pending and running jobs.
  public var openJobs: Int
  /// Workers that were heard of within their lease.
  public var liveWorkers: Int

  public var app: AppName { bindings.app }

  public init(bindings: AppBindings, openJobs: Int = 0, liveWorkers: Int = 0) {
    self.bindings = bindings
    self.openJobs = openJobs
    self.liveWorkers = liveWorkers
  }
}
