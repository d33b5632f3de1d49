/// What workers share beside jobs: provider tokens, so that ten workers are one to Apple.
public protocol SecretStore: Sendable {
  /// Gives the stored secret of this name, or stores the offered one, whichever is right: the stored one wins unless it is
  /// older than the offer allows. Atomic, so that of two workers that offer at once one wins and both get the same.
  func exchange(_ offer: SecretOffer) async throws(StoreError) -> Secret?
}

public struct SecretOffer: Sendable {
  /// What it is for, without key material: "apns TEAM KEYID".
  public var name: String
  /// The secret to store if there is none that will do; nil only asks.
  public var secret: Secret?
  /// A stored secret made before this moment (milliseconds since 1970) will not do.
  public var notMadeBefore: Int64

  public init(name: String, secret: Secret?, notMadeBefore: Int64) {
    self.name = name
    self.secret = secret
    self.notMadeBefore = notMadeBefore
  }
}

/// Its description hides its value.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var value: String
  /// In milliseconds since 1970, by its maker's clock (for a provider token, its `iat`).
  public var madeAt: Int64

  public init(value: String, madeAt: Int64) {
    self.value = value
    self.madeAt = madeAt
  }

  public var description: String { "a secret made at \(madeAt)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["madeAt": madeAt]) }
}
