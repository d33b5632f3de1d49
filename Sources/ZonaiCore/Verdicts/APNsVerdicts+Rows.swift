extension APNsVerdicts {
  /// The table, in the order in which it is read.
  public static let rows: [VerdictRow<APNsAnswer>] =
    [delivered] + deviceRows + settingRows + messageRows + credentialRows + serviceRows + broadcastRows + statusRows
    + [anythingElse]

  private static let apple = "Apple, Handling notification responses from APNs"

  static let delivered = VerdictRow<APNsAnswer>(
    "200, empty body", .delivered, source: "\(apple): success has an empty body"
  ) { $0.status == 200 && $0.body == .empty }

  /// A documented reason. The documented status is shown; what decides is the reason, under any status of the same kind:
  /// `ExpiredToken` was documented as 400 and is 410 now.
  private static func reason(
    _ reason: String, _ status: Int, _ verdict: Verdict, source: String = apple, narrower: String? = nil
  ) -> VerdictRow<APNsAnswer> {
    VerdictRow("\(status) \(reason)", verdict, source: source, narrower: narrower) { answer in
      guard answer.body == .service, answer.reason == reason else { return false }
      return switch status {
      case 500...599: (500...599).contains(answer.status)
      case 429: answer.status == 429 || PassingStatus.isAboutTheRequest(answer.status)
      default: PassingStatus.isAboutTheRequest(answer.status)
      }
    }
  }

  private static let deviceRows = [
    reason(
      "Unregistered", 410, .dead("Unregistered", .conclusive),
      source: "\(apple); Apple developer forums, thread 806522; jchambers/pushy #674 (timestamp)",
      narrower: "a timestamp older than the row's last-seen spares the row"),
    reason(
      "ExpiredToken", 410, .dead("ExpiredToken", .conclusive),
      source: "\(apple); APNSwift PR #231; sideshow/apns2 #220 (once documented as 400)",
      narrower: "a timestamp older than the row's last-seen spares the row"),
    reason(
      "BadDeviceToken", 400, .dead("BadDeviceToken", .aboutLane, names: "apns.useSandbox"),
      source: "\(apple); Apple developer forums, thread 807380; parse-server #6052",
      narrower:
        "Apple: do not retry. It may be a good token of the other environment, so it needs a witness and a check there"),
    reason("TooManyRequests", 429, .throttled("TooManyRequests")),
  ]

  private static let settingRows = [
    reason(
      "DeviceTokenNotForTopic", 400, .setting("DeviceTokenNotForTopic", names: "apns.bundleId"),
      source: "\(apple); Apple developer forums, thread 807380; rails/action_push_native PR #4",
      narrower: "many clients delete here; a wrong bundle id would then empty the table"),
    reason(
      "TopicDisallowed", 400, .setting("TopicDisallowed", names: "apns.bundleId"),
      source: "\(apple); WalletConnect push-server #342"),
    reason("BadTopic", 400, .setting("BadTopic", names: "apns.bundleId")),
    reason(
      "MissingTopic", 400, .setting("MissingTopic", names: "apns.bundleId"),
      source: "\(apple); AndrewBarba/apns2 #3"),
  ]

  private static let messageRows = [
    reason("BadCollapseId", 400, .message("BadCollapseId", names: "collapseKey")),
    reason("BadExpirationDate", 400, .message("BadExpirationDate", names: "timeToLive")),
    reason("BadPriority", 400, .message("BadPriority", names: "priority")),
    reason(
      "InvalidPushType", 400, .message("InvalidPushType", names: "pushType"), source: "\(apple); reown-com/a2 #94"),
    reason("PayloadEmpty", 400, .message("PayloadEmpty", names: "message")),
    reason("PayloadTooLarge", 413, .message("PayloadTooLarge", names: "message")),
    // The request as Zonai built it: alike for every recipient, as a message is.
    reason("BadMessageId", 400, .message("BadMessageId", names: "apns-id")),
    reason("DuplicateHeaders", 400, .message("DuplicateHeaders", names: "request headers")),
    reason(
      "MissingDeviceToken", 400, .message("MissingDeviceToken", names: "request path"),
      narrower: "rows without a token are never sent to, so this is no row's fault"),
    reason(
      "BadPath", 404, .message("BadPath", names: "request path"),
      narrower: "404 is a dead token on FCM, and never here"),
    reason("MethodNotAllowed", 405, .message("MethodNotAllowed", names: "request method")),
  ]

  private static let credentialRows = [
    reason("BadCertificate", 403, .credentials("BadCertificate", names: "apns.keyFile")),
    reason("BadCertificateEnvironment", 403, .credentials("BadCertificateEnvironment", names: "apns.useSandbox")),
    reason(
      "ExpiredProviderToken", 403, .credentials("ExpiredProviderToken", names: "this machine's clock"),
      source: "\(apple); node-apn #450, #496, #590 (a wrong clock)"),
    reason("Forbidden", 403, .credentials("Forbidden", names: "apns.keyFile")),
    reason(
      "InvalidProviderToken", 403,
      .credentials("InvalidProviderToken", names: "apns.keyFile, apns.keyId and apns.teamId"),
      source: "\(apple); ostinelli/apnotic #109 (outbreaks that heal)"),
    reason("MissingProviderToken", 403, .credentials("MissingProviderToken", names: "apns.keyFile")),
    reason("UnrelatedKeyIdInToken", 403, .credentials("UnrelatedKeyIdInToken", names: "apns.keyId")),
    reason(
      "BadEnvironmentKeyIdInToken", 403, .credentials("BadEnvironmentKeyIdInToken", names: "apns.useSandbox")),
    reason(
      "BadEnvironmentKeyInToken", 403, .credentials("BadEnvironmentKeyInToken", names: "apns.useSandbox"),
      source: "APNSwift PR #229: the spelling on the wire"),
  ]

  private static let serviceRows = [
    reason(
      "TooManyProviderTokenUpdates", 429, .service("TooManyProviderTokenUpdates", slowsLane: true),
      source: "\(apple); Apple developer forums, threads 702056 and 675879"),
    reason("InternalServerError", 500, .service("InternalServerError"), source: "\(apple); jchambers/pushy #408"),
    reason("ServiceUnavailable", 503, .service("ServiceUnavailable")),
    reason(
      "Service Unavailable", 503, .service("ServiceUnavailable"),
      source: "Apple, Handling error responses from APNs (broadcast): with a space"),
    // Answers about the connection: the request was not taken up.
    reason("IdleTimeout", 400, .connection("IdleTimeout")),
    reason("Shutdown", 503, .connection("Shutdown")),
  ]
}
