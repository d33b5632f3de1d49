import Testing
import ZonaiJSON
import ZonaiSimulator

/// Scripted faults, as curl meets them.
@Suite struct FaultTests {
  private func fault(_ bench: Bench, _ fault: JSON) async throws {
    try await bench.simulator.control("POST", "/faults", fault)
  }

  @Test func `a scripted answer strikes as often as it was told, after as many as it was told`() async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      try await fault(
        bench,
        [
          "lane": "fcm", "prefix": "a:", "after": 1, "times": 2, "status": 503, "headers": ["Retry-After": "3"],
          "body": ["error": ["code": 503]],
        ])
      func send(_ token: String) async throws -> Heard {
        try await bench.send(#"{"message":{"token":"\#(token)"}}"#, accessToken: access)
      }
      #expect(try await send("b:1").status == 200)
      #expect(try await send("a:1").status == 200)
      let struck = try await send("a:1")
      #expect(struck.status == 503 && struck.headers["retry-after"] == "3" && struck.json == ["error": ["code": 503]])
      #expect(try await send("a:2").status == 503)
      #expect(try await send("a:1").status == 200)
      #expect(try await bench.count("fcm", "503 scripted") == 2)
      #expect(try await bench.status("inbox", "total") == 3)
    }
  }

  @Test func `a fault without a number stays until faults are deleted, and may name a token or a lane`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      try await fault(
        bench,
        [
          "lane": "apns", "token": .string(apnsToken(10).uppercased()), "status": 410,
          "body": #"{"reason":"ExpiredToken"}"#,
        ])
      try await fault(bench, ["lane": "oauth", "status": 502, "body": "<html>"])
      for _ in 0..<2 { #expect(try await bench.push(apnsToken(10), jwt: jwt).reason == "ExpiredToken") }
      #expect(try await bench.push(apnsToken(11), jwt: jwt).status == 200)
      let oauth = try await bench.exchange(bench.assertion())
      #expect(oauth.status == 502 && oauth.body == "<html>")
      let listed = try await bench.simulator.control("GET", "/faults")["faults"]
      #expect(listed?[0]?["struck"] == 2 && listed?[1]?["struck"] == 1)
      try await bench.simulator.control("DELETE", "/faults")
      #expect(try await bench.push(apnsToken(10), jwt: jwt).status == 200)
      #expect(try await bench.exchange(bench.assertion()).status == 200)
    }
  }

  @Test func `an answer may come late, and be the lane's own`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      try await fault(bench, ["lane": "apns", "delayMs": 30])
      #expect(try await bench.push(apnsToken(1), jwt: jwt).status == 200)
      #expect(try await bench.push("abcd", jwt: jwt).reason == "BadDeviceToken")
    }
  }

  @Test func `a refused stream is sent again by curl, a reset one is not, though its message may have arrived`()
    async throws
  {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      try await fault(bench, ["lane": "apns", "times": 1, "action": "reset", "errorCode": "REFUSED_STREAM"])
      #expect(try await bench.push(apnsToken(1), jwt: jwt).status == 200)
      #expect(try await bench.status("inbox", "total") == 1)
      try await fault(bench, ["lane": "apns", "times": 1, "action": "reset", "deliver": true])
      #expect(try await bench.push(apnsToken(1), jwt: jwt).exit == 92)
      #expect(try await bench.status("inbox", "total") == 2)
      #expect(try await bench.count("apns", "reset") == 2)
    }
  }

  @Test(arguments: ["--http2", "--http1.1"])
  func `a dropped connection and a silent one are no answers`(_ version: String) async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      let body = #"{"message":{"token":"a"}}"#
      try await fault(bench, ["lane": "fcm", "times": 1, "action": "drop"])
      let dropped = try await bench.send(body, accessToken: access, options: [version])
      #expect(dropped.exit != 0 && dropped.status == 0)
      try await fault(bench, ["lane": "fcm", "times": 1, "action": "silence", "deliver": true])
      let silent = try await bench.send(body, accessToken: access, options: [version, "--max-time", "3"])
      #expect(silent.exit == 28)
      #expect(try await bench.status("inbox", "total") == 1)
      #expect(try await bench.count("fcm", "drop") == 1)
      #expect(try await bench.count("fcm", "silence") == 1)
      #expect(try await bench.send(body, accessToken: access, options: [version]).status == 200)
    }
  }

  @Test(arguments: ["--http2", "--http1.1"])
  func `an answer may end with its connection: before its head, after it, or inside its body`(_ version: String)
    async throws
  {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      let cases: [(fault: JSON, status: Int, body: String)] = [
        (["action": "close"], 0, ""), (["action": "cut"], 200, ""),
        (["action": "cut", "bodyBytes": 6, "status": 404, "body": "not found"], 404, "not fo"),
      ]
      for (effect, status, body) in cases {
        var scripted: [String: JSON] = ["lane": "fcm", "times": 1, "deliver": true]
        scripted.merge(effect.object ?? [:]) { _, new in new }
        try await fault(bench, .object(scripted))
        let heard = try await bench.send(
          #"{"message":{"token":"a"}}"#, accessToken: access, options: [version])
        #expect(heard.exit != 0 && heard.status == status && heard.body == body, "\(effect)")
      }
      #expect(try await bench.status("inbox", "total") == 3)
      #expect(try await bench.count("fcm", "cut") == 2)
      #expect(
        try await bench.send(#"{"message":{"token":"a"}}"#, accessToken: access, options: [version]).status == 200)
    }
  }

  @Test func `connections are counted while they are open`() async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      #expect(try await bench.send(#"{"message":{"token":"a"}}"#, accessToken: access).status == 200)
      // curl has ended; its connection ends once the server has read that.
      while try await bench.status("lanes", "fcm", "open") != 0 { await Task.yield() }
      try await fault(bench, ["lane": "fcm", "times": 1, "action": "silence"])
      async let silent = bench.send(
        #"{"message":{"token":"a"}}"#, accessToken: access, options: ["--max-time", "3"])
      while try await bench.status("lanes", "fcm", "open") != 1 { await Task.yield() }
      _ = try await silent
    }
  }

  @Test func `over HTTP/1 a reset and a GOAWAY drop the connection`() async throws {
    try await Bench.with { bench in
      let access = try await bench.accessToken()
      for action in ["reset", "goaway"] {
        try await fault(bench, ["lane": "fcm", "times": 1, "action": .string(action)])
        let heard = try await bench.send(
          #"{"message":{"token":"a"}}"#, accessToken: access, options: ["--http1.1"])
        #expect(heard.exit != 0 && heard.status == 0, "\(action)")
      }
    }
  }
}
