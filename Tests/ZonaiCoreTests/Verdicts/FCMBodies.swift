import ZonaiCore

/// The bodies that FCM is known to answer with, decoded; each with what caused it.
enum FCMBodies {
  typealias Case = VerdictCase<FCMAnswer>
  typealias Violation = FCMAnswer.FieldViolation

  static let invalidToken = "The registration token is not a valid FCM registration token"
  static let generic = "Request contains an invalid argument."
  static let unauthenticated = "Request had invalid authentication credentials. Expected OAuth 2 access token"

  static func json(
    _ status: Int, _ serviceStatus: String?, _ message: String?, code: String? = nil,
    apns: FCMAnswer.ApnsError? = nil, violations: [Violation]? = nil, info: String? = nil, quota: [String] = [],
    old: Bool = false, liveActivity: Bool = false
  ) -> FCMAnswer {
    FCMAnswer(
      status: status, body: .service, serviceStatus: serviceStatus, message: message, errorCode: code, apnsError: apns,
      violations: violations, errorInfoReason: info, quotaSubjects: quota, isOldShape: old,
      messageHasLiveActivityToken: liveActivity)
  }

  static func apns(_ status: Int?, _ reason: String?) -> FCMAnswer.ApnsError { .init(status: status, reason: reason) }

  static func invalid(
    _ message: String = generic, _ violations: [Violation]? = nil, apns: FCMAnswer.ApnsError? = nil,
    liveActivity: Bool = false
  ) -> FCMAnswer {
    json(
      400, "INVALID_ARGUMENT", message, code: "INVALID_ARGUMENT", apns: apns, violations: violations,
      liveActivity: liveActivity)
  }

  static func page(_ status: Int) -> FCMAnswer { FCMAnswer(status: status, body: .other) }
  static func empty(_ status: Int) -> FCMAnswer { FCMAnswer(status: status, body: .empty) }

  static let invalidArguments: [Case] = [
    Case("a malformed token", invalid(invalidToken), Kind.tokenNamed),
    Case(
      "a malformed token, older form", invalid(generic, [Violation(field: "message.token")]), Kind.tokenNamed),
    Case(
      "no target given",
      invalid(
        "Recipient of the message is not set.",
        [Violation(field: "message", description: "Recipient of the message is not set.")]), Kind.message),
    Case("a payload too big, older form", json(400, "INVALID_ARGUMENT", generic), Kind.message),
    Case("a payload too big", invalid("Android message is too big", []), Kind.message),
    Case(
      "a dead iOS token as an invalid argument",
      invalid("APNs device token is disabled.", apns: apns(410, "Unregistered")), Kind.tokenNamed),
    Case(
      "an unknown JSON field",
      json(
        400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name \"key\" at 'message': Cannot find field.",
        violations: [Violation(field: "message")]), Kind.message),
    Case(
      "a data value that is no text",
      json(
        400, "INVALID_ARGUMENT", "Invalid value at 'message.data[0].value' (TYPE_STRING), 12",
        violations: [Violation(field: "message.data[0].value")]), Kind.message),
    Case("a reserved data key", json(400, "INVALID_ARGUMENT", "Invalid data payload key: from"), Kind.message),
    Case("a reserved data key, with FcmError", invalid("Invalid data payload key: from"), Kind.message),
    Case(
      "a bad duration",
      json(
        400, "INVALID_ARGUMENT", "Invalid value at 'message.android.ttl'",
        violations: [Violation(field: "message.android.ttl")]), Kind.message),
    Case("an empty aps dictionary, old shape", json(400, "INVALID_ARGUMENT", generic, old: true), Kind.message),
    Case("an apns block without content", invalid(), Kind.namesNothing),
    Case("all iOS sends of a message refused", invalid(), Kind.namesNothing),
  ]

