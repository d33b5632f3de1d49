/// Differences between transports that are not defects.
public struct TransportCapabilities: Sendable {
  /// How many requests may be open at once, over all connections.
  public var concurrency: Int
  /// How the peer can say that a request was certainly not handled.
  public var refusals: Set<PeerBehaviour.Refusal>
  /// How an answer can be lost. A protocol without HTTP/2's streams has no `streamReset`, a call
  /// without a body no `insideBody`.
  public var losses: Set<PeerBehaviour.Loss>
  /// What the service slows down when it is sent too much; nil where it never says so.
  public var throttle: Throttle?
  /// Whether its answers can ask for a wait in seconds, or until a date.
  public var asksForSeconds: Bool
  public var asksForDates: Bool
  /// Whether requests carry a credential that is renewed.
  public var renewsCredentials: Bool
  public var timeToLive: TimeToLive
  /// Whether the service has another environment in which `Transport.check` asks.
  public var hasOtherEnvironment: Bool
  /// The parts of a token that must not be shown, for a token that is made of several, such as
  /// `instance:secret`. The default is the whole token.
  public var secrets: @Sendable (_ token: String) -> [String]

  /// What a service slows down when it is sent too much.
  public enum Throttle: Sendable, Hashable {
    /// One device; the others may go on.
    case device
    /// Everything that is sent over the lane.
    case lane
  }

  /// What the service knows of a time after which a push is not delivered any more.
  public enum TimeToLive: Sendable, Hashable {
    /// A request says when it expires if its message does, and nothing otherwise.
    case optional
    /// The service demands one: `prepare` refuses a message without it.
    case required
    /// The service demands one: a message without it gets so many seconds.
    case supplied(seconds: Int)
    /// The service has no such thing.
    case unknown
  }

  public init(
    concurrency: Int, refusals: Set<PeerBehaviour.Refusal> = Set(PeerBehaviour.Refusal.allCases),
    losses: Set<PeerBehaviour.Loss> = Set(PeerBehaviour.Loss.allCases), throttle: Throttle? = .device,
    asksForSeconds: Bool = true, asksForDates: Bool = true, renewsCredentials: Bool = true,
    timeToLive: TimeToLive = .optional, hasOtherEnvironment: Bool = false,
    secrets: @escaping @Sendable (_ token: String) -> [String] = { [$0] }
  ) {
    self.concurrency = concurrency
    self.refusals = refusals
    self.losses = losses
    self.throttle = throttle
    self.asksForSeconds = asksForSeconds
    self.asksForDates = asksForDates
    self.renewsCredentials = renewsCredentials
    self.timeToLive = timeToLive
    self.hasOtherEnvironment = hasOtherEnvironment
    self.secrets = secrets
  }
}
