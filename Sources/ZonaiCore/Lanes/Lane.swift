/// The name of a kind of transport; `fcm` and `apns` come with Zonai, others bring their own.
public struct TransportName: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let fcm = TransportName(rawValue: "fcm")
  public static let apns = TransportName(rawValue: "apns")

  public var description: String {
    switch self {
    case .fcm: "FCM"
    case .apns: "APNs"
    default: rawValue
    }
  }
}

/// One way out: a transport with one configuration.
public struct Lane: Sendable, Hashable {
  /// Where it sends, and on whose account: what an app is bound to.
  public let identity: LaneIdentity
  /// What the lane is, without key material: its identity with its host, key id and topic. Two
  /// lanes that could answer differently for the same token have different fingerprints.
  public let fingerprint: String
  /// The shortest wait before any repeat, in milliseconds. FCM asks for ten seconds (its scaling guide); APNs for none.
  public let retryFloorMilliseconds: Int64

  public var transport: TransportName { identity.transport }

  public init(identity: LaneIdentity, fingerprint: String, retryFloorMilliseconds: Int64 = 0) {
    self.identity = identity
    self.fingerprint = fingerprint
    self.retryFloorMilliseconds = retryFloorMilliseconds
  }
}

/// The recipients of one lane with one platform: evidence is weighed per group.
public struct Group: Sendable, Hashable, Codable {
  public let transport: TransportName
  /// The fingerprint of the lane and message kind (`PreparedMessage.fingerprint`); empty when there was no lane.
  public let fingerprint: String
  public let platform: Platform

  public init(transport: TransportName, fingerprint: String, platform: Platform) {
    self.transport = transport
    self.fingerprint = fingerprint
    self.platform = platform
  }
}