  static let deadOrElsewhere: [Case] = [
    Case(
      "unregistered", json(404, "NOT_FOUND", "Requested entity was not found.", code: "UNREGISTERED"), Kind.dead),
    Case(
      "unregistered, iOS",
      json(
        404, "NOT_FOUND", "Requested entity was not found.", code: "UNREGISTERED", apns: apns(410, "Unregistered")),
      Kind.dead),
    Case("unregistered, another text", json(404, "NOT_FOUND", "NotRegistered", code: "UNREGISTERED"), Kind.dead),
    Case(
      "a token of another sender",
      json(403, "PERMISSION_DENIED", "SenderId mismatch", code: "SENDER_ID_MISMATCH"), Kind.setting),
    Case("a page for the old path", page(404), Kind.foreign),
  ]

  static let credentials: [Case] = [
    Case("no permission", json(403, "PERMISSION_DENIED", "The caller does not have permission"), Kind.credentials),
    Case(
      "no IAM permission, or no such project",
      json(403, "PERMISSION_DENIED", "Permission 'x' denied", info: "IAM_PERMISSION_DENIED"), Kind.credentials),
    Case(
      "the API is disabled",
      json(
        403, "PERMISSION_DENIED",
        "Firebase Cloud Messaging API has not been used in project 1 before or it is disabled."), Kind.credentials),
    Case(
      "the APNs credential in Firebase, short form",
      json(401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service", code: "THIRD_PARTY_AUTH_ERROR"),
      Kind.setting),
    Case(
      "the APNs credential in Firebase, with APNs' reason",
      json(
        401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service", code: "THIRD_PARTY_AUTH_ERROR",
        apns: apns(403, "InvalidProviderToken")), Kind.setting),
    Case(
      "the APNs credential in Firebase, with a text that blames ours",
      json(
        401, "UNAUTHENTICATED", "Request is missing required authentication credential. Expected OAuth 2 access token",
        code: "THIRD_PARTY_AUTH_ERROR"), Kind.setting),
    Case(
      "the APNs key of the other environment",
      json(
        401, "UNAUTHENTICATED", "Auth error", code: "THIRD_PARTY_AUTH_ERROR",
        apns: apns(403, "BadEnvironmentKeyInToken")), Kind.setting),
    Case(
      "the APNs credential in Firebase, with a text that blames ours and APNs' reason",
      json(
        401, "UNAUTHENTICATED", "Request is missing required authentication credential.",
        code: "THIRD_PARTY_AUTH_ERROR", apns: apns(403, "InvalidProviderToken")), Kind.setting),
    Case(
      "our access token expired", json(401, "UNAUTHENTICATED", unauthenticated, info: "ACCESS_TOKEN_EXPIRED"),
      Kind.credentials),
    Case(
      "our access token missing",
      json(
        401, "UNAUTHENTICATED", "Request is missing required authentication credential.", info: "CREDENTIALS_MISSING"),
      Kind.credentials),
    Case("our access token invalid", json(401, "UNAUTHENTICATED", unauthenticated), Kind.credentials),
    Case("401 without a body", empty(401), Kind.foreign),
    Case("a page for a topic call", page(401), Kind.foreign),
    Case("plain text of the old endpoint", page(401), Kind.foreign),
  ]

  static let service: [Case] = [
    Case(
      "the topic's quota", json(429, "RESOURCE_EXHAUSTED", "Topic quota exceeded.", code: "QUOTA_EXCEEDED"),
      Kind.service),
    Case("the project's rate", json(429, "RESOURCE_EXHAUSTED", "Quota exceeded."), Kind.service),
    Case("internal", json(500, "INTERNAL", "Internal error encountered.", code: "INTERNAL"), Kind.service),
    Case(
      "unavailable", json(503, "UNAVAILABLE", "The service is currently unavailable.", code: "UNAVAILABLE"),
      Kind.service),
    Case("the front end's page", page(502), Kind.service),
  ]

  static let all = invalidArguments + deadOrElsewhere + credentials + service

  /// Not seen, but to be had: where two tellings meet, and where none is known.
  static let others: [Case] = [
    Case("accepted", FCMAnswer(status: 200, body: .service), Kind.delivered),
    Case("200 of another server", page(200), Kind.foreign),
    Case("200 without a body", empty(200), Kind.foreign),
    Case("200 with an error", json(200, "NOT_FOUND", nil, code: "UNREGISTERED"), Kind.unknown),
    Case("302 to a portal", page(302), Kind.foreign),
    Case("403 without a body", empty(403), Kind.foreign),
    Case("a proxy's 403", page(403), Kind.foreign),
    Case("404 without a body", empty(404), Kind.foreign),
    Case("204 without a body", empty(204), Kind.foreign),
    Case("400 as a page", page(400), Kind.foreign),
    Case("408 that holds a code for a dead token", json(408, nil, nil, code: "UNREGISTERED"), Kind.service),
    Case("499 that cancels", json(499, "CANCELLED", nil), Kind.service),
    Case("429 as a page", page(429), Kind.service),
    Case("429 without a body", empty(429), Kind.service),
    Case("429 that holds a code for a dead token", json(429, nil, nil, code: "UNREGISTERED"), Kind.service),
    Case("503 that holds a code for a dead token", json(503, nil, nil, code: "UNREGISTERED"), Kind.service),
    Case(
      "one device's rate, by text",
      json(429, "RESOURCE_EXHAUSTED", "Device message rate exceeded.", code: "QUOTA_EXCEEDED"), Kind.throttled),
    Case(
      "one device's rate, by subject",
      json(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", code: "QUOTA_EXCEEDED", quota: ["device:abc"]),
      Kind.throttled),
    Case(
      "all devices' rate", json(429, "RESOURCE_EXHAUSTED", "Too many messages to devices of this project."),
      Kind.service),
    Case("a quota under another status", json(400, nil, nil, code: "QUOTA_EXCEEDED"), Kind.service),
    Case("unavailable under another status", json(400, nil, nil, code: "UNAVAILABLE"), Kind.service),
    Case("the old name of the APNs credential", json(401, nil, nil, code: "APNS_AUTH_ERROR"), Kind.setting),
    Case("not found, without FcmError", json(404, "NOT_FOUND", "Requested entity was not found."), Kind.aboutLane),
    Case("not found, old shape", json(404, "NOT_FOUND", "Requested entity was not found.", old: true), Kind.unknown),
    Case("a malformed token, old shape", json(400, "INVALID_ARGUMENT", invalidToken, old: true), Kind.message),
    Case("a code that nobody knows", json(400, "INVALID_ARGUMENT", nil, code: "SOLAR_FLARE"), Kind.unknown),
    Case("a code that nobody knows, 401", json(401, "UNAUTHENTICATED", nil, code: "SOLAR_FLARE"), Kind.unknown),
    Case("an error that is not specified", json(400, nil, nil, code: "UNSPECIFIED_ERROR"), Kind.unknown),
    Case("409 in Google's form", json(409, "ABORTED", nil), Kind.unknown),
    Case("400 that is not INVALID_ARGUMENT", json(400, "FAILED_PRECONDITION", nil), Kind.unknown),
    Case(
      "the token's field, and no FcmError",
      json(400, "INVALID_ARGUMENT", nil, violations: [Violation(field: "message.token")]), Kind.unknown),
    Case(
      "the token's field and another",
      invalid(generic, [Violation(field: "message.token"), Violation(field: "message.android.ttl")]), Kind.message),
    Case("a violation of no named field", invalid(generic, [Violation(field: nil)]), Kind.message),
    Case("the other known text", invalid("Invalid registration token"), Kind.tokenNamed),
    Case("a known text in capitals", invalid(invalidToken.uppercased()), Kind.tokenNamed),
    Case(
      "too big, whatever else", invalid("iOS message is too big", [Violation(field: "message.token")]), Kind.message),
    Case("BadRequest that names nothing", invalid(generic, []), Kind.message),
    Case("the text of a disabled token alone", invalid("APNs device token is disabled."), Kind.namesNothing),
  ]
}
