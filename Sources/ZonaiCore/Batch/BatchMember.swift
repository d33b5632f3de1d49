/// Where one recipient of a batch stands. Plain memory: a batch holds an array of them.
struct BatchMember: Sendable {
  enum Phase: UInt8, Sendable {
    /// To be sent now. Leaves for `inFlight`, `expired`, `owed`.
    case waiting
    /// Leaves for any other by its answer.
    case inFlight
    /// To be sent at `dueAt`. Leaves for `waiting`, `expired`, `owed`.
    case delayed
    case delivered
    /// Reported dead; how well that is proved is weighed when the batch is settled.
    case rejected
    /// Not reached, and not tried again.
    case failed
    /// Attempts used up on service or connection faults: an outage, or not reached.
    case exhausted
    case expired
    /// Its answer speaks about credentials, message or lane, and may be its own alone. Leaves for `failed` or, with the
    /// job's failure, for `owed`.
    case accused
    case owed
  }

  var phase: Phase = .waiting
  /// Index into the machine's cases.
  var group: Int
  var attempts: UInt8 = 0
  var freeRepeats: UInt8 = 0
  /// When the first of the free repeats of this claim was granted; 0 before.
  var freeSince: Int64 = 0
  /// Whether an answer that nobody knows was tried again already.
  var wasUnknown = false
  /// Whether it was answered by another server while recipients that were sent to later got the
  /// service's own answers.
  var wasOdd = false
  /// Whether a fault of the lane kept it from being sent to the last time.
  var wasHeldUp = false
  /// When it is to be sent again, and when it was last sent, in the store's milliseconds.
  var dueAt: Int64 = 0
  var sentAt: Int64 = 0
  /// Its last answer's place among all sends of the lane.
  var order: UInt64 = 0
  var credential: UInt32 = 0
}

/// Where one lane of a batch stands.
struct BatchLane: Sendable {
  let plan: LanePlan
  /// The send that is under way.
  var dispatch: Int?
  var selection: [Int] = []
  /// Faults of the lane in a row, without an answer between them.
  var faults = 0
  /// When somebody was last delivered to in this claim.
  var lastDeliveredAt: Int64 = .min
}
