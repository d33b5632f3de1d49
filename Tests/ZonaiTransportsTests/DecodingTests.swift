import Testing
import ZonaiCore

@testable import ZonaiTransports

@Suite struct DecodingTests {
  @Test func `details of FCM are found wherever they stand`() {
    let body = """
      {"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT","details":[{"odd":1},
      {"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.token","description":"d"},{}]},
      {"@type":"type.googleapis.com/google.firebase.fcm.v1.ApnsError","statusCode":410,"reason":"Unregistered"},
      {"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R"},
      {"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"device:x","description":"q"}]},
      {"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}
      """
    let answer = FCMAnswer(status: 400, body: Array(body.utf8), retryAfter: "5", date: "d")
    #expect(
      answer
        == FCMAnswer(
          status: 400, body: .service, serviceStatus: "INVALID_ARGUMENT", message: "m", errorCode: "INVALID_ARGUMENT",
          apnsError: FCMAnswer.ApnsError(status: 410, reason: "Unregistered"),
          violations: [FCMAnswer.FieldViolation(field: "message.token", description: "d"), .init(field: nil)],
          errorInfoReason: "R", quotaSubjects: ["device:x", "q"], retryAfter: "5", date: "d"))
  }

  @Test(arguments: [
    ("", AnswerBody.empty, false), ("<html>", .other, false), ("{}", .other, false), ("[]", .other, false),
    (#"{"error":"text"}"#, .other, false), (#"{"error":{}}"#, .other, false),
    (#"{"error":{"code":403,"message":"Forbidden by the gateway"}}"#, .other, false),
    (#"{"error":{"status":"NOT_FOUND"}}"#, .service, false), (#"{"error":{"details":[]}}"#, .service, false),
    (#"{"error":{"errors":[{}],"message":"m"}}"#, .service, true),
    (#"{"error":{"errors":[{}],"details":[]}}"#, .service, false),
    // More than is kept of a body: cut off, and still FCM's.
    (#"{ "error": {"message": ""# + String(repeating: "x", count: 4096), .service, false),
    (#"{"other": ""# + String(repeating: "x", count: 4096), .other, false),
  ])
  func `the shape of an FCM body`(_ text: String, _ body: AnswerBody, _ isOld: Bool) {
    let answer = FCMAnswer(status: 400, body: Array(text.utf8))
    #expect(answer.body == body)
    #expect(answer.isOldShape == isOld)
  }

  @Test(arguments: [
    ("", AnswerBody.empty), ("<html>", .other), ("{}", .other), (#"{"error":{}}"#, .other), (#"{"name":5}"#, .other),
    (#"{"name":"projects/p/messages/1"}"#, .service),
  ])
  func `a delivery of FCM carries the message's name`(_ text: String, _ body: AnswerBody) {
    #expect(FCMAnswer(status: 200, body: Array(text.utf8)).body == body)
    let inHand = AnswerInHand(status: 200, body: Array(text.utf8))
    #expect((inHand.fcmVerdict == .delivered) == (body == .service))
    #expect((inHand.apnsVerdict == .delivered) == (body == .empty))
  }

  @Test func `both spellings of ApnsError's status are read`() {
    let body =
      #"{"error":{"details":[{"@type":"x/google.firebase.fcm.v1.ApnsError","status_code":403,"reason":"r"}]}}"#
    #expect(FCMAnswer(status: 400, body: Array(body.utf8)).apnsError == .init(status: 403, reason: "r"))
  }

  @Test(
    arguments: [
      ("", AnswerBody.empty, nil, nil), ("<html>", .other, nil, nil), ("{}", .other, nil, nil),
      (#"{"reason":5}"#, .other, nil, nil), (#"{"reason":"Unregistered"}"#, .service, "Unregistered", nil),
      (#"{"reason":"Unregistered","timestamp":1767225600000}"#, .service, "Unregistered", 1_767_225_600_000),
    ] as [(String, AnswerBody, String?, Int64?)])
  func `the shape of an APNs body`(_ text: String, _ body: AnswerBody, _ reason: String?, _ timestamp: Int64?) {
    let answer = APNsAnswer(status: 410, body: Array(text.utf8), hasID: true)
    #expect(answer == APNsAnswer(status: 410, body: body, reason: reason, timestamp: timestamp, hasID: true))
  }

  @Test(
    arguments: [
      (200, #"{"access_token":"t","expires_in":3599,"token_type":"Bearer"}"#, "t", 3599),
      (200, #"{"access_token":"t"}"#, "t", 300), (200, #"{"access_token":"t","expires_in":0}"#, "t", 1),
      (200, #"{"access_token":"t","expires_in":9223372036854775807}"#, "t", 86_400),
      (200, #"{"access_token":"a b"}"#, nil, nil), (200, #"{"access_token":""}"#, nil, nil), (200, "{}", nil, nil),
      (400, #"{"access_token":"t"}"#, nil, nil),
    ] as [(Int, String, String?, Int64?)])
  func `a grant is read`(_ status: Int, _ body: String, _ token: String?, _ seconds: Int64?) {
    switch TokenEndpoint.Reply(status: status, body: Array(body.utf8), retryAfter: nil, date: nil) {
    case .granted(let granted, let life):
      #expect(granted == token)
      #expect(life == seconds)
    case .refused(let answer):
      #expect(token == nil)
      #expect(answer.status == status)
    case .unreachable:
      Issue.record("there was an answer")
    }
  }

  @Test(
    arguments: [
      ("https://fcm.googleapis.com", "fcm.googleapis.com", 443, ""), ("https://127.0.0.1:8443/", "127.0.0.1", 8443, ""),
      ("https://[::1]:99/a/b", "::1", 99, "/a/b"), ("https://[::1]", "::1", 443, ""),
      ("https://Example.COM/x/", "example.com", 443, "/x"),
    ] as [(String, String, UInt16, String)])
  func `an address is read`(_ text: String, _ host: String, _ port: UInt16, _ path: String) throws {
    #expect(try Endpoint(text, setting: "s") == Endpoint(host: host, port: port, path: path))
  }

  @Test(arguments: [
    "http://example.com", "example.com", "https://", "https://:443", "https://a:b", "https://a:0", "https://a:70000",
    "https://user@a", "https://a?b", "https://a#b", "https://a b", "https://a/\u{1}", "https://a/ä",
  ])
  func `what is no address is refused`(_ text: String) {
    #expect(#expect(throws: SetupError.self) { try Endpoint(text, setting: "s") }?.code == .badSetting)
  }
}
