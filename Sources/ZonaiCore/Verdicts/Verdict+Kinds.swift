/// The kinds of verdict that the tables are made of, so that one kind means one thing in all of them.
extension Verdict {
  /// The token is dead, as far as the evidence goes.
  static func dead(_ reason: Reason, _ evidence: Evidence, names: String? = nil) -> Verdict {
    Verdict(.permanentlyRejected, fault: .recipient, evidence: evidence, reason: reason, names: names)
  }

  /// One device gets too much just now; the rest of the lane may go on as it does.
  static func throttled(_ reason: Reason) -> Verdict {
    Verdict(.transientlyFailed, fault: .recipient, retry: .attempts, reason: reason)
  }

  /// A setting that is wrong for some recipients: they are kept and counted, and the job goes on.
  static func setting(_ reason: Reason, names: String) -> Verdict {
    Verdict(.transientlyFailed, fault: .configuration, reason: reason, names: names)
  }

  /// A setting that is wrong for the whole lane.
  static func laneSetting(_ reason: Reason, names: String) -> Verdict {
    Verdict(.jobFails, fault: .configuration, reason: reason, names: names)
  }

  /// The answer of another server, or an empty one: a proxy, a portal, a front end in trouble. It
  /// is tried again, and is a fault of the lane's settings only if the lane answers nothing else.
  package static func foreign(
    _ reason: Reason = .notTheService, names: String, answerMayBeLost: Bool = false
  ) -> Verdict {
    Verdict(
      .transientlyFailed, fault: .service, retry: .attempts, reason: reason, names: names,
      faultWhenRepeated: .configuration, answerMayBeLost: answerMayBeLost)
  }

  static func message(_ reason: Reason, names: String) -> Verdict {
    Verdict(.jobFails, fault: .message, reason: reason, names: names)
  }

  static func credentials(_ reason: Reason, names: String, retry: Retry = .never) -> Verdict {
    Verdict(.jobFails, fault: .credentials, retry: retry, reason: reason, names: names)
  }

  static func service(_ reason: Reason, slowsLane: Bool = false, answerMayBeLost: Bool = false) -> Verdict {
    Verdict(
      .transientlyFailed, fault: .service, retry: .attempts, reason: reason, slowsLane: slowsLane,
      answerMayBeLost: answerMayBeLost)
  }

  static func connection(_ reason: Reason, retry: Retry = .free) -> Verdict {
    Verdict(.transientlyFailed, fault: .connection, retry: retry, reason: reason)
  }

  static func unknown(_ reason: Reason = "unknown") -> Verdict {
    Verdict(.transientlyFailed, fault: .unknown, retry: .once, reason: reason)
  }

  /// No lane serves the row's platform.
  public static func noLane(for platform: Platform) -> Verdict {
    Verdict(
      .transientlyFailed, fault: .configuration, reason: .noLane,
      words: "no transport is configured for \(platform.isUnknown ? "rows without a platform" : platform.name)",
      names: platform.isApple ? "apns" : "fcm")
  }
}
