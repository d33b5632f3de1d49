extension APNsVerdicts {
  /// Reasons that Apple documents for broadcasts only. Zonai sends none; should one come, it is no device's fault.
  static let broadcastRows: [VerdictRow<APNsAnswer>] = [
    broadcast("FeatureNotEnabled", 400, .setting("FeatureNotEnabled", names: "apns.bundleId")),
    broadcast("MissingChannelId", 400, .setting("MissingChannelId", names: "apns-channel-id")),
    broadcast("BadChannelId", 400, .setting("BadChannelId", names: "apns-channel-id")),
    broadcast("ChannelNotRegistered", 400, .setting("ChannelNotRegistered", names: "apns-channel-id")),
    broadcast("CannotCreateChannelConfig", 400, .setting("CannotCreateChannelConfig", names: "apns-channel-id")),
    broadcast("TopicMismatch", 403, .setting("TopicMismatch", names: "apns.bundleId")),
    broadcast("MissingPushType", 400, .message("MissingPushType", names: "pushType")),
    broadcast("BadRequestParams", 400, .message("BadRequestParams", names: "message")),
    broadcast("BadRequestPayload", 400, .message("BadRequestPayload", names: "message")),
  ]

  private static func broadcast(_ reason: String, _ status: Int, _ verdict: Verdict) -> VerdictRow<APNsAnswer> {
    VerdictRow(
      "\(status) \(reason)", verdict, source: "Apple, Handling error responses from APNs (broadcast)"
    ) { $0.body == .service && $0.reason == reason && PassingStatus.isAboutTheRequest($0.status) }
  }

  /// What the status says where no known reason does.
  static let statusRows: [VerdictRow<APNsAnswer>] = [
    VerdictRow(
      "429, whatever else its body", .service("429", slowsLane: true), source: "RFC 6585, section 4",
      keepsRawReason: true
    ) { $0.status == 429 },
    VerdictRow(
      "408, 421 or 425, whatever else its body", .service("408"),
      source: "RFC 9110, sections 15.5.9 and 15.5.20; node-apn retries 408", keepsRawReason: true
    ) { PassingStatus.notHandled.contains($0.status) },
    VerdictRow(
      "499, 502 or 504, whatever else its body", .service("502", answerMayBeLost: true),
      source: "RFC 9110, sections 15.6.3 and 15.6.5: a gateway speaks, and APNs may have handled the request",
      keepsRawReason: true
    ) { PassingStatus.mayBeHandled.contains($0.status) },
    VerdictRow(
      "any other 5xx, whatever else its body", .service("5xx"),
      source: "Apple, Handling notification responses from APNs", keepsRawReason: true
    ) { (500...599).contains($0.status) },
    VerdictRow(
      "410, empty body, with apns-id", .dead("HTTP 410", .conclusive),
      source: "Apple, Handling notification responses from APNs; uniqush-push treats it so",
      narrower: "without apns-id a proxy may have answered: then it is no dead token", keepsRawReason: true
    ) { isEmptyOfApple($0) && $0.status == 410 },
    VerdictRow(
      "403, empty body, with apns-id", .credentials("HTTP 403", names: "apns.keyFile, apns.keyId and apns.teamId"),
      source: "Apple, Handling notification responses from APNs", keepsRawReason: true
    ) { isEmptyOfApple($0) && $0.status == 403 },
    VerdictRow(
      "413, empty body, with apns-id", .message("HTTP 413", names: "message"),
      source: "Apple, Handling notification responses from APNs", keepsRawReason: true
    ) { isEmptyOfApple($0) && $0.status == 413 },
    VerdictRow(
      "any other status, empty body, with apns-id", .unknown(), source: "documented nowhere", keepsRawReason: true
    ) { isEmptyOfApple($0) && $0.status != 200 },
    VerdictRow(
      "2xx, not an empty 200", .foreign(names: "APNs endpoint", answerMayBeLost: true),
      source: "Apple, Handling notification responses from APNs: success has an empty body",
      narrower: "no delivery is believed with a page"
    ) { $0.body != .service && (200...299).contains($0.status) },
    VerdictRow(
      "any other status below 500, not APNs' JSON", .foreign(names: "APNs endpoint"),
      source: "Apple, Handling notification responses from APNs: an error carries JSON with a reason",
      narrower: "also for 410 and 404: another server answered"
    ) { $0.body != .service && $0.status < 500 },
    VerdictRow(
      "410, unknown reason", .unknown(), source: "documented nowhere",
      narrower: "only the documented reasons of a 410 are believed", keepsRawReason: true
    ) { $0.status == 410 },
  ]

  private static func isEmptyOfApple(_ answer: APNsAnswer) -> Bool { answer.body == .empty && answer.hasID }

  static let anythingElse = VerdictRow<APNsAnswer>(
    "anything else", .unknown(), source: "documented nowhere; APNSwift PR #229, reown-com/a2 #94 (reasons are added)",
    keepsRawReason: true
  ) { _ in true }
}
