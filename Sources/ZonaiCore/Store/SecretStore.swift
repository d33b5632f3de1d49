/// What workers share beside jobs: provider tokens, so that ten workers are one to Apple.
public protocol SecretStore: Sendable {
  /// Gives the stored secret of this name, or stores the offered one, whichever is right: the stored one wins unless it has
  /// ended or is older than the offer allows. Atomic, so that of two workers that offer at once one wins and both get the
  /// same. Whenever something is stored, whatever has ended goes, under any name.
  func exchange(_ offer: SecretOffer) async throws(StoreError) -> SecretAnswer
}

public struct SecretOffer: Sendable {
  /// What it is for, without key material: "apns TEAM KEYID".
  public var name: String
  /// The secret to store if there is none that will do; nil only asks.
  public var secret: Secret?
  /// A stored secret made before this moment (milliseconds since 1970, the store's clock) will not do.
  public var notMadeBefore: Int64

  public init(name: String, secret: Secret?, notMadeBefore: Int64) {
    self.name = name
    self.secret = secret
    self.notMadeBefore = notMadeBefore
  }
}

public struct SecretAnswer: Sendable, Hashable {
  /// What everybody who asks now gets; nil when nothing stored will do and nothing was offered.
  public var secret: Secret?
  /// The store's clock when it answered, in milliseconds since 1970. Secrets are made and age by it, since the clocks of
  /// the machines that share them may differ.
  public var now: Int64

  public init(secret: Secret?, now: Int64) {
    self.secret = secret
    self.now = now
  }
}

/// Its description hides its value.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var value: String
  /// In milliseconds since 1970, by the store's clock, or by the maker's where no store was asked (for a provider token, its
  /// `iat`).
  public var madeAt: Int64
  /// From when on it is worth nothing and is not kept, by the same clock. The default is never.
  public var endsAt: Int64

  public init(value: String, madeAt: Int64, endsAt: Int64 = .max) {
    self.value = value
    self.madeAt = madeAt
    self.endsAt = endsAt
  }

  public var description: String { "a secret made at \(madeAt)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["madeAt": madeAt, "endsAt": endsAt]) }
}
