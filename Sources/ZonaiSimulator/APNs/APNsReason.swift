import ZonaiHTTP

/// Why APNs refuses a request, in its own words and with its own status.
enum APNsReason: String {
  case badCollapseId = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageId = "BadMessageId"
  case badPriority = "BadPriority"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case topicDisallowed = "TopicDisallowed"
  // Apple's page spells it BadEnvironmentKeyIdInToken; this is what was seen on the wire.
  case badEnvironmentKey = "BadEnvironmentKeyInToken"
  case expiredProviderToken = "ExpiredProviderToken"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case unrelatedKeyId = "UnrelatedKeyIdInToken"
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  case expiredToken = "ExpiredToken"
  case unregistered = "Unregistered"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case tooManyRequests = "TooManyRequests"

  var status: Int {
    switch self {
    case .badEnvironmentKey, .expiredProviderToken, .invalidProviderToken, .missingProviderToken, .unrelatedKeyId: 403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    default: 400
    }
  }
}

/// What APNs found wrong.
struct APNsRefusal: Error {
  var reason: APNsReason
  /// Of a 410: since when, in milliseconds.
  var timestamp: Int64?
  var retryAfterSeconds: Int64?

  init(_ reason: APNsReason, timestamp: Int64? = nil, retryAfterSeconds: Int64? = nil) {
    self.reason = reason
    self.timestamp = timestamp
    self.retryAfterSeconds = retryAfterSeconds
  }

  func reply(id: String) -> Reply {
    let body = #"{"reason":"\#(reason.rawValue)"\#(timestamp.map { ",\"timestamp\":\($0)" } ?? "")}"#
    var headers = [ServerHeader("apns-id", id)]
    if let retryAfterSeconds { headers.append(ServerHeader("retry-after", String(retryAfterSeconds))) }
    return Reply(
      response: ServerResponse(status: reason.status, headers: headers, body: Array(body.utf8)),
      label: "\(reason.status) \(reason.rawValue)")
  }
}
