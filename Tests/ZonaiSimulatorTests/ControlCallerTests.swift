import Testing
import ZonaiJSON
import ZonaiSimulator

/// The control port answers programs on this machine, and no web page that a browser on it shows.
@Suite struct ControlCallerTests {
  private struct Request: CustomTestStringConvertible {
    var what: String
    var method = "GET"
    var path = "/status"
    var headers: [String] = []
    var body: String?
    var code: String

    var testDescription: String { what }
  }

  /// What browsers send for pages that try; PORT stands for the control's.
  private static let refused: [Request] = [
    Request(
      what: "a name that was bound to this machine", headers: ["Host: rebound.example.com:PORT"], code: "foreign_host"),
    Request(what: "a name without a port", headers: ["Host: rebound.example.com"], code: "foreign_host"),
    Request(what: "another port", headers: ["Host: 127.0.0.1:1"], code: "foreign_host"),
    Request(what: "no port", headers: ["Host: 127.0.0.1"], code: "foreign_host"),
    Request(
      what: "a name that begins like loopback", headers: ["Host: 127.0.0.1.example.com:PORT"], code: "foreign_host"),
    Request(what: "an empty host", headers: ["Host;"], code: "foreign_host"),
    Request(
      what: "the inbox, from a page at a rebound name", path: "/inbox", headers: ["Host: rebound.example.com:PORT"],
      code: "foreign_host"),
    Request(
      what: "a key rotated from a rebound name", method: "POST", path: "/credentials",
      headers: ["Host: rebound.example.com:PORT", "content-type: application/json"],
      body: #"{"lane":"fcm","action":"rotate"}"#, code: "foreign_host"),
    Request(what: "a page elsewhere", headers: ["Origin: https://example.com"], code: "foreign_origin"),
    Request(what: "a page without an origin of its own", headers: ["Origin: null"], code: "foreign_origin"),
    Request(what: "a page of another program here", headers: ["Origin: http://127.0.0.1:3000"], code: "foreign_origin"),
    Request(what: "two origins", headers: ["Origin: http://127.0.0.1:PORT", "Origin: null"], code: "foreign_origin"),
    Request(what: "the same over TLS", headers: ["Origin: https://127.0.0.1:PORT"], code: "foreign_origin"),
    Request(
      what: "a fetch that the page cannot read", headers: ["Sec-Fetch-Site: cross-site"], code: "foreign_origin"),
    Request(what: "an image in a page of another port", headers: ["Sec-Fetch-Site: same-site"], code: "foreign_origin"),
    Request(
      what: "a simple request from a page", method: "POST", path: "/faults",
      headers: ["Origin: https://example.com", "content-type: text/plain"], body: #"{"status":500}"#,
      code: "foreign_origin"),
    Request(
      what: "a form", method: "POST", path: "/faults", headers: ["content-type: application/x-www-form-urlencoded"],
      body: #"{"status":500}"#, code: "not_json"),
    Request(
      what: "a form with text", method: "POST", path: "/faults", headers: ["content-type: text/plain"],
      body: #"{"status":500}"#, code: "not_json"),
    Request(
      what: "a form of parts", method: "POST", path: "/devices",
      headers: ["content-type: multipart/form-data; boundary=application/json"],
      body: #"[{"token":"a","state":"uninstalled"}]"#, code: "not_json"),
    Request(
      what: "a body without a type", method: "POST", path: "/credentials", headers: ["content-type:"],
      body: #"{"lane":"apns","action":"rotate"}"#, code: "not_json"),
    Request(
      what: "a type that only begins like it", method: "PUT", path: "/devices/a",
      headers: ["content-type: application/jsonp"], body: #"{"state":"uninstalled"}"#, code: "not_json"),
    Request(
      what: "JSON second", method: "POST", path: "/faults", headers: ["content-type: text/plain;application/json"],
      body: #"{"status":500}"#, code: "not_json"),
    Request(
      what: "two types", method: "POST", path: "/faults",
      headers: ["content-type: application/json", "content-type: text/plain"], body: #"{"status":500}"#,
      code: "not_json"),
    Request(what: "a post with nothing in it", method: "POST", path: "/clock", code: "not_json"),
    Request(
      what: "deleting from a page", method: "DELETE", path: "/inbox", headers: ["Origin: https://example.com"],
      code: "foreign_origin"),
  ]

  private func ask(_ bench: Bench, _ request: Request) async throws -> Heard {
    let port = String(bench.simulator.endpoints.control.split(separator: ":").last ?? "")
    let headers = request.headers.flatMap { ["--header", $0.replacing("PORT", with: port)] }
    return try await bench.curl(
      bench.simulator.endpoints.control + request.path, method: request.method, body: request.body,
      options: ["--http1.1"] + headers)
  }

  @Test func `a web page reads nothing and changes nothing`() async throws {
    try await Bench.with { bench in
      let before = try await bench.simulator.control("GET", "/credentials")
      for request in Self.refused {
        let heard = try await ask(bench, request)
        #expect(heard.json?["error"]?["code"]?.string == request.code, "\(request.what): \(heard)")
        #expect([403, 415].contains(heard.status), "\(request.what): \(heard.status)")
        #expect(heard.headers["access-control-allow-origin"] == nil)
        // The refusal tells what was asked for at most, nothing of what is known here.
        #expect(heard.json?.object?.count == 1)
      }
      #expect(try await bench.simulator.control("GET", "/credentials") == before)
      #expect(try await bench.status("faults") == 0)
      #expect(try await bench.status("devices") == 0)
    }
  }

  @Test func `the question before a cross-site request is not answered with leave`() async throws {
    try await Bench.with { bench in
      let heard = try await bench.curl(
        bench.simulator.endpoints.control + "/devices/a", method: "OPTIONS",
        headers: ["origin": "https://example.com", "access-control-request-method": "PUT"], options: ["--http1.1"])
      #expect(heard.status == 403)
      #expect(!heard.headers.keys.contains { $0.hasPrefix("access-control") })
    }
  }

  @Test func `programs on this machine are answered by every name of it`() async throws {
    try await Bench.with { bench in
      let put = Request(what: "", method: "PUT", path: "/devices/a", body: #"{"state":"active"}"#, code: "")
      for headers in [
        ["content-type: application/json"], ["content-type: Application/JSON; charset=utf-8"],
        ["content-type: application/json", "Host: localhost:PORT"],
        ["content-type: application/json", "Host: LOCALHOST:PORT"],
        ["content-type: application/json", "Host: [::1]:PORT"],
        ["content-type: application/json", "Origin: http://127.0.0.1:PORT", "Sec-Fetch-Site: same-origin"],
        ["content-type: application/json", "Sec-Fetch-Site: none"],
      ] {
        var request = put
        request.headers = headers
        let heard = try await ask(bench, request)
        #expect(heard.status == 200, "\(headers): \(heard)")
      }
      let refusal = try await ask(bench, put)
      #expect(refusal.status == 415)
      #expect(refusal.json?["error"]?["message"]?.string?.contains("content-type: application/json") == true)
    }
  }
}
