import Testing
import ZonaiCore

@testable import ZonaiTransports

/// Bodies of FCM's and APNs', byte by byte as they were seen, from the bytes to what they mean.
@Suite struct SeenBodyTests {
  struct Seen: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let status: Int
    let body: String
    let means: String

    init(_ name: String, _ status: Int, _ body: String, _ means: String) {
      testDescription = "\(status) \(name)"
      self.status = status
      self.body = body
      self.means = means
    }
  }

  // What a body means, in short: outcome, fault, evidence.
  private static let dead = "permanentlyRejected recipient conclusive"
  private static let tokenNamed = "permanentlyRejected recipient tokenNamed"
  private static let namesNothing = "permanentlyRejected recipient namesNothing"
  private static let aboutLane = "permanentlyRejected recipient aboutLane"
  private static let message = "jobFails message"
  private static let credentials = "jobFails credentials"
  private static let setting = "transientlyFailed configuration"
  private static let service = "transientlyFailed service"
  private static let foreign = "transientlyFailed service, repeated configuration"
  private static let throttled = "transientlyFailed recipient"
  private static let unknown = "transientlyFailed unknown"

  private static func google(_ status: Int, _ code: String, _ text: String, _ details: String...) -> String {
    let list = details.isEmpty ? "" : ",\"details\":[\(details.joined(separator: ","))]"
    return "{\n  \"error\": {\"code\":\(status),\"message\":\"\(text)\",\"status\":\"\(code)\"\(list)}\n}\n"
  }

  private static let type = #""@type":"type.googleapis.com/google"#
  private static func fcm(_ code: String) -> String { #"{\#(type).firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"# }
  private static func apple(_ status: Int, _ reason: String) -> String {
    #"{\#(type).firebase.fcm.v1.ApnsError","statusCode":\#(status),"reason":"\#(reason)"}"#
  }
  private static func field(_ name: String) -> String {
    #"{\#(type).rpc.BadRequest","fieldViolations":[{"field":"\#(name)","description":"Invalid value"}]}"#
  }
  private static let noField = #"{\#(type).rpc.BadRequest"}"#
  private static func info(_ reason: String) -> String {
    #"{\#(type).rpc.ErrorInfo","reason":"\#(reason)","domain":"googleapis.com","metadata":{"service":"fcm.googleapis.com"}}"#
  }

  private static let generic = "Request contains an invalid argument."
  private static let noToken = "Request is missing required authentication credential. Expected OAuth 2 access token."
  private static let badToken = "Request had invalid authentication credentials. Expected OAuth 2 access token."
  private static let thirdParty = "Auth error from APNS or Web Push Service"

  static let fcmBodies: [Seen] = [
    Seen(
      "malformed token", 400,
      google(
        400, "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token",
        fcm("INVALID_ARGUMENT")), tokenNamed),
    Seen(
      "malformed token, older form", 400,
      google(400, "INVALID_ARGUMENT", generic, fcm("INVALID_ARGUMENT"), field("message.token")), tokenNamed),
    Seen(
      "malformed token, the details the other way round", 400,
      google(400, "INVALID_ARGUMENT", generic, field("message.token"), fcm("INVALID_ARGUMENT")), tokenNamed),
    Seen(
      "no target", 400,
      google(
        400, "INVALID_ARGUMENT", "Recipient of the message is not set.", field("message"), fcm("INVALID_ARGUMENT")),
      message),
    Seen("too big, older form", 400, google(400, "INVALID_ARGUMENT", generic), message),
    Seen(
      "too big", 400,
      google(400, "INVALID_ARGUMENT", "Android message is too big", noField, fcm("INVALID_ARGUMENT")), message),
    Seen(
      "unregistered", 404, google(404, "NOT_FOUND", "Requested entity was not found.", fcm("UNREGISTERED")), dead),
    Seen(
      "unregistered, iOS", 404,
      google(
        404, "NOT_FOUND", "Requested entity was not found.", fcm("UNREGISTERED"), apple(410, "Unregistered")), dead),
    Seen(
      "disabled iOS token", 400,
      google(
        400, "INVALID_ARGUMENT", "APNs device token is disabled.", fcm("INVALID_ARGUMENT"), apple(410, "Unregistered")),
      tokenNamed),
    Seen(
      "disabled iOS token under UNREGISTERED", 404,
      google(404, "NOT_FOUND", "APNs device token is disabled.", apple(410, "Unregistered"), fcm("UNREGISTERED")), dead),
    Seen(
      "another sender", 403, google(403, "PERMISSION_DENIED", "SenderId mismatch", fcm("SENDER_ID_MISMATCH")), setting),
    Seen("no permission", 403, google(403, "PERMISSION_DENIED", "The caller does not have permission"), credentials),
    Seen(
      "no IAM permission", 403,
      google(403, "PERMISSION_DENIED", "Permission denied on resource", info("IAM_PERMISSION_DENIED")), credentials),
    Seen(
      "API disabled", 403,
      google(
        403, "PERMISSION_DENIED",
        "Firebase Cloud Messaging API has not been used in project 1 before or it is disabled."), credentials),
    Seen(
      "APNs key in Firebase", 401, google(401, "UNAUTHENTICATED", thirdParty, fcm("THIRD_PARTY_AUTH_ERROR")), setting),
    Seen(
      "APNs key in Firebase, with APNs' reason", 401,
      google(
        401, "UNAUTHENTICATED", thirdParty, fcm("THIRD_PARTY_AUTH_ERROR"), apple(403, "InvalidProviderToken")), setting),
    Seen(
      "APNs key in Firebase, with a text that blames OAuth", 401,
      google(401, "UNAUTHENTICATED", noToken, fcm("THIRD_PARTY_AUTH_ERROR"), apple(403, "InvalidProviderToken")),
      setting),
    Seen(
      "APNs key of the other environment", 401,
      google(
        401, "UNAUTHENTICATED", thirdParty, fcm("THIRD_PARTY_AUTH_ERROR"), apple(403, "BadEnvironmentKeyInToken")),
      setting),
    Seen(
      "access token expired", 401, google(401, "UNAUTHENTICATED", badToken, info("ACCESS_TOKEN_EXPIRED")), credentials),
    Seen(
      "access token missing", 401, google(401, "UNAUTHENTICATED", noToken, info("CREDENTIALS_MISSING")), credentials),
    Seen("access token invalid", 401, google(401, "UNAUTHENTICATED", badToken), credentials),
    Seen("nothing, for some tokens", 401, "", foreign),
    Seen(
      "topic quota", 429, google(429, "RESOURCE_EXHAUSTED", "Topic quota exceeded.", fcm("QUOTA_EXCEEDED")), service),
    Seen("project rate", 429, google(429, "RESOURCE_EXHAUSTED", "Quota exceeded."), service),
    Seen("internal", 500, google(500, "INTERNAL", "Internal error encountered.", fcm("INTERNAL")), service),
    Seen("unavailable", 503, google(503, "UNAVAILABLE", "Unavailable.", fcm("UNAVAILABLE")), service),
    Seen("front end", 502, "<!DOCTYPE html><title>Error 502 (Server Error)!!1</title>", service),
    Seen(
      "unknown field", 400,
      google(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name", field("message")), message),
    Seen(
      "value that is not text", 400,
      google(400, "INVALID_ARGUMENT", "Invalid value at 'message.data[0].value'", field("message.data[0].value")),
      message),
    Seen("reserved key", 400, google(400, "INVALID_ARGUMENT", "Invalid data payload key: from"), message),
    Seen(
      "reserved key, with FcmError", 400,
      google(400, "INVALID_ARGUMENT", "Invalid data payload key: from", fcm("INVALID_ARGUMENT")), message),
    Seen(
      "bad duration", 400,
      google(400, "INVALID_ARGUMENT", "Invalid value at 'message.android.ttl'", field("message.android.ttl")), message),
    Seen(
      "empty aps, old shape", 400,
      #"{"error":{"code":400,"message":"\#(generic)","errors":[{"message":"m","domain":"global","reason":"badRequest"}],"#
        + #""status":"INVALID_ARGUMENT"}}"#, message),
    Seen(
      "not found, old shape", 404,
      #"{"error":{"code":404,"message":"m","errors":[{"reason":"notFound"}],"status":"NOT_FOUND"}}"#, unknown),
    Seen("nothing visible", 400, google(400, "INVALID_ARGUMENT", generic, fcm("INVALID_ARGUMENT")), namesNothing),
    Seen("a page of 401", 401, "<html><title>Unauthorized</title>Error 401</html>", foreign),
    Seen("a page of 404", 404, "<html><title>Error 404 (Not Found)!!1</title></html>", foreign),
    Seen("unregistered, another text", 404, google(404, "NOT_FOUND", "NotRegistered", fcm("UNREGISTERED")), dead),
    Seen("plain text of the old endpoint", 401, "INVALID_KEY", foreign),
    Seen("not found, without FcmError", 404, google(404, "NOT_FOUND", "Requested entity was not found."), aboutLane),
    Seen("a gateway's JSON", 403, #"{"error":{"code":403,"message":"Forbidden"}}"#, foreign),
    Seen("another gateway's JSON", 404, #"{"message":"no Route matched with those values"}"#, foreign),
    Seen("nothing, under load", 408, "", service),
    Seen("a page, under load", 408, "<html>408</html>", service),
  ]

  @Test(arguments: fcmBodies)
  func `a body that FCM was seen to send means what its row says`(_ seen: Seen) {
    #expect(short(AnswerInHand(status: seen.status, body: Array(seen.body.utf8)).fcmVerdict) == seen.means)
  }

  static let apnsBodies: [Seen] = [
    Seen("unregistered", 410, #"{"reason":"Unregistered","timestamp":1767225600000}"#, dead),
    Seen("expired", 410, #"{"reason":"ExpiredToken","timestamp":1767225600000}"#, dead),
    Seen("a reason that is new", 410, #"{"reason":"SolarFlare","timestamp":1767225600000}"#, unknown),
    Seen("bad token", 400, #"{"reason":"BadDeviceToken"}"#, aboutLane),
    Seen("another topic", 400, #"{"reason":"DeviceTokenNotForTopic"}"#, setting),
    Seen("too many to one", 429, #"{"reason":"TooManyRequests"}"#, throttled),
    Seen("a page", 410, "<html>Gone</html>", foreign),
    Seen("another server's JSON", 410, #"{"error":"gone"}"#, foreign),
    Seen("a page, under load", 408, "<html>408</html>", service),
  ]

  @Test(arguments: apnsBodies, [true, false])
  func `a body that APNs was seen to send means what its row says, with its header and without`(
    _ seen: Seen, _ hasID: Bool
  ) {
    let headers = hasID ? ["apns-id": "9F0A"] : [:]
    #expect(
      short(AnswerInHand(status: seen.status, headers: headers, body: Array(seen.body.utf8)).apnsVerdict)
        == seen.means)
  }

  @Test(arguments: [
    (410, dead, foreign), (403, credentials, foreign), (413, message, foreign), (400, unknown, foreign),
    (404, unknown, foreign), (429, service, service), (503, service, service), (408, service, service),
  ])
  func `an empty body of APNs counts by its status only beside apns-id`(
    _ status: Int, _ apples: String, _ anothers: String
  ) {
    #expect(short(AnswerInHand(status: status, headers: ["apns-id": "9F0A"]).apnsVerdict) == apples)
    #expect(short(AnswerInHand(status: status).apnsVerdict) == anothers)
  }

  private func short(_ verdict: Verdict) -> String {
    let evidence = verdict.evidence.map { " \($0)" } ?? ""
    let repeated = verdict.faultWhenRepeated.map { ", repeated \($0)" } ?? ""
    return "\(verdict.outcome) \(verdict.fault.map { "\($0)" } ?? "")\(evidence)\(repeated)"
  }
}
