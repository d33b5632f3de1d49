import Testing
import ZonaiJSON

struct ClassifyTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var service: String
    var status: Int
    var body: String
    var headers: [String] = []
    var verdict: String
    var fault: String?
    var evidence: String?
    var about: String?
    var reason: String

    var testDescription: String { "\(service) \(status) \(body.prefix(60))" }
  }

  private static func fcm(_ code: String, _ status: String, detail: String = "") -> String {
    #"{"error":{"code":\#(code),"message":"m","status":"\#(status)","details":[\#(detail)]}}"#
  }

  private static func fcmError(_ code: String) -> String {
    #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
  }

  static let cases: [Case] =
    [
      Case(
        service: "fcm", status: 200, body: #"{"name":"projects/p/messages/1"}"#, verdict: "delivered",
        reason: "delivered"),
      Case(
        service: "fcm", status: 404, body: fcm("404", "NOT_FOUND", detail: fcmError("UNREGISTERED")),
        verdict: "permanentlyRejected", fault: "recipient", evidence: "conclusive", about: "token",
        reason: "UNREGISTERED"),
      Case(
        service: "fcm", status: 400, body: fcm("400", "INVALID_ARGUMENT", detail: fcmError("INVALID_ARGUMENT")),
        verdict: "permanentlyRejected", fault: "recipient", evidence: "circumstantial", about: "message",
        reason: "INVALID_ARGUMENT"),
      Case(
        service: "fcm", status: 404, body: "<html>not here</html>", verdict: "transientlyFailed", fault: "service",
        reason: "notTheService"),
      Case(
        service: "fcm", status: 401, body: "", verdict: "transientlyFailed", fault: "service", reason: "HTTP 401"),
      Case(
        service: "fcm", status: 503, body: "", headers: ["Retry-After: 30"], verdict: "transientlyFailed",
        fault: "service", reason: "HTTP 503"),
      Case(service: "apns", status: 200, body: "", verdict: "delivered", reason: "delivered"),
      Case(
        service: "apns", status: 200, body: "<html>welcome</html>", verdict: "transientlyFailed", fault: "service",
        reason: "notTheService"),
      Case(
        service: "apns", status: 410, body: #"{"reason":"Unregistered","timestamp":1767225600000}"#,
        verdict: "permanentlyRejected", fault: "recipient", evidence: "conclusive", about: "token",
        reason: "Unregistered"),
      Case(
        service: "apns", status: 410, body: "", headers: ["apns-id: 9F0A"], verdict: "permanentlyRejected",
        fault: "recipient", evidence: "conclusive", about: "token", reason: "HTTP 410"),
      Case(
        service: "apns", status: 400, body: #"{"reason":"BadDeviceToken"}"#, verdict: "permanentlyRejected",
        fault: "recipient", evidence: "circumstantial", about: "lane", reason: "BadDeviceToken"),
      Case(
        service: "apns", status: 403, body: #"{"reason":"InvalidProviderToken"}"#, verdict: "jobFails",
        fault: "credentials", about: "lane", reason: "InvalidProviderToken"),
      Case(
        service: "apns", status: 413, body: #"{"reason":"PayloadTooLarge"}"#, verdict: "jobFails", fault: "message",
        about: "message", reason: "PayloadTooLarge"),
      Case(
        service: "apns", status: 400, body: #"{"reason":"DeviceTokenNotForTopic"}"#, verdict: "transientlyFailed",
        fault: "configuration", about: "lane", reason: "DeviceTokenNotForTopic"),
      Case(
        service: "apns", status: 418, body: #"{"reason":"Teapot"}"#, verdict: "transientlyFailed", fault: "unknown",
        reason: "Teapot"),
    ] + passing

  /// Statuses that speak about the moment: whatever the body says, the recipient is tried again.
  static let passing: [Case] = ["fcm", "apns"].flatMap { service in
    [408, 421, 425, 429, 499, 500, 502, 503, 504, 599].flatMap { status in
      ["", "<html>408. That’s an error.</html>", #"{"message":"slow down"}"#].map { body in
        Case(
          service: service, status: status, body: body, verdict: "transientlyFailed", fault: "service",
          reason: "HTTP \(status)")
      }
    }
  }

  @Test(arguments: cases)
  func `an answer is told as the fields that a program branches on`(_ answer: Case) async throws {
    let headers = answer.headers.flatMap { ["--header", $0] }
    let ending = try await Shell.run(
      ["classify", answer.service, "--status", "\(answer.status)", "--json"] + headers, input: answer.body)
    #expect(ending.code == 0)
    #expect(ending.errors.isEmpty)
    let json = try ending.json
    #expect(json["verdict"]?.string == answer.verdict)
    #expect(json["fault"] == answer.fault.map { .string($0) } ?? .null)
    #expect(json["evidence"] == answer.evidence.map { .string($0) } ?? .null)
    #expect(json["about"] == answer.about.map { .string($0) } ?? .null)
    #expect(json["reason"]?.string == answer.reason)
    for name in ["retryAfterSeconds", "deadSince"] { #expect(json[name] != nil) }
  }

  @Test(arguments: cases)
  func `as text it is two sentences`(_ answer: Case) async throws {
    let headers = answer.headers.flatMap { ["--header", $0] }
    let ending = try await Shell.run(
      ["classify", answer.service, "--status", "\(answer.status)"] + headers, input: answer.body)
    let lines = ending.output.split(separator: "\n")
    #expect(lines.count == 2)
    for line in lines { #expect(line.hasSuffix(".") && line.first?.isUppercase ?? false || line.contains("'")) }
    #expect(lines[0].contains("row"))
  }

  @Test func `what the service asks for and says comes along`() async throws {
    let busy = try await Shell.run("classify", "fcm", "--status", "429", "--header", "retry-after: 90", "--json")
    #expect(try busy.json["retryAfterSeconds"]?.integer == 90)
    let dead = try await Shell.run(
      "classify", "apns", "--status", "410", "--json", input: #"{"reason":"Unregistered","timestamp":1767225600000}"#)
    #expect(try dead.json["deadSince"]?.integer == 1_767_225_600_000)
  }

  @Test func `an answer of another server says what happens when the lane gives no other`() async throws {
    let page = try await Shell.run("classify", "fcm", "--status", "404", "--json", input: "<html>not here</html>")
    #expect(try page.json["faultWhenRepeated"]?.string == "configuration")
    #expect(try page.json["retry"]?.string == "attempts")
    let text = try await Shell.run("classify", "fcm", "--status", "404", input: "<html>not here</html>").output
    #expect(text.contains("tried again") && text.contains("FCM endpoint"))
    let busy = try await Shell.run("classify", "fcm", "--status", "408", "--json")
    #expect(try busy.json["faultWhenRepeated"] == .null)
  }

  @Test(arguments: [(1_767_225_600_000, "permanentlyRejected"), (1_767_225_600_001, "transientlyFailed")])
  func `a row that was registered after its token died is kept`(lastSeen: Int, verdict: String) async throws {
    let ending = try await Shell.run(
      "classify", "apns", "--status", "410", "--last-seen", "\(lastSeen)", "--json",
      input: #"{"reason":"Unregistered","timestamp":1767225600000}"#)
    #expect(try ending.json["verdict"]?.string == verdict)
  }

  @Test(arguments: [
    (["classify"], "fcm or apns is missing"),
    (["classify", "gcm", "--status", "200"], "'gcm' is no service that is known: say fcm or apns"),
    (["classify", "fcm"], "--status N is missing"),
    (["classify", "fcm", "--status", "99"], "--status wants a whole number, 100 to 599, not '99'"),
    (["classify", "fcm", "--status", "200", "--header", "x"], "--header wants 'name: value', not 'x'"),
  ])
  func `what cannot be classified is refused`(words: [String], sentence: String) async throws {
    let ending = try await Shell.run(words + ["--json"])
    #expect(ending.code == 2)
    #expect(ending.failure.message == sentence)
    #expect(ending.output.isEmpty)
  }
}
