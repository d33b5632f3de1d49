/// What the batch needs to know of one lane: the lane itself, and the fingerprint of this message on it.
public struct LanePlan: Sendable, Hashable {
  public let lane: Lane
  /// `PreparedMessage.fingerprint`.
  public let fingerprint: String
  /// `PreparedMessage.otherEnvironment`.
  public let otherEnvironment: OtherEnvironment

  public init(lane: Lane, fingerprint: String, otherEnvironment: OtherEnvironment = .none) {
    self.lane = lane
    self.fingerprint = fingerprint
    self.otherEnvironment = otherEnvironment
  }
}
