import Testing

@testable import ZonaiCore

struct FCMVerdictTests {
  @Test(arguments: FCMBodies.all + FCMBodies.others)
  func `each known answer of FCM means what its row says`(_ body: FCMBodies.Case) {
    let verdict = FCMVerdicts.verdict(for: body.answer)
    #expect(verdict.inShort == body.expected)
    #expect(verdict.status == body.answer.status)
    #expect(FCMVerdicts.row(for: body.answer).source.isEmpty == false)
  }

  @Test(arguments: [
    ("UNREGISTERED", "Unregistered", Kind.dead), ("UNREGISTERED", "ExpiredToken", Kind.dead),
    ("UNREGISTERED", "BadDeviceToken", Kind.aboutLane), ("UNREGISTERED", "PayloadTooLarge", Kind.message),
    ("UNREGISTERED", "DeviceTokenNotForTopic", Kind.setting), ("UNREGISTERED", "SolarFlare", Kind.unknown),
    ("INVALID_ARGUMENT", "Unregistered", Kind.tokenNamed), ("INVALID_ARGUMENT", "ExpiredToken", Kind.tokenNamed),
    ("INVALID_ARGUMENT", "BadDeviceToken", Kind.aboutLane), ("INVALID_ARGUMENT", "BadPriority", Kind.message),
    ("INVALID_ARGUMENT", "TopicDisallowed", Kind.setting), ("INVALID_ARGUMENT", "InvalidProviderToken", Kind.setting),
    ("INVALID_ARGUMENT", "BadEnvironmentKeyInToken", Kind.setting),
    ("INVALID_ARGUMENT", "TooManyRequests", Kind.throttled),
    ("INVALID_ARGUMENT", "InternalServerError", Kind.service), ("INVALID_ARGUMENT", "Shutdown", Kind.service),
    ("INVALID_ARGUMENT", "SolarFlare", Kind.unknown),
    ("THIRD_PARTY_AUTH_ERROR", "Unregistered", Kind.setting), ("SENDER_ID_MISMATCH", "Unregistered", Kind.setting),
    ("SOLAR_FLARE", "Unregistered", Kind.unknown),
  ])
  func `what APNs told FCM is heard under two codes only`(code: String, reason: String, expected: String) {
    let answer = FCMBodies.json(
      code == "UNREGISTERED" ? 404 : 400, nil, FCMBodies.generic, code: code, apns: FCMBodies.apns(410, reason))
    #expect(FCMVerdicts.verdict(for: answer).inShort == expected)
  }

  @Test func `where FCM and APNs disagree the weaker evidence counts`() {
    let dead = FCMBodies.apns(410, "Unregistered")
    #expect(FCMVerdicts.verdict(for: FCMBodies.invalid(FCMBodies.invalidToken, apns: dead)).evidence == .tokenNamed)
    #expect(FCMVerdicts.verdict(for: FCMBodies.invalid("message is too big", apns: dead)).inShort == Kind.message)
    let ttl = [FCMAnswer.FieldViolation(field: "message.android.ttl")]
    #expect(FCMVerdicts.verdict(for: FCMBodies.invalid("bad", ttl, apns: dead)).inShort == Kind.message)
    let bad = FCMBodies.invalid(FCMBodies.invalidToken, apns: FCMBodies.apns(400, "BadDeviceToken"))
    #expect(FCMVerdicts.verdict(for: bad).evidence == .aboutLane)
  }

  @Test(arguments: ["Unregistered", "ExpiredToken", "BadDeviceToken"], ["UNREGISTERED", "INVALID_ARGUMENT"])
  func `a live-activity token's death prunes no registration`(reason: String, code: String) {
    let apns = FCMBodies.apns(410, reason)
    let sent = FCMBodies.json(404, nil, "Requested entity was not found.", code: code, apns: apns, liveActivity: true)
    #expect(FCMVerdicts.verdict(for: sent).inShort == Kind.setting)
    let told = FCMBodies.json(404, nil, "The live activity token is not valid.", code: code, apns: apns)
    #expect(FCMVerdicts.verdict(for: told).inShort == Kind.setting)
  }

