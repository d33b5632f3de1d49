import ZonaiHTTP
import ZonaiJSON

/// Why FCM refuses a request: the parts of Google's error body.
struct FCMRefusal: Error {
  var status: Int
  var code: String
  var message: String
  /// FCM's own word, in the detail FcmError; nil when Google's front end speaks.
  var fcmError: String?
  /// The detail BadRequest; an empty list stands for one that names nothing.
  var violations: [(field: String?, description: String)]?
  var errorInfo: JSON?
  var quotaSubject: String?
  var retryAfterSeconds: Int64?

  init(_ status: Int, _ code: String, _ message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  /// `isOldForm`: as Google answers who does not ask for the second form of errors.
  func reply(at clock: SimulatorClock, isOldForm: Bool = false) -> Reply {
    var error: [String: JSON] = [
      "code": .integer(Int64(status)), "message": .string(message), "status": .string(code),
    ]
    if isOldForm {
      error["errors"] = [["message": .string(message), "domain": "global", "reason": .string(oldReason)]]
    } else if !details.isEmpty {
      error["details"] = .array(details)
    }
    let headers = retryAfterSeconds.map { [ServerHeader("retry-after", String($0))] } ?? []
    return GoogleAnswer.json(
      status, ["error": .object(error)], label: "\(status) \(fcmError ?? code)", headers: headers, at: clock)
  }

  private var details: [JSON] {
    var details: [JSON] = []
    if let errorInfo { details.append(errorInfo) }
    if let violations { details.append(Self.badRequest(violations)) }
    if let fcmError {
      details.append([
        "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(fcmError),
      ])
    }
    if let quotaSubject {
      details.append([
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [["subject": .string(quotaSubject), "description": .string(message)]],
      ])
    }
    return details
  }

  /// The word of the old form, which follows the status.
  private var oldReason: String {
    switch status {
    case 400: "badRequest"
    case 401: "authError"
    case 403: "forbidden"
    case 404: "notFound"
    case 429: "rateLimitExceeded"
    default: "backendError"
    }
  }

  private static func badRequest(_ violations: [(field: String?, description: String)]) -> JSON {
    var detail: [String: JSON] = ["@type": "type.googleapis.com/google.rpc.BadRequest"]
    if !violations.isEmpty {
      detail["fieldViolations"] = .array(
        violations.map { violation in
          var object: [String: JSON] = ["description": .string(violation.description)]
          if let field = violation.field { object["field"] = .string(field) }
          return .object(object)
        })
    }
    return .object(detail)
  }
}

/// The answers that were seen in the wild, word for word.
extension FCMRefusal {
  static func fcm(_ status: Int, _ code: String, _ message: String, _ fcmError: String) -> FCMRefusal {
    var refusal = FCMRefusal(status, code, message)
    refusal.fcmError = fcmError
    return refusal
  }

  /// The shape of the JSON is wrong: Google's front end says so, and names a field unless it cannot.
  static func shape(_ message: String, field: String?) -> FCMRefusal {
    var refusal = FCMRefusal(400, "INVALID_ARGUMENT", message)
    refusal.violations = [(field, message)]
    return refusal
  }

  static let malformedToken = fcm(
    400, "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token", "INVALID_ARGUMENT")
  static let unregistered = fcm(404, "NOT_FOUND", "Requested entity was not found.", "UNREGISTERED")
  static let otherSender = fcm(403, "PERMISSION_DENIED", "SenderId mismatch", "SENDER_ID_MISMATCH")

  static func noRecipient() -> FCMRefusal {
    let message = "Recipient of the message is not set."
    var refusal = fcm(400, "INVALID_ARGUMENT", message, "INVALID_ARGUMENT")
    refusal.violations = [("message", message)]
    return refusal
  }

  static func tooBig() -> FCMRefusal {
    var refusal = fcm(400, "INVALID_ARGUMENT", "Android message is too big", "INVALID_ARGUMENT")
    refusal.violations = []
    return refusal
  }

  static func reservedKey(_ key: String) -> FCMRefusal {
    fcm(400, "INVALID_ARGUMENT", "Invalid data payload key: \(key)", "INVALID_ARGUMENT")
  }

  static func throttled(_ device: Device) -> FCMRefusal {
    var refusal = fcm(429, "RESOURCE_EXHAUSTED", "Device message rate exceeded.", "QUOTA_EXCEEDED")
    refusal.quotaSubject = "device"
    refusal.retryAfterSeconds = device.retryAfterSeconds
    return refusal
  }

  /// Google's 401 with or without the detail that says why.
  static func unauthenticated(reason: String?, isMissing: Bool = false) -> FCMRefusal {
    let begin =
      isMissing
      ? "Request is missing required authentication credential." : "Request had invalid authentication credentials."
    var refusal = FCMRefusal(
      401, "UNAUTHENTICATED",
      begin + " Expected OAuth 2 access token, login cookie or other valid authentication credential. "
        + "See https://developers.google.com/identity/sign-in/web/devconsole-project.")
    refusal.errorInfo = reason.map { info($0, domain: "googleapis.com", serviceMetadata) }
    return refusal
  }

  static func insufficientScope() -> FCMRefusal {
    var refusal = FCMRefusal(
      403, "PERMISSION_DENIED", "Request had insufficient authentication scopes.")
    refusal.errorInfo = info("ACCESS_TOKEN_SCOPE_INSUFFICIENT", domain: "googleapis.com", serviceMetadata)
    return refusal
  }

  static func permissionDenied(project: String) -> FCMRefusal {
    let permission = "cloudmessaging.messages.create"
    var refusal = FCMRefusal(
      403, "PERMISSION_DENIED",
      "Permission '\(permission)' denied on resource '//cloudresourcemanager.googleapis.com/projects/\(project)' "
        + "(or it may not exist).")
    refusal.errorInfo = info(
      "IAM_PERMISSION_DENIED", domain: "cloudresourcemanager.googleapis.com",
      ["permission": .string(permission), "resource": .string("projects/\(project)")])
    return refusal
  }

  private static let serviceMetadata: JSON = [
    "method": "google.firebase.fcm.v1.FcmService.SendMessage", "service": "fcm.googleapis.com",
  ]

  private static func info(_ reason: String, domain: String, _ metadata: JSON) -> JSON {
    [
      "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": .string(reason), "domain": .string(domain),
      "metadata": metadata,
    ]
  }
}
