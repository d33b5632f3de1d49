import Testing

@testable import ZonaiCore

struct APNsVerdictTests {
  typealias Case = VerdictCase<APNsAnswer>

  static func reason(_ status: Int, _ reason: String, _ expected: String) -> Case {
    Case("\(status) \(reason)", APNsAnswer(status: status, body: .service, reason: reason, hasID: true), expected)
  }

  static let documented: [Case] = [
    reason(400, "BadCollapseId", Kind.message), reason(400, "BadDeviceToken", Kind.aboutLane),
    reason(400, "BadExpirationDate", Kind.message), reason(400, "BadMessageId", Kind.message),
    reason(400, "BadPriority", Kind.message), reason(400, "BadTopic", Kind.setting),
    reason(400, "DeviceTokenNotForTopic", Kind.setting), reason(400, "DuplicateHeaders", Kind.message),
    reason(400, "IdleTimeout", Kind.notHandled), reason(400, "InvalidPushType", Kind.message),
    reason(400, "MissingDeviceToken", Kind.message), reason(400, "MissingTopic", Kind.setting),
    reason(400, "PayloadEmpty", Kind.message), reason(400, "TopicDisallowed", Kind.setting),
    reason(403, "BadCertificate", Kind.credentials), reason(403, "BadCertificateEnvironment", Kind.credentials),
    reason(403, "ExpiredProviderToken", Kind.credentials), reason(403, "Forbidden", Kind.credentials),
    reason(403, "InvalidProviderToken", Kind.credentials), reason(403, "MissingProviderToken", Kind.credentials),
    reason(403, "UnrelatedKeyIdInToken", Kind.credentials),
    reason(403, "BadEnvironmentKeyIdInToken", Kind.credentials),
    reason(403, "BadEnvironmentKeyInToken", Kind.credentials), reason(404, "BadPath", Kind.message),
    reason(405, "MethodNotAllowed", Kind.message), reason(410, "ExpiredToken", Kind.dead),
    reason(410, "Unregistered", Kind.dead), reason(413, "PayloadTooLarge", Kind.message),
    reason(429, "TooManyProviderTokenUpdates", Kind.service), reason(429, "TooManyRequests", Kind.throttled),
    reason(500, "InternalServerError", Kind.service), reason(503, "ServiceUnavailable", Kind.service),
    reason(503, "Shutdown", Kind.notHandled),
  ]

  static let broadcasts: [Case] = [
    reason(400, "FeatureNotEnabled", Kind.setting), reason(400, "MissingChannelId", Kind.setting),
    reason(400, "BadChannelId", Kind.setting), reason(400, "ChannelNotRegistered", Kind.setting),
    reason(400, "BadRequestParams", Kind.message), reason(400, "BadRequestPayload", Kind.message),
    reason(400, "MissingPushType", Kind.message), reason(400, "CannotCreateChannelConfig", Kind.setting),
    reason(403, "TopicMismatch", Kind.setting), reason(503, "Service Unavailable", Kind.service),
  ]

  static let others: [Case] = [
    Case("accepted", APNsAnswer(status: 200, body: .empty, hasID: true), Kind.delivered),
    Case("200 with a page", APNsAnswer(status: 200, body: .other, hasID: true), Kind.foreign),
    Case("an empty 410 of Apple's", APNsAnswer(status: 410, body: .empty, hasID: true), Kind.dead),
    Case("an empty 410 of a proxy's", APNsAnswer(status: 410, body: .empty), Kind.foreign),
    Case("a page with 410", APNsAnswer(status: 410, body: .other, hasID: true), Kind.foreign),
    Case("an empty 403 of Apple's", APNsAnswer(status: 403, body: .empty, hasID: true), Kind.credentials),
    Case("an empty 413 of Apple's", APNsAnswer(status: 413, body: .empty, hasID: true), Kind.message),
    Case("an empty 400 of Apple's", APNsAnswer(status: 400, body: .empty, hasID: true), Kind.unknown),
    Case("an empty 400 of a proxy's", APNsAnswer(status: 400, body: .empty), Kind.foreign),
    Case("another server's 404", APNsAnswer(status: 404, body: .other), Kind.foreign),
    Case("an empty 408", APNsAnswer(status: 408, body: .empty, hasID: true), Kind.service),
    Case("a page with 421", APNsAnswer(status: 421, body: .other), Kind.service),
    Case("an empty 425", APNsAnswer(status: 425, body: .empty), Kind.service),
    Case("an empty 499", APNsAnswer(status: 499, body: .empty), Kind.service),
    Case("an empty 403 of a proxy's", APNsAnswer(status: 403, body: .empty), Kind.foreign),
    Case("an empty 413 of a proxy's", APNsAnswer(status: 413, body: .empty), Kind.foreign),
    Case("a portal's 302", APNsAnswer(status: 302, body: .other), Kind.foreign),
    Case("an empty 204", APNsAnswer(status: 204, body: .empty), Kind.foreign),
    reason(408, "Unregistered", Kind.service), reason(499, "BadDeviceToken", Kind.service),
    reason(408, "PayloadTooLarge", Kind.service), reason(421, "InvalidProviderToken", Kind.service),
    Case("an empty 429", APNsAnswer(status: 429, body: .empty), Kind.service),
    Case("a page with 429", APNsAnswer(status: 429, body: .other), Kind.service),
    Case("a page with 502", APNsAnswer(status: 502, body: .other), Kind.service),
    reason(400, "ExpiredToken", Kind.dead), reason(400, "Unregistered", Kind.dead),
    reason(403, "BadDeviceToken", Kind.aboutLane), reason(410, "BadDeviceToken", Kind.aboutLane),
    reason(410, "DeviceTokenNotForTopic", Kind.setting), reason(410, "SolarFlare", Kind.unknown),
    reason(403, "SolarFlare", Kind.unknown), reason(400, "SolarFlare", Kind.unknown),
    reason(429, "SolarFlare", Kind.service), reason(500, "SolarFlare", Kind.service),
    reason(429, "Unregistered", Kind.service), reason(503, "Unregistered", Kind.service),
    reason(200, "Unregistered", Kind.unknown), reason(400, "unregistered", Kind.unknown),
    reason(410, "", Kind.unknown),
  ]

