extension FCMVerdicts {
  /// The table, in the order in which it is read. `apnsErrorRows` is read beside it.
  public static let rows: [VerdictRow<FCMAnswer>] =
    [delivered] + shapeRows + codeRows + invalidArgumentRows + frontEndRows + [anythingElse]

  private static let codes = "Google, FCM ErrorCode"
  private static let errors = "Google, FCM error codes"

  static let delivered = VerdictRow<FCMAnswer>(
    "200, JSON with a name", .delivered, source: "Google, FCM discovery document"
  ) { $0.status == 200 && $0.body == .service && $0.errorCode == nil && $0.serviceStatus == nil }

  /// Read before anything inside the body.
  private static let shapeRows: [VerdictRow<FCMAnswer>] = [
    VerdictRow(
      "408, 421 or 425, whatever the body", .service("408"),
      source: "firebase-admin-java #850 (408 under heavy traffic); RFC 9110, sections 15.5.9 and 15.5.20",
      keepsRawReason: true
    ) { PassingStatus.notHandled.contains($0.status) },
    VerdictRow(
      "499, 502 or 504, whatever the body", .service("502", answerMayBeLost: true),
      source:
        "bloomberg/pushiko, fcm_responses.md (a page); RFC 9110, sections 15.6.3 and 15.6.5; google.rpc CANCELLED",
      keepsRawReason: true
    ) { PassingStatus.mayBeHandled.contains($0.status) },
    VerdictRow(
      "429, text or quota subject names the device", .throttled("QUOTA_EXCEEDED"),
      source: "Google, FCM throttling and quotas; \(codes) QUOTA_EXCEEDED", keepsRawReason: true
    ) { $0.isAboutQuota && (400...499).contains($0.status) && $0.namesTheDevice },
    VerdictRow(
      "429 or FcmError QUOTA_EXCEEDED, whatever else the body", .service("QUOTA_EXCEEDED", slowsLane: true),
      source: "\(codes) QUOTA_EXCEEDED; binwiederhier/ntfy #288; mozilla-services/autopush-rs #807",
      keepsRawReason: true
    ) { $0.status == 429 || $0.carries("QUOTA_EXCEEDED") },
    VerdictRow(
      "any other 5xx, whatever the body (INTERNAL, UNAVAILABLE)", .service("5xx"),
      source: "\(codes) INTERNAL, UNAVAILABLE; bloomberg/pushiko, fcm_responses.md", keepsRawReason: true
    ) { (500...599).contains($0.status) },
    VerdictRow(
      "401 or 403, empty body", .foreign("HTTP 401", names: "fcm.serviceAccount or FCM endpoint"),
      source: "firebase-admin-java #486; ACINQ/phoenix-kmm #118",
      narrower: "seen for single tokens while others were delivered to, so it refuses no credential by itself",
      keepsRawReason: true
    ) { ($0.status == 401 || $0.status == 403) && $0.body == .empty },
    VerdictRow(
      "2xx, not FCM's JSON", .foreign(names: "FCM endpoint", answerMayBeLost: true),
      source: "no public body; captive portals answer so", narrower: "no delivery is believed without a name"
    ) { $0.body != .service && (200...299).contains($0.status) },
    VerdictRow(
      "any other status below 500, not FCM's JSON", .foreign(names: "FCM endpoint"),
      source:
        "firebase-admin-node #1191 and uniqush-push srv/fcm/response.go (404 pages); firebase-admin-go #533 (401 page)",
      narrower: "also for a 404 or a 401: another server, or a front end in trouble, answered"
    ) { $0.body != .service && $0.status < 500 },
  ]

