import ZonaiCore

/// What a send call tries against a refused provider token: each cure once.
struct APNsCures {
  enum Cure {
    case none
    /// One new token, over a new connection: Apple's side accepts nothing more on the old one.
    case newToken
    /// The same token over a new connection.
    case newConnection
  }

  private var hasRenewed = false
  private var hasReconnected = false

  mutating func next(for fault: Verdict) -> Cure {
    switch fault.reason {
    case "ExpiredProviderToken" where !hasRenewed:
      hasRenewed = true
      return .newToken
    // Outbreaks under a good key heal by themselves; a connection may be bound to another key.
    case "InvalidProviderToken" where !hasReconnected, "UnrelatedKeyIdInToken" where !hasReconnected:
      hasReconnected = true
      return .newConnection
    default:
      return .none
    }
  }
}
