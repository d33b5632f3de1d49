/// What a job and the store know of one group, before further answers are settled.
public struct GroupCounts: Sendable, Hashable {
  /// In this job, so far.
  public var delivered: Int
  /// Recipients of this job with an outcome or a recorded rejection.
  public var answered: Int
  /// Rejections on circumstantial evidence in this job so far: settled ones, and those recorded
  /// whose prune is to come.
  public var circumstantialRejections: Int
  /// Circumstantial answers in this job so far: those rejections, and the answers that counted as
  /// transient.
  public var circumstantial: Int
  /// In this job, by any group of the same transport and fingerprint.
  public var deliveredOnLane: Int
  /// The last delivery on the lane (any job, any platform), in the store's milliseconds since 1970.
  public var laneLastDeliveredAt: Int64?
  /// The record: when the group's lane and platform last delivered, in any job, and how many
  /// circumstantial answers came since.
  public var recordLastDeliveredAt: Int64?
  public var recordCircumstantialSince: Int

  public init(
    delivered: Int = 0, answered: Int = 0, circumstantialRejections: Int = 0, circumstantial: Int = 0,
    deliveredOnLane: Int = 0, laneLastDeliveredAt: Int64? = nil, recordLastDeliveredAt: Int64? = nil,
    recordCircumstantialSince: Int = 0
  ) {
    self.delivered = delivered
    self.answered = answered
    self.circumstantialRejections = circumstantialRejections
    self.circumstantial = circumstantial
    self.deliveredOnLane = deliveredOnLane
    self.laneLastDeliveredAt = laneLastDeliveredAt
    self.recordLastDeliveredAt = recordLastDeliveredAt
    self.recordCircumstantialSince = recordCircumstantialSince
  }

  /// Adds a line of the job's account that belongs to the group.
  ///
  /// - Parameter outcome: nil for a rejection that is recorded and whose prune is to come.
  public mutating func add(_ count: Int, outcome: TallyLine.Outcome?, evidence: Evidence?) {
    answered += count
    if outcome == .delivered { delivered += count }
    guard evidence?.isCircumstantial == true else { return }
    circumstantial += count
    if outcome?.isRejection ?? true { circumstantialRejections += count }
  }

  /// A record older than a day does not speak.
  static let recordSpeaksMilliseconds: Int64 = 86_400_000

  /// Whether the record may stand in for a witness: a delivery within a day, and fewer than twenty
  /// circumstantial answers since.
  public func recordSpeaks(at now: Int64) -> Bool {
    guard let last = recordLastDeliveredAt else { return false }
    return now - last < GroupCounts.recordSpeaksMilliseconds && recordCircumstantialSince < 20
  }
}
