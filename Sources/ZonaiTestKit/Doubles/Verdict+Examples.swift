import ZonaiCore

/// One answer of each kind, for scripts: what they mean, not how a service words them.
extension Verdict {
  /// Conclusive: the device is gone.
  public static let dead = Verdict(
    .permanentlyRejected, fault: .recipient, evidence: .conclusive, reason: "UNREGISTERED", status: 404)

  /// Circumstantial, with this evidence.
  public static func suspect(_ evidence: Evidence) -> Verdict {
    Verdict(.permanentlyRejected, fault: .recipient, evidence: evidence, reason: "INVALID_ARGUMENT", status: 400)
  }

  /// This device is sent too much just now.
  public static func throttled(retryAfterMilliseconds: Int64? = nil) -> Verdict {
    Verdict(
      .transientlyFailed, fault: .recipient, retry: .attempts, reason: "TooManyRequests", status: 429,
      retryAfterMilliseconds: retryAfterMilliseconds)
  }

  /// The service is in trouble.
  public static func serviceAway(retryAfterMilliseconds: Int64? = nil) -> Verdict {
    Verdict(
      .transientlyFailed, fault: .service, retry: .attempts, reason: "UNAVAILABLE", status: 503,
      retryAfterMilliseconds: retryAfterMilliseconds)
  }

  /// Written, and the connection ended before the answer.
  public static let answerLost = Verdict(
    .transientlyFailed, fault: .service, retry: .attempts, reason: .answerLost, answerMayBeLost: true)

  /// Written, and no answer in time.
  public static let timedOut = Verdict(
    .transientlyFailed, fault: .service, retry: .attempts, reason: .timedOut, answerMayBeLost: true)

  /// Surely not handled: a GOAWAY below the stream, or a refused stream.
  public static let notHandled = Verdict(.transientlyFailed, fault: .connection, retry: .free, reason: .notHandled)

  public static let credentialsRefused = Verdict(
    .jobFails, fault: .credentials, reason: "UNAUTHENTICATED", status: 401, names: "fcm.serviceAccount")

  public static let messageRefused = Verdict(
    .jobFails, fault: .message, reason: "INVALID_ARGUMENT", status: 400, names: "data.from")

  /// A setting that this recipient does not fit: kept, not retried.
  public static let wrongTopic = Verdict(
    .transientlyFailed, fault: .configuration, reason: "DeviceTokenNotForTopic", status: 400, names: "apns.bundleId")

  /// An answer that nobody knows.
  public static let unheardOf = Verdict(.transientlyFailed, fault: .unknown, retry: .once, reason: "?", status: 418)
}
