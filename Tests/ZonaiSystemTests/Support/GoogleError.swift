import ZonaiJSON

/// Error bodies of FCM's, as they were seen in the wild.
enum GoogleError {
  /// A fault with FCM's body: its own code, when there is one, and whatever else stands among the details.
  static func fault(
    prefix: String? = nil, token: String? = nil, _ status: Int64, _ code: String, _ message: String,
    fcmError: String? = nil, details: [JSON] = []
  ) -> JSON {
    var details = details
    if let fcmError {
      details.append([
        "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(fcmError),
      ])
    }
    var error: [String: JSON] = ["code": .integer(status), "message": .string(message), "status": .string(code)]
    if !details.isEmpty { error["details"] = .array(details) }
    var fault: [String: JSON] = ["lane": "fcm", "status": .integer(status), "body": ["error": .object(error)]]
    if let prefix { fault["prefix"] = .string(prefix) }
    if let token { fault["token"] = .string(token) }
    return .object(fault)
  }

  /// Which fields are wrong; none of them named when the list is empty.
  static func badRequest(_ fields: String...) -> JSON {
    var detail: [String: JSON] = ["@type": "type.googleapis.com/google.rpc.BadRequest"]
    if !fields.isEmpty {
      detail["fieldViolations"] = .array(fields.map { ["field": .string($0), "description": "Invalid value"] })
    }
    return .object(detail)
  }

  /// What APNs told FCM.
  static func apnsError(_ status: Int64, _ reason: String) -> JSON {
    [
      "@type": "type.googleapis.com/google.firebase.fcm.v1.ApnsError", "statusCode": .integer(status),
      "reason": .string(reason),
    ]
  }
}
