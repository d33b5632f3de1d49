import ZonaiCore

/// What the transport suite needs to test one transport: the transport, and a peer whose behaviour
/// can be scripted.
///
/// Each check gets a fixture of its own, whose peer accepts everything and whose time limit for an answer is short.
public protocol TransportFixture: Sendable {
  associatedtype Subject: Transport

  var transport: Subject { get }
  var capabilities: TransportCapabilities { get }

  /// The clock by which the transport judges permits, in milliseconds.
  var now: Int64 { get }
  /// The clock by which it computes what is left of a time to live, in milliseconds since 1970.
  var wallClock: Int64 { get }

  /// So many different tokens that the lane takes, and that the peer knows as alive. Make them as
  /// long and as random as the service's own: what hides tokens in text goes by that.
  func tokens(_ count: Int) -> [String]
  /// A message that is a little longer than the service takes.
  var oversizeMessage: PushMessage { get }

  // MARK: The peer

  /// What the peer does with the next `times` requests for a token, or with any when it is nil.
  /// `.max` stays.
  func script(_ behaviour: PeerBehaviour, for token: String?, times: Int) async throws
  /// The pushes that reached a device, in any order: those accepted, and those whose answer was lost on the way back.
  func delivered() async throws -> [DeliveredPush]
  /// Returns once the push for this token has reached its device.
  func waitUntilDelivered(to token: String) async throws
  /// How many pushes the peer has read so far, whatever it did with them.
  func requestsSeen() async throws -> Int
  /// Lets the time limit pass within which an answer must come: turns a clock, or does nothing where time is real.
  func outlastTimeLimit() async throws
  /// Returns once the transport has no connection to the peer any more, and the peer has read
  /// everything that came over one. Only called after `close`. A peer that is called directly,
  /// without connections, has nothing to wait for.
  func waitUntilDisconnected() async throws
  /// From now on the peer takes no connection, and the ones there are end.
  func unplug() async throws
  /// Makes the transport's next requests carry a new credential. Only called where `capabilities.renewsCredentials`.
  func renewCredential() async throws
  /// What the service's other environment says about a token. Only called where
  /// `capabilities.hasOtherEnvironment`.
  func scriptOtherEnvironment(_ behaviour: OtherEnvironmentBehaviour, for token: String) async throws
}

/// What the other environment of a service says about a token.
public enum OtherEnvironmentBehaviour: Sendable, Hashable {
  /// The token is alive there.
  case knows
  case doesNotKnow
  /// The service is in trouble there (503).
  case fails
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
