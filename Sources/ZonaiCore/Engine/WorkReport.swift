/// What a worker did, and what it left.
public struct WorkReport: Sendable {
  public var batches = 0
  /// Recipients claimed; one that stayed owed and was claimed again counts twice.
  public var recipients = 0
  public var jobsEnded = 0
  /// Why there was nothing more to claim, when last looked: owed later, or not to be served here. nil when it was stopped
  /// before it came to that.
  public var remaining: Idle?
  /// Whether it was told to stop.
  public var wasStopped = false

  init() {}
}
