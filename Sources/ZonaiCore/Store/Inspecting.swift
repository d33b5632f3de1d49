public enum InspectRequest: Sendable {
  /// What the job knows of these groups so far, and what the store remembers of their lanes.
  case witnesses(BatchLease, groups: [Group])
  /// The rows of these rejections, whole, where key, token and last-seen still match.
  case rows(BatchLease, [Rejection])
}

public enum Inspection: Sendable {
  case witnesses([Group: WitnessAccount])
  /// One for each rejection asked about, in its order; nil where the row no longer matches.
  case rows([Row?])
}

/// What is known of one group before a batch of it is settled.
public struct WitnessAccount: Sendable, Hashable {
  /// In this job, so far.
  public var delivered: Int
  public var settled: Int
  /// Rejections on circumstantial evidence in this job so far: settled ones, and those recorded whose prune is to come.
  public var circumstantialRejections: Int
  /// In this job, by any group of the same transport and fingerprint.
  public var deliveredOnLane: Int
  /// When anybody was last delivered to on the lane (any job, any platform), in the store's milliseconds since 1970.
  public var laneLastDeliveredAt: Int64?
  /// The record: when the group's lane and platform last delivered, in any job, and how many circumstantial answers came
  /// since.
  public var recordLastDeliveredAt: Int64?
  public var recordCircumstantialSince: Int

  public init(
    delivered: Int = 0, settled: Int = 0, circumstantialRejections: Int = 0, deliveredOnLane: Int = 0,
    laneLastDeliveredAt: Int64? = nil, recordLastDeliveredAt: Int64? = nil, recordCircumstantialSince: Int = 0
  ) {
    self.delivered = delivered
    self.settled = settled
    self.circumstantialRejections = circumstantialRejections
    self.deliveredOnLane = deliveredOnLane
    self.laneLastDeliveredAt = laneLastDeliveredAt
    self.recordLastDeliveredAt = recordLastDeliveredAt
    self.recordCircumstantialSince = recordCircumstantialSince
  }
}