  @Test func `UNREGISTERED without a word of APNs is the registration's, whatever the message carried`() {
    let plain = FCMBodies.json(
      404, "NOT_FOUND", "Requested entity was not found.", code: "UNREGISTERED", liveActivity: true)
    #expect(FCMVerdicts.verdict(for: plain).inShort == Kind.dead)
    let told = FCMBodies.json(404, "NOT_FOUND", "Live activity token is gone.", code: "UNREGISTERED")
    #expect(FCMVerdicts.verdict(for: told).inShort == Kind.setting)
  }

  @Test func `an ApnsError without a reason decides only what its 410 says`() {
    let gone = FCMBodies.json(404, nil, nil, code: "UNREGISTERED", apns: FCMBodies.apns(410, nil))
    #expect(FCMVerdicts.verdict(for: gone).inShort == Kind.dead)
    #expect(FCMVerdicts.verdict(for: FCMBodies.invalid(apns: FCMBodies.apns(410, nil))).inShort == Kind.unknown)
  }

  @Test(arguments: [
    ("message.android.ttl", "message.android.ttl"), ("message.data[3].value", "message.data[3].value"),
  ])
  func `a message fault names the field of its violation`(field: String, names: String) {
    let verdict = FCMVerdicts.verdict(
      for: FCMBodies.invalid("x", [.init(field: "message.token"), .init(field: field)]))
    #expect(verdict.names == names)
    #expect(verdict.about == .message)
  }

  @Test func `reasons are the service's own words`() {
    #expect(FCMVerdicts.verdict(for: FCMBodies.page(502)).reason == "HTTP 502")
    #expect(FCMVerdicts.verdict(for: FCMBodies.page(404)).reason == .notTheService)
    #expect(
      FCMVerdicts.verdict(for: FCMBodies.json(401, "UNAUTHENTICATED", nil, info: "ACCESS_TOKEN_EXPIRED")).reason
        == "ACCESS_TOKEN_EXPIRED")
    #expect(FCMVerdicts.verdict(for: FCMBodies.json(409, "ABORTED", nil)).reason == "ABORTED")
    #expect(FCMVerdicts.verdict(for: FCMBodies.json(418, nil, nil, code: "TEAPOT")).reason == "TEAPOT")
  }

  @Test(
    arguments: [
      (429, nil, nil, Int64?.none, Int64?(60_000)), (429, "120", nil, 120_000, 10_000), (429, "soon", nil, nil, 60_000),
      (503, nil, nil, nil, 10_000), (503, "7", nil, 7000, 10_000),
      (503, "Sun, 06 Nov 1994 08:50:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", 60_000, 10_000),
      (401, nil, nil, nil, nil),
    ] as [(Int, String?, String?, Int64?, Int64?)])
  func `waits are what FCM asks for, and never below its floors`(
    status: Int, retryAfter: String?, date: String?, wait: Int64?, floor: Int64?
  ) {
    var answer = FCMBodies.json(status, nil, nil)
    answer.retryAfter = retryAfter
    answer.date = date
    let verdict = FCMVerdicts.verdict(for: answer)
    #expect(verdict.retryAfterMilliseconds == wait)
    #expect(verdict.retryFloorMilliseconds == floor)
  }

  @Test func `a 429 slows the lane unless it names one device`() {
    #expect(FCMVerdicts.verdict(for: FCMBodies.page(429)).slowsLane)
    #expect(!FCMVerdicts.verdict(for: FCMBodies.json(429, nil, "device rate exceeded")).slowsLane)
    #expect(!FCMVerdicts.verdict(for: FCMBodies.page(503)).slowsLane)
  }

  @Test func `only a gateway's answer may hide a delivery`() {
    #expect(FCMVerdicts.verdict(for: FCMBodies.page(502)).answerMayBeLost)
    #expect(FCMVerdicts.verdict(for: FCMBodies.page(504)).answerMayBeLost)
    #expect(!FCMVerdicts.verdict(for: FCMBodies.page(503)).answerMayBeLost)
  }

  @Test func `no word of the service carries the token on`() {
    let token = String(repeating: "c", count: 22) + ":APA91b" + String(repeating: "x", count: 100)
    let answer = FCMBodies.invalid(
      "Token \(token) is not valid", [.init(field: "message.token", description: "bad \(token)")])
    let verdict = FCMVerdicts.verdict(for: answer)
    #expect(verdict.words?.contains(token) == false)
    let odd = FCMVerdicts.verdict(for: FCMBodies.invalid("Token a'b\"c is bad"), token: ArraySlice("a'b\"c".utf8))
    #expect(odd.words == "Token … is bad")
  }
}
