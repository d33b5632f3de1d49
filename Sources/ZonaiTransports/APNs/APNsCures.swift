import ZonaiCore
import ZonaiHTTP

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

extension SendLedger<APNsReader>.Leftovers {
  /// Reads what APNs said when it ended connections: the JSON of an error, about the connection. If that is a refused
  /// credential, who was handed back unread was refused for it.
  /// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
  mutating func hear(_ goAways: [HTTP2GoAway]) {
    for goAway in goAways where !handedBack.isEmpty && !goAway.debugData.isEmpty {
      let answer = APNsAnswer(status: 403, body: goAway.debugData[...], hasID: false)
      guard answer.body == .service else { continue }
      var verdict = APNsVerdicts.verdict(for: answer)
      guard verdict.outcome == .jobFails, verdict.fault == .credentials else { continue }
      // The status was put in to look the reason up.
      verdict.status = nil
      credentialFault = credentialFault ?? verdict
      refused += handedBack
      handedBack = []
    }
  }
}
