import Testing
import ZonaiJSON
import ZonaiSimulator

/// FCM and its OAuth endpoint, judged by curl.
@Suite struct FCMTests {
  static let fcmError = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
  static let badRequest = "type.googleapis.com/google.rpc.BadRequest"

  @Test(arguments: [["--http2"], ["--http1.1"]])
  func `a right send is accepted over either protocol`(_ options: [String]) async throws {
    try await Bench.with { bench in
      let token = try await bench.accessToken()
      let heard = try await bench.send(
        #"{"message":{"token":"abc:DEF_-1","notification":{"title":"t"},"data":{"k":"v"},"android":{"collapseKey":"c","ttl":"3.5s","priority":"high"},"apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"badge":1}}}}}"#,
        accessToken: token, options: options)
      #expect(heard.status == 200)
      #expect(heard.version == (options == ["--http2"] ? "2" : "1.1"))
      #expect(heard.json?["name"]?.string?.hasPrefix("projects/\(bench.projectID)/messages/") == true)
      #expect(heard.headers["date"]?.hasSuffix(" GMT") == true)
      let message = try await bench.simulator.control("GET", "/inbox")["messages"]?[0]
      #expect(message?["token"] == "abc:DEF_-1")
      #expect(message?["body"]?["message"]?["data"] == ["k": "v"])
    }
  }

