extension FCMVerdicts {
  /// What APNs told FCM, read only under FcmError INVALID_ARGUMENT and UNREGISTERED. The key that APNs refuses is the one in
  /// the Firebase project, so it is never Zonai's credential.
  public static let apnsErrorRows: [VerdictRow<FCMAnswer>] = [
    VerdictRow(
      "ApnsError about a token, and the message or the text speaks of a live-activity token",
      .setting("ApnsError", names: "fcmOverride.apns.live_activity_token"),
      source: "Google, FCM ApnsConfig live_activity_token; LoopFollow #657",
      narrower: "one phone has several tokens; a dead activity says nothing about the registration",
      keepsRawReason: true
    ) { tokenReasons.contains($0.apnsReason) && $0.mayMeanALiveActivity },
    VerdictRow(
      "ApnsError Unregistered or ExpiredToken under INVALID_ARGUMENT", .dead("ApnsError", .tokenNamed),
      source: "public bodies with \"APNs device token is disabled.\"",
      narrower: "the two codes disagree, so the weaker one counts: it needs a witness",
      keepsRawReason: true
    ) { $0.errorCode == "INVALID_ARGUMENT" && ["Unregistered", "ExpiredToken"].contains($0.apnsReason) },
    VerdictRow(
      "ApnsError Unregistered", .dead("Unregistered", .conclusive),
      source: "Apple, Handling notification responses from APNs; public bodies with \"APNs device token is disabled.\""
    ) { $0.apnsReason == "Unregistered" },
    VerdictRow(
      "ApnsError ExpiredToken", .dead("ExpiredToken", .conclusive),
      source: "Apple, Handling notification responses from APNs"
    ) { $0.apnsReason == "ExpiredToken" },
    VerdictRow(
      "ApnsError BadDeviceToken",
      .dead("BadDeviceToken", .aboutLane, names: "APNs environment in the Firebase project"),
      source: "Apple, Handling notification responses from APNs; Apple developer forums, thread 807380",
      narrower: "it may be a good token of the other environment, so it needs a witness"
    ) { $0.apnsReason == "BadDeviceToken" },
    VerdictRow(
      "ApnsError of the kind message (PayloadTooLarge, BadPriority, InvalidPushType …)",
      .message("ApnsError", names: "message.apns"), source: "Apple, Handling notification responses from APNs",
      keepsRawReason: true
    ) { $0.apnsKind?.fault == .message },
    VerdictRow(
      "ApnsError of the kind configuration or credentials (DeviceTokenNotForTopic, InvalidProviderToken …)",
      .setting("ApnsError", names: "APNs key and bundle id in the Firebase project"),
      source: "Apple, Handling notification responses from APNs", keepsRawReason: true
    ) { $0.apnsKind?.fault == .configuration || $0.apnsKind?.fault == .credentials },
    VerdictRow(
      "ApnsError TooManyRequests", .throttled("TooManyRequests"),
      source: "Apple, Handling notification responses from APNs; Google, FCM throttling and quotas"
    ) { $0.apnsReason == "TooManyRequests" },
    VerdictRow(
      "ApnsError of the kind service or connection (InternalServerError, Shutdown …)", .service("ApnsError"),
      source: "Apple, Handling notification responses from APNs", keepsRawReason: true
    ) { $0.apnsKind?.fault == .service || $0.apnsKind?.fault == .connection },
    VerdictRow(
      "ApnsError 410 without a reason, under UNREGISTERED", .dead("UNREGISTERED", .conclusive),
      source: "Google, FCM ErrorCode UNREGISTERED"
    ) {
      $0.apnsError?.reason == nil && $0.apnsError?.status == 410 && $0.errorCode == "UNREGISTERED"
        && !$0.mayMeanALiveActivity
    },
    VerdictRow(
      "any other ApnsError", .unknown("ApnsError"), source: "documented nowhere", keepsRawReason: true
    ) { _ in true },
  ]

  private static let tokenReasons: Set<String> = ["Unregistered", "ExpiredToken", "BadDeviceToken"]

  /// What APNs' own table says of each of its reasons.
  static let kinds: [String: Verdict] = Dictionary(
    APNsVerdicts.rows.filter { !$0.keepsRawReason }.map { ($0.verdict.reason.rawValue, $0.verdict) },
    uniquingKeysWith: { first, _ in first })
}

extension FCMAnswer {
  var apnsReason: String { apnsError?.reason ?? "" }
  /// What the reason means when APNs says it to us.
  var apnsKind: Verdict? { FCMVerdicts.kinds[apnsReason] }
}
