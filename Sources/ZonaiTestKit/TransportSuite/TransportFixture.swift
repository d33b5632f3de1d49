import ZonaiCore

/// What the transport suite needs to test one transport: the transport, and a peer whose behaviour can be written.
///
/// Each check gets a fixture of its own, whose peer accepts everything and whose time limit for an answer is short.
public protocol TransportFixture: Sendable {
  associatedtype Subject: Transport

  var transport: Subject { get }
  var capabilities: TransportCapabilities { get }

  /// The clock by which the transport judges permits, in milliseconds.
  var now: Int64 { get }
  /// The clock by which it reckons what is left of a time to live, in milliseconds since 1970.
  var wallClock: Int64 { get }

  /// So many different tokens that the lane takes, and that the peer knows as alive.
  func tokens(_ count: Int) -> [String]
  /// A message that is a little longer than the service takes, and one that is well below.
  var oversizeMessage: PushMessage { get }

  // MARK: The peer

  /// What the peer does with the next `times` requests for a token, or with anybody's when it is nil. `.max` stays.
  func script(_ behaviour: PeerBehaviour, for token: String?, times: Int) async throws
  /// The pushes that reached a device, in any order: those accepted, and those whose answer was lost on the way back.
  func delivered() async throws -> [DeliveredPush]
  /// How many pushes the peer has read so far, whatever it did with them.
  func requestsSeen() async throws -> Int
  /// Returns once the peer has read so many.
  func waitUntilSeen(_ count: Int) async throws
  /// Lets the time limit pass within which an answer must come: turns a clock, or does nothing where time is real.
  func outlastTimeLimit() async throws
  /// From now on the peer takes no connection, and the ones there are end.
  func unplug() async throws
  /// Makes the transport's next requests carry a new credential. Only called where `capabilities.renewsCredentials`.
  func renewCredential() async throws
}

/// What a peer does with a request.
public enum PeerBehaviour: String, Sendable, Hashable, CaseIterable {
  /// The token is dead, beyond doubt.
  case reportDead
  /// Too much for this device just now.
  case throttle
  /// The service is in trouble.
  case fail
  /// The credentials are not accepted.
  case refuseCredentials
  /// The message is not accepted; not as `prepare` could have known.
  case refuseMessage
  /// An answer that nobody knows, whose text quotes the device token.
  case quoteToken
  /// Delivers the push, and ends the connection without an answer.
  case loseAnswer
  /// Delivers the push, and never answers.
  case staySilent
  /// Says that the request was not handled (REFUSED_STREAM). Only where `capabilities.refusals` has it.
  case refuseStream
  /// Says that this request and later ones of the connection were not handled (GOAWAY). Only where `capabilities.refusals` has it.
  case goAway
}

public struct DeliveredPush: Sendable {
  public var token: String
  /// When the push expires, in milliseconds since 1970, as the request said; nil when it said nothing.
  public var expiresAt: Int64?

  public init(token: String, expiresAt: Int64?) {
    self.token = token
    self.expiresAt = expiresAt
  }
}

/// Differences between transports that are no defects.
public struct TransportCapabilities: Sendable {
  /// How many requests may be open at once, over all connections.
  public var concurrency: Int
  /// How the peer can say that a request was surely not handled.
  public var refusals: Set<PeerBehaviour>
  /// Whether requests carry a credential that is renewed.
  public var renewsCredentials: Bool
  /// Whether requests say when they expire.
  public var tellsExpiry: Bool

  public init(
    concurrency: Int, refusals: Set<PeerBehaviour> = [.refuseStream, .goAway], renewsCredentials: Bool = true,
    tellsExpiry: Bool = true
  ) {
    self.concurrency = concurrency
    self.refusals = refusals
    self.renewsCredentials = renewsCredentials
    self.tellsExpiry = tellsExpiry
  }
}