  @Test func `each thing that is wrong with a message has its own body`() async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      func message(_ rest: String) -> String { #"{"message":{"token":"abc",\#(rest)}}"# }
      let invalid = "The registration token is not a valid FCM registration token"
      let ttl =
        "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), Field 'ttl', "
        + "Illegal duration format; duration must end with 's'"
      let unknown = "Invalid JSON payload received. Unknown name \"key\" at 'message': Cannot find field."
      // Body, message, FcmError, field violations.
      let cases: [(String, String, String?, JSON?)] = [
        (#"{"message":{"token":"\#(apnsToken(3))"}}"#, invalid, "INVALID_ARGUMENT", nil),
        (#"{"message":{"token":"quote\"newline\n"}}"#, invalid, "INVALID_ARGUMENT", nil),
        (#"{"message":{}}"#, "Recipient of the message is not set.", "INVALID_ARGUMENT", "message"),
        (#"{"message":{"token":""}}"#, "Recipient of the message is not set.", "INVALID_ARGUMENT", "message"),
        ("{}", "Recipient of the message is not set.", "INVALID_ARGUMENT", "message"),
        (
          message(#""topic":"news""#),
          "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set 'topic'", nil, "message"
        ),
        (message(#""key":1"#), unknown, nil, "message"),
        (
          #"{"massage":{}}"#, "Invalid JSON payload received. Unknown name \"massage\": Cannot find field.", nil, .null
        ),
        (
          message(#""android":{"notification":{"titel":"x"}}"#),
          "Invalid JSON payload received. Unknown name \"titel\" at 'message.android.notification': Cannot find field.",
          nil, "message.android.notification"
        ),
        (
          message(#""data":{"a":12}"#), "Invalid value at 'message.data[0].value' (TYPE_STRING), 12", nil,
          "message.data[0].value"
        ),
        (
          message(#""notification":{"title":true}"#),
          "Invalid value at 'message.notification.title' (TYPE_STRING), true",
          nil, "message.notification.title"
        ),
        (message(#""android":{"ttl":"60"}"#), ttl, nil, "message.android.ttl"),
        (
          message(#""android":{"ttl":"2419201s"}"#), "Request contains an invalid argument.", "INVALID_ARGUMENT",
          "message.android.ttl"
        ),
        (
          message(#""android":{"priority":"urgent"}"#),
          "Invalid value at 'message.android.priority' "
            + "(type.googleapis.com/google.firebase.fcm.v1.AndroidConfig.AndroidMessagePriority), \"urgent\"",
          nil, "message.android.priority"
        ),
        (message(#""data":{"from":"x"}"#), "Invalid data payload key: from", "INVALID_ARGUMENT", nil),
        (message(#""data":{"gcm.x":"x"}"#), "Invalid data payload key: gcm.x", "INVALID_ARGUMENT", nil),
        (message(#""data":{"google":"x"}"#), "Invalid data payload key: google", "INVALID_ARGUMENT", nil),
        (message(#""data":{"message_type":"x"}"#), "Invalid data payload key: message_type", "INVALID_ARGUMENT", nil),
        (
          message(#""data":{"k":"\#(String(repeating: "x", count: 4096))"}"#), "Android message is too big",
          "INVALID_ARGUMENT", false
        ),
      ]
      for (body, text, code, field) in cases {
        let heard = try await bench.send(body, accessToken: access)
        let error = heard.json?["error"]
        #expect(heard.status == 400 && error?["code"] == 400 && error?["status"] == "INVALID_ARGUMENT", "\(text)")
        #expect(error?["message"]?.string == text)
        let details = error?["details"]?.array ?? []
        #expect(details.first { $0["@type"]?.string == Self.fcmError }?["errorCode"]?.string == code, "\(text)")
        let violations = details.first { $0["@type"]?.string == Self.badRequest }
        switch field {
        case nil: #expect(violations == nil, "\(text)")
        // BadRequest without any violation, as FCM says "too big".
        case false: #expect(violations != nil && violations?["fieldViolations"] == nil)
        default: #expect(violations?["fieldViolations"]?[0]?["field"] ?? .null == field, "\(text)")
        }
      }
      let broken = try await bench.send(#"{"message":{"token":"abc"}"#, accessToken: access)
      #expect(broken.status == 400)
      #expect(broken.json?["error"]?["message"]?.string?.hasPrefix("Invalid JSON payload received.") == true)
      let form = try await bench.send(
        message(#""data":{}"#), accessToken: access, headers: ["content-type": "application/x-www-form-urlencoded"])
      #expect(form.status == 400)
      #expect(try await bench.status("inbox", "total") == 0)
    }
  }

  @Test func `what is allowed to its last byte is accepted`() async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      let cases = [
        #"{"message":{"token":"a","data":{"k":"\#(String(repeating: "x", count: 4095))"}}}"#,
        #"{"message":{"token":"\#(String(repeating: "f", count: 63))"}}"#,
        #"{"message":{"token":"a","data":{"notification":"x","collapse_key":"y"},"android":{"ttl":"0s"}}}"#,
        #"{"message":{"token":"a","android":{"ttl":"2419200s","directBootOk":true,"notification":{"notificationCount":"3","vibrate_timings":["1s"]}}}}"#,
        #"{"message":{"topic":"news"},"validate_only":false}"#, #"{"message":{"fid":"abc"}}"#,
        #"{"message":{"token":null,"condition":"'a' in topics"}}"#,
      ]
      for body in cases {
        let heard = try await bench.send(body, accessToken: access)
        #expect(heard.status == 200, "\(body.prefix(80)): \(heard)")
      }
    }
  }

  @Test func `a dry run finds dead tokens and delivers nothing`() async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      let heard = try await bench.send(#"{"message":{"token":"a"},"validate_only":true}"#, accessToken: access)
      #expect(heard.json?["name"]?.string == "projects/\(bench.projectID)/messages/fake_message_id")
      try await bench.simulator.control("PUT", "/devices/a", ["state": "uninstalled"])
      #expect(
        try await bench.send(#"{"message":{"token":"a"},"validateOnly":true}"#, accessToken: access).status == 404)
      #expect(try await bench.status("inbox", "total") == 0)
    }
  }

  @Test func `a device answers by its state`() async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      let states: [(String, Int, String, String, String)] = [
        ("uninstalled", 404, "NOT_FOUND", "Requested entity was not found.", "UNREGISTERED"),
        ("otherProject", 403, "PERMISSION_DENIED", "SenderId mismatch", "SENDER_ID_MISMATCH"),
        ("throttled", 429, "RESOURCE_EXHAUSTED", "Device message rate exceeded.", "QUOTA_EXCEEDED"),
      ]
      for (state, status, code, text, fcmError) in states {
        try await bench.simulator.control("PUT", "/devices/t:1", ["state": .string(state)])
        let heard = try await bench.send(#"{"message":{"token":"t:1"}}"#, accessToken: access)
        let error = heard.json?["error"]
        #expect(heard.status == status)
        #expect(error?["status"]?.string == code && error?["message"]?.string == text)
        #expect(error?["details"]?[0] == ["@type": .string(Self.fcmError), "errorCode": .string(fcmError)])
      }
      try await bench.simulator.control("PUT", "/devices/t:1", ["state": "throttled", "retryAfterSeconds": 7])
      let heard = try await bench.send(#"{"message":{"token":"t:1"}}"#, accessToken: access)
      #expect(heard.headers["retry-after"] == "7")
      try await bench.simulator.control("DELETE", "/devices/t:1")
      #expect(try await bench.send(#"{"message":{"token":"t:1"}}"#, accessToken: access).status == 200)
    }
  }

  @Test func `the access token is judged: missing, unknown, old, too narrow, of another project`() async throws {
    try await Bench.with { bench in
      let body = #"{"message":{"token":"a"}}"#
      func reason(_ heard: Heard) -> String? { heard.json?["error"]?["details"]?[0]?["reason"]?.string }
      let none = try await bench.curl(
        bench.sendURL, headers: ["content-type": "application/json", "x-goog-api-format-version": "2"], body: body)
      #expect(none.status == 401 && reason(none) == "CREDENTIALS_MISSING")
      let garbage = try await bench.send(body, accessToken: "ya29.nonsense")
      #expect(garbage.status == 401 && garbage.json?["error"]?["details"] == nil)
      let access = try await bench.accessToken()
      #expect(try await bench.send(body, accessToken: access).status == 200)
      let wrongProject = try await bench.send(
        body, accessToken: access, url: "\(bench.simulator.endpoints.fcm)/v1/projects/other/messages:send")
      #expect(wrongProject.status == 403 && reason(wrongProject) == "IAM_PERMISSION_DENIED")
      let narrow = try await bench.exchange(
        bench.assertion(["scope": "https://www.googleapis.com/auth/devstorage.read_only"]))
      let scope = try await bench.send(body, accessToken: narrow.json?["access_token"]?.string ?? "")
      #expect(scope.status == 403 && reason(scope) == "ACCESS_TOKEN_SCOPE_INSUFFICIENT")
      try await bench.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "expire"])
      let old = try await bench.send(body, accessToken: access)
      #expect(old.status == 401 && reason(old) == "ACCESS_TOKEN_EXPIRED")
      let fresh = try await bench.accessToken()
      #expect(try await bench.send(body, accessToken: fresh).status == 200)
      try await bench.simulator.control("POST", "/clock", ["advanceMs": 3_600_000])
      #expect(reason(try await bench.send(body, accessToken: fresh)) == "ACCESS_TOKEN_EXPIRED")
    }
  }

  @Test func `who does not ask for the second form of errors gets the first, without details`() async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      try await bench.simulator.control("PUT", "/devices/t:1", ["state": "uninstalled"])
      func error(version: String, query: String = "", token: String = "t:1") async throws -> JSON? {
        try await bench.send(
          #"{"message":{"token":"\#(token)"}}"#, accessToken: access, headers: ["x-goog-api-format-version": version],
          url: bench.sendURL + query
        ).json?["error"]
      }
      let text = "Requested entity was not found."
      for (version, query) in [("1", ""), ("", ""), ("1", "?$.xgafv=1")] {
        #expect(
          try await error(version: version, query: query) == [
            "code": 404, "message": .string(text), "status": "NOT_FOUND",
            "errors": [["message": .string(text), "domain": "global", "reason": "notFound"]],
          ])
      }
      #expect(try await error(version: "1", token: apnsToken(1))?["errors"]?[0]?["reason"] == "badRequest")
      for query in ["?$.xgafv=2", "?alt=json&%24.xgafv=2"] {
        let answer = try await error(version: "1", query: query)
        #expect(answer?["details"]?[0]?["errorCode"] == "UNREGISTERED")
        #expect(answer?["errors"] == nil)
      }
      #expect(try await error(version: "2")?["details"]?[0]?["errorCode"] == "UNREGISTERED")
    }
  }

  @Test func `an address that does not exist is a page, not JSON`() async throws {
    try await Bench.with { bench in
      let heard = try await bench.curl(bench.simulator.endpoints.fcm + "/fcm/send", body: "{}")
      #expect(heard.status == 404 && heard.headers["content-type"]?.hasPrefix("text/html") == true)
      #expect(heard.json == nil)
      #expect(try await bench.curl(bench.sendURL, method: "GET").status == 404)
    }
  }

  @Test func `an assertion is judged by signature, account, age, audience and scope`() async throws {
    try await Bench.with { bench in
      let now = bench.now
      let short = "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."
      let cases: [(String, String, String)] = [
        (try bench.assertion(["iss": "other@example.com"]), "invalid_grant", "Invalid grant: account not found"),
        (try bench.assertion(header: ["kid": "unknown"]), "invalid_grant", "Invalid JWT Signature."),
        (try bench.assertion(header: ["alg": "HS256"]), "invalid_grant", "Invalid JWT Signature."),
        (try bench.assertion(keyPEM: Program.read(bench.keyFile)), "invalid_grant", "Invalid JWT Signature."),
        (try bench.assertion(["exp": .integer(now + 3700)]), "invalid_grant", short),
        (try bench.assertion(["iat": .integer(now - 7200), "exp": .integer(now - 3600)]), "invalid_grant", short),
        (try bench.assertion(["iat": .integer(now + 900), "exp": .integer(now + 1800)]), "invalid_grant", short),
        (try bench.assertion(["iat": nil]), "invalid_grant", short),
        (
          try bench.assertion(["aud": "https://example.com/token"]), "invalid_grant",
          "Invalid JWT: Failed audience check."
        ),
        (try bench.assertion(["scope": ""]), "invalid_scope", "Invalid OAuth scope or ID token audience provided."),
        ("nonsense", "invalid_grant", "Bad Request"),
      ]
      for (assertion, error, description) in cases {
        let heard = try await bench.exchange(assertion)
        #expect(heard.status == 400 && heard.json?["error"]?.string == error, "\(description): \(heard)")
        #expect(heard.json?["error_description"]?.string?.hasPrefix(description) == true, "\(heard)")
      }
      #expect(try await bench.exchange(bench.assertion(), grant: "password").json?["error"] == "unsupported_grant_type")
      let answer = try await bench.exchange(bench.assertion())
      #expect(answer.status == 200 && answer.json?["token_type"] == "Bearer" && answer.json?["expires_in"] == 3599)
      let own = try await bench.exchange(bench.assertion(["aud": .string(bench.simulator.endpoints.oauth + "/token")]))
      #expect(own.status == 200)
      try await bench.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "revoke"])
      #expect(
        try await bench.exchange(bench.assertion()).json?["error_description"] == "Invalid JWT Signature.")
      try await bench.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "rotate"])
      #expect(try await bench.exchange(bench.assertion()).status == 400)
      #expect(try await bench.exchange(Bench(bench.simulator).assertion()).status == 200)
    }
  }
}
