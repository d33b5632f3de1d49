/// What one answer means: for the recipient's row, and for the job.
///
/// The verdict tables of the two services give one for every answer, without I/O and without a clock. It is what the answer
/// means with a witness; `Evidence` says whether it needs one.
public struct Verdict: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable, Codable {
    case delivered
    /// The token is dead, as far as this answer goes. `evidence` says how far that is.
    case permanentlyRejected
    /// The row is kept and the recipient counted as not reached, unless a retry reaches it.
    case transientlyFailed
    /// The job stops, unless the answer turns out to be one odd row's.
    case jobFails
  }

  /// Whether the same request is worth sending again within the batch.
  public enum Retry: String, Sendable, Hashable, Codable {
    case never
    /// Once, then it counts: answers that nobody knows.
    case once
    /// Up to the policy's attempts.
    case attempts
    /// Without using up an attempt while the lane answers others. Only for a request that surely
    /// was not handled.
    case free
  }

  public var outcome: Outcome
  /// nil when delivered.
  public var fault: Fault?
  /// Only for `permanentlyRejected`.
  public var evidence: Evidence?
  public var retry: Retry
  public var reason: Reason
  /// The HTTP status; nil when there was no answer.
  public var status: Int?
  /// The service's own words, shortened, without the token.
  public var words: String?
  /// The setting or message field to look at: `apns.bundleId`, `data.from`.
  public var names: String?
  /// Whose fault this answer is if the lane gives no better one, however often it is asked: then
  /// the job fails and names `names`. nil, as for most answers, if repetition changes nothing.
  public var faultWhenRepeated: Fault?
  /// What the service asked for, in milliseconds from its answer; nil when it asked for nothing.
  public var retryAfterMilliseconds: Int64?
  /// The shortest wait before a repeat that this kind of answer wants, in milliseconds, unless `retryBaseSeconds` is set.
  public var retryFloorMilliseconds: Int64?
  /// Since when the token has been dead, in milliseconds since 1970 (APNs' timestamp).
  public var deadSince: Int64?
  /// Whether the whole lane should slow down: any 429 that is not about one device.
  public var slowsLane: Bool
  /// Whether the request may have reached the device although its answer did not reach us.
  public var answerMayBeLost: Bool

  public init(
    _ outcome: Outcome, fault: Fault?, evidence: Evidence? = nil, retry: Retry = .never, reason: Reason,
    status: Int? = nil, words: String? = nil, names: String? = nil, faultWhenRepeated: Fault? = nil,
    retryAfterMilliseconds: Int64? = nil, retryFloorMilliseconds: Int64? = nil, deadSince: Int64? = nil,
    slowsLane: Bool = false,
    answerMayBeLost: Bool = false
  ) {
    self.outcome = outcome
    self.fault = fault
    self.evidence = evidence
    self.retry = retry
    self.reason = reason
    self.status = status
    self.words = words
    self.names = names
    self.faultWhenRepeated = faultWhenRepeated
    self.retryAfterMilliseconds = retryAfterMilliseconds
    self.retryFloorMilliseconds = retryFloorMilliseconds
    self.deadSince = deadSince
    self.slowsLane = slowsLane
    self.answerMayBeLost = answerMayBeLost
  }

  public static let delivered = Verdict(.delivered, fault: nil, reason: "delivered", status: 200)

  /// The wait that is granted of what the service asked for: an hour at most, whichever transport
  /// read it.
  var grantedWait: Int64? { retryAfterMilliseconds.map(RetryAfter.granted) }

  /// What the answer may be about, for a person who asks.
  public var about: Subject? {
    if let evidence { return evidence.about }
    return switch fault {
    case .recipient: .token
    case .message: .message
    case .configuration, .credentials: .lane
    case .service, .connection, .unknown, nil: nil
    }
  }
}