  @Test(arguments: documented + broadcasts + others)
  func `each answer of APNs means what its row says`(_ answer: Case) {
    let verdict = APNsVerdicts.verdict(for: answer.answer)
    #expect(verdict.inShort == answer.expected)
    #expect(verdict.status == answer.answer.status)
  }

  @Test func `every documented reason has a row of its own`() {
    for answer in Self.documented + Self.broadcasts {
      let row = APNsVerdicts.row(for: answer.answer)
      #expect(row.answer == answer.name)
      #expect(row.source.contains("Apple") || row.source.contains("APNSwift"))
    }
  }

  @Test(arguments: [
    ("DeviceTokenNotForTopic", "apns.bundleId"), ("BadDeviceToken", "apns.useSandbox"),
    ("BadEnvironmentKeyInToken", "apns.useSandbox"), ("BadCollapseId", "collapseKey"),
    ("BadExpirationDate", "timeToLive"), ("InvalidPushType", "pushType"),
    ("InvalidProviderToken", "apns.keyFile, apns.keyId and apns.teamId"),
  ])
  func `a verdict names the setting or field to look at`(reason: String, names: String) {
    #expect(APNsVerdicts.verdict(for: APNsAnswer(status: 400, body: .service, reason: reason)).names == names)
  }

  @Test func `only a dead token tells since when`() {
    var answer = APNsAnswer(status: 410, body: .service, reason: "Unregistered", timestamp: 1_767_225_600_000)
    #expect(APNsVerdicts.verdict(for: answer).deadSince == 1_767_225_600_000)
    answer.reason = "BadDeviceToken"
    #expect(APNsVerdicts.verdict(for: answer).deadSince == nil)
  }

  @Test(
    arguments: [
      (429, "TooManyRequests", nil, Int64?.none, Int64?(60_000)), (429, "TooManyRequests", "5", 5000, nil),
      (429, "TooManyProviderTokenUpdates", nil, nil, 60_000), (503, "ServiceUnavailable", nil, nil, nil),
      (503, "ServiceUnavailable", "30", 30_000, nil),
    ] as [(Int, String, String?, Int64?, Int64?)])
  func `a 429 without a time waits a minute`(
    status: Int, reason: String, retryAfter: String?, wait: Int64?, floor: Int64?
  ) {
    let verdict = APNsVerdicts.verdict(
      for: APNsAnswer(status: status, body: .service, reason: reason, retryAfter: retryAfter))
    #expect(verdict.retryAfterMilliseconds == wait)
    #expect(verdict.retryFloorMilliseconds == floor)
  }

  @Test func `the raw reason and status are kept of what nobody knows`() {
    let verdict = APNsVerdicts.verdict(for: APNsAnswer(status: 418, body: .service, reason: "SolarFlare"))
    #expect(verdict.reason == "SolarFlare")
    #expect(verdict.status == 418)
    #expect(APNsVerdicts.verdict(for: APNsAnswer(status: 500, body: .empty)).reason == "HTTP 500")
  }
}
