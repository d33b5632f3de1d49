/// What a worker did, and what it left.
public struct WorkReport: Sendable {
  public var batches: Int
  /// Recipients claimed; one that stayed owed and was claimed again counts twice.
  public var recipients: Int
  public var jobsEnded: Int
  /// Why there was nothing more to claim, when last looked: owed later, or not to be served here. nil when it was stopped
  /// before it came to that.
  public var remaining: Idle?
  /// Whether it was told to stop.
  public var wasStopped: Bool

  public init(
    batches: Int = 0, recipients: Int = 0, jobsEnded: Int = 0, remaining: Idle? = nil, wasStopped: Bool = false
  ) {
    self.batches = batches
    self.recipients = recipients
    self.jobsEnded = jobsEnded
    self.remaining = remaining
    self.wasStopped = wasStopped
  }
}