  /// `FcmError` codes other than INVALID_ARGUMENT, wherever they stand among the details.
  private static let codeRows: [VerdictRow<FCMAnswer>] = [
    VerdictRow(
      "401, FcmError THIRD_PARTY_AUTH_ERROR",
      .setting("THIRD_PARTY_AUTH_ERROR", names: "APNs or web push key in the Firebase project"),
      source: "\(codes) THIRD_PARTY_AUTH_ERROR; firebase-ios-sdk #4042; firebase-admin-node #3215 (text blames OAuth)"
    ) { $0.carries("THIRD_PARTY_AUTH_ERROR") },
    VerdictRow(
      "401, FcmError APNS_AUTH_ERROR (old name)",
      .setting("THIRD_PARTY_AUTH_ERROR", names: "APNs or web push key in the Firebase project"),
      source: "firebase-admin-node #678; firebase-admin-java #333"
    ) { $0.carries("APNS_AUTH_ERROR") },
    VerdictRow(
      "403, FcmError SENDER_ID_MISMATCH", .setting("SENDER_ID_MISMATCH", names: "fcm.projectId"),
      source: "\(codes) SENDER_ID_MISMATCH; dcai/airnotifier #211, #219; mattermost #30667",
      narrower: "the token is alive in another project; a wrong project id would empty the table"
    ) { $0.carries("SENDER_ID_MISMATCH") },
    VerdictRow(
      "404, FcmError UNREGISTERED, text speaks of a live-activity token",
      .setting("UNREGISTERED", names: "fcmOverride.apns.live_activity_token"),
      source: "Google, FCM ApnsConfig live_activity_token",
      narrower: "it says nothing about the registration token"
    ) {
      $0.carries("UNREGISTERED") && $0.apnsError == nil && $0.mayMeanALiveActivity && !$0.messageHasLiveActivityToken
    },
    VerdictRow(
      "404, FcmError UNREGISTERED", .dead("UNREGISTERED", .conclusive),
      source: "\(codes) UNREGISTERED; Google, manage FCM registration tokens; firebase-admin-java #972"
    ) { $0.carries("UNREGISTERED") },
    VerdictRow(
      "4xx, FcmError UNAVAILABLE or INTERNAL", .service("UNAVAILABLE"), source: "\(codes) UNAVAILABLE, INTERNAL",
      keepsRawReason: true
    ) { $0.carries("UNAVAILABLE") || $0.carries("INTERNAL") },
    VerdictRow(
      "4xx, FcmError UNSPECIFIED_ERROR", .unknown("UNSPECIFIED_ERROR"), source: "\(codes) UNSPECIFIED_ERROR"
    ) { $0.carries("UNSPECIFIED_ERROR") },
  ]

  /// `FcmError` INVALID_ARGUMENT: the token, the message, or nobody knows.
  private static let invalidArgumentRows: [VerdictRow<FCMAnswer>] = [
    VerdictRow(
      "400, FcmError INVALID_ARGUMENT, text \"too big\"", .message("INVALID_ARGUMENT", names: "message"),
      source: "reown-com/push-server PR #346; firebase-admin-go #580"
    ) { $0.carries("INVALID_ARGUMENT") && $0.says("too big") },
    VerdictRow(
      "400, FcmError INVALID_ARGUMENT, violation of message: recipient not set",
      .message("INVALID_ARGUMENT", names: "message"), source: "bloomberg/pushiko, fcm_responses.md",
      narrower: "rows without a token are never sent to, so the message lost its target, not the row"
    ) { $0.carries("INVALID_ARGUMENT") && $0.violatesAnotherField && $0.says("recipient of the message is not set") },
    VerdictRow(
      "400, FcmError INVALID_ARGUMENT, violation of another field than the token",
      .message("INVALID_ARGUMENT", names: "message"), source: "\(errors), example 1"
    ) { $0.carries("INVALID_ARGUMENT") && $0.violatesAnotherField },
    VerdictRow(
      "400, FcmError INVALID_ARGUMENT, violation of message.token", .dead("INVALID_ARGUMENT", .tokenNamed),
      source: "bloomberg/pushiko, fcm_responses.md",
      narrower: "Google: remove it when the payload is surely valid. A witness makes sure"
    ) { $0.carries("INVALID_ARGUMENT") && $0.violatesTheTokenOnly },
    VerdictRow(
      "400, FcmError INVALID_ARGUMENT, text: not a valid FCM registration token, or invalid registration token",
      .dead("INVALID_ARGUMENT", .tokenNamed),
      source: "\(errors), example 2; firebase-admin-java #1064; async-firebase #15",
      narrower: "Google: remove it when the payload is surely valid. A witness makes sure"
    ) { $0.carries("INVALID_ARGUMENT") && $0.namesTheToken },
    VerdictRow(
      "400, FcmError INVALID_ARGUMENT, BadRequest without violations",
      .message("INVALID_ARGUMENT", names: "message"), source: "reown-com/push-server PR #346; firebase-admin-go #580"
    ) { $0.carries("INVALID_ARGUMENT") && $0.violations != nil },
    VerdictRow(
      "400, FcmError INVALID_ARGUMENT, text: invalid data payload key",
      .message("INVALID_ARGUMENT", names: "message.data"), source: "beste/firebase-php #574"
    ) { $0.carries("INVALID_ARGUMENT") && $0.says("invalid data payload key") },
    VerdictRow(
      "400, FcmError INVALID_ARGUMENT and nothing else", .dead("INVALID_ARGUMENT", .namesNothing),
      source: "\(codes) INVALID_ARGUMENT; firebase-admin-node #1694 (a message fault that hit one platform)",
      narrower: "needs a witness in the same job, and never prunes where the platform is unknown"
    ) { $0.carries("INVALID_ARGUMENT") },
  ]
}
