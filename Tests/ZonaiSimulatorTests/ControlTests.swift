import Testing
import ZonaiJSON
import ZonaiSimulator

/// The control port, by curl over plain HTTP.
@Suite struct ControlTests {
  private func ask(
    _ bench: Bench, _ method: String, _ path: String, _ body: String? = nil, options: [String] = ["--http1.1"]
  ) async throws -> Heard {
    try await bench.curl(
      bench.simulator.endpoints.control + path, method: method,
      headers: body == nil ? [:] : ["content-type": "application/json"], body: body, options: options)
  }

  @Test func `each mistake is refused with a code and changes nothing`() async throws {
    try await Bench.with { bench in
      let token = apnsToken(1)
      let cases: [(String, String, String?, Int, String)] = [
        ("PUT", "/devices/abc", #"{"state":"otherTopic"}"#, 400, "state_unknown_to_lane"),
        ("PUT", "/devices/abc", #"{"state":"otherEnvironment"}"#, 400, "state_unknown_to_lane"),
        ("PUT", "/devices/abc", #"{"state":"expired"}"#, 400, "state_unknown_to_lane"),
        ("PUT", "/devices/" + token, #"{"state":"otherProject"}"#, 400, "state_unknown_to_lane"),
        ("PUT", "/devices/abc", #"{"state":"gone"}"#, 400, "bad_field"),
        ("PUT", "/devices/abc", "{}", 400, "bad_field"),
        ("PUT", "/devices/abc", #"{"state":"active","sinse":1}"#, 400, "unknown_field"),
        ("PUT", "/devices/abc", #"{"state":"active","since":"now"}"#, 400, "bad_field"),
        ("PUT", "/devices/abc", "[]", 400, "bad_body"),
        ("PUT", "/devices/abc", "{", 400, "bad_json"),
        ("PUT", "/devices/abc", "", 400, "bad_json"),
        ("PATCH", "/devices/abc", "{}", 405, "bad_method"),
        ("GET", "/devices/abc", nil, 404, "not_registered"),
        (
          "POST", "/devices", #"[{"token":"a","state":"active"},{"token":"b","state":"otherTopic"}]"#, 400,
          "state_unknown_to_lane"
        ),
        ("POST", "/devices", #"[{"state":"active"}]"#, 400, "bad_field"),
        ("POST", "/devices", "{}", 400, "bad_body"),
        ("POST", "/faults", "{}", 400, "no_effect"),
        ("POST", "/faults", #"{"action":"explode"}"#, 400, "bad_field"),
        ("POST", "/faults", #"{"status":99}"#, 400, "bad_field"),
        ("POST", "/faults", #"{"status":500,"times":0}"#, 400, "bad_field"),
        ("POST", "/faults", #"{"body":"x"}"#, 400, "bad_field"),
        ("POST", "/faults", #"{"status":500,"token":"a","prefix":"b"}"#, 400, "bad_field"),
        ("POST", "/faults", #"{"action":"reset","errorCode":"WHATEVER"}"#, 400, "bad_field"),
        ("POST", "/faults", #"{"status":500,"tokens":"a"}"#, 400, "unknown_field"),
        ("POST", "/clock", "{}", 400, "bad_body"),
        ("POST", "/clock", #"{"advanceMs":1,"now":2}"#, 400, "bad_body"),
        ("POST", "/credentials", "{}", 400, "bad_field"),
        ("POST", "/credentials", #"{"lane":"apns","action":"expire"}"#, 400, "bad_field"),
        ("POST", "/credentials", #"{"lane":"fcm","action":"revoke","keyId":"x"}"#, 400, "bad_field"),
        ("POST", "/credentials", #"{"lane":"fcm","providerTokenSeconds":1}"#, 400, "unknown_field"),
        ("GET", "/inbox?limit=many", nil, 400, "bad_field"),
        ("GET", "/inbox?lanes=fcm", nil, 400, "unknown_field"),
        ("GET", "/nowhere", nil, 404, "no_such_request"),
      ]
      for (method, path, body, status, code) in cases {
        let heard = try await ask(bench, method, path, body)
        #expect(heard.status == status && heard.json?["error"]?["code"]?.string == code, "\(method) \(path): \(heard)")
        #expect(heard.json?["error"]?["message"]?.string?.isEmpty == false)
      }
      #expect(try await bench.status("devices") == 0)
      #expect(try await bench.status("faults") == 0)
    }
  }

  @Test func `devices are registered one by one and by the thousand`() async throws {
    try await Bench.with { bench in
      // A token with a quote, a space, a slash and a percent sign, as it stands in a URL.
      let odd = try await ask(bench, "PUT", "/devices/a%22%20%2F%25", #"{"state":"uninstalled","since":5}"#)
      #expect(odd.json == ["lane": "fcm", "state": "uninstalled", "since": 5])
      #expect(try await ask(bench, "GET", "/devices/a%22%20%2F%25").json?["since"] == 5)
      let many = (0..<20_000).map { #"{"token":"\#(apnsToken($0))","state":"uninstalled"}"# }.joined(separator: ",")
      #expect(try await ask(bench, "POST", "/devices", "[\(many)]").json == ["registered": 20_000])
      #expect(try await bench.status("devices") == 20_001)
      #expect(try await bench.push(apnsToken(19_999), jwt: bench.providerToken()).reason == "Unregistered")
      #expect(try await ask(bench, "DELETE", "/devices").status == 200)
      #expect(try await bench.status("devices") == 0)
    }
  }

  @Test func `the inbox shows the newest, keeps within its bounds and counts the rest`() async throws {
    var options = SimulatorOptions()
    options.inboxCapacity = 3
    try await Bench.with(options) { bench in
      let access = try await bench.accessToken()
      for token in ["a", "b", "a", "c", "d"] {
        #expect(try await bench.send(#"{"message":{"token":"\#(token)"}}"#, accessToken: access).status == 200)
      }
      func tokens(_ query: String) async throws -> [String?]? {
        try await ask(bench, "GET", "/inbox" + query).json?["messages"]?.array?.map { $0["token"]?.string }
      }
      #expect(try await tokens("") == ["a", "c", "d"])
      #expect(try await tokens("?limit=2") == ["c", "d"])
      #expect(try await tokens("?limit=0") == [])
      #expect(try await tokens("?token=a&lane=fcm") == ["a"])
      #expect(try await tokens("?lane=apns") == [])
      let counts = try await bench.status("inbox")
      #expect(counts == ["total": 5, "kept": 3, "recipients": 4, "repeated": 1])
      #expect(try await ask(bench, "DELETE", "/inbox").status == 200)
      #expect(try await bench.status("inbox") == ["total": 0, "kept": 0, "recipients": 0, "repeated": 0])
    }
  }

  @Test func `HTTP/1.1 in its usual forms is understood`() async throws {
    try await Bench.with { bench in
      let body = #"{"state":"active"}"#
      let forms: [[String]] = [
        ["--header", "transfer-encoding: chunked"], ["--header", "Expect: 100-continue"], ["--http1.0"],
        ["--header", "connection: close"],
      ]
      for form in forms {
        #expect(try await ask(bench, "PUT", "/devices/a", body, options: form).status == 200, "\(form)")
      }
      let url = bench.simulator.endpoints.control + "/status"
      let reused = try await Program.run(
        "/usr/bin/curl",
        ["--silent", "--output", "/dev/null", "--output", "/dev/null", "--write-out", "%{num_connects} ", url, url],
        in: bench.directory)
      #expect(reused.output == "1 0 ")
      #expect(try await ask(bench, "HEAD", "/status", options: ["--head"]).status == 404)
      let twice = try await ask(
        bench, "GET", "/status", options: ["--header", "content-length: 1", "--header", "transfer-encoding: chunked"])
      #expect(twice.status == 400)
    }
  }

  @Test func `the clock is turned, set and put right again`() async throws {
    try await Bench.with { bench in
      let set = try await ask(bench, "POST", "/clock", #"{"now":1700000000000}"#)
      #expect((1_700_000_000_000...1_700_000_060_000).contains(set.json?["now"]?.integer ?? 0))
      let access = try await ask(bench, "POST", "/clock", #"{"reset":true}"#)
      #expect(access.json?["offsetMs"] == 0)
      #expect(try await ask(bench, "POST", "/clock", #"{"advanceMs":-5000}"#).json?["offsetMs"] == -5000)
    }
  }
}
