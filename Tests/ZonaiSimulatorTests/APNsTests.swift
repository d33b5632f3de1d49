import CZonaiOpenSSL
import Testing
import ZonaiHTTP
import ZonaiJSON
import ZonaiSimulator

/// APNs, judged by curl.
@Suite struct APNsTests {
  @Test func `a right push is accepted with an empty body and an id`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      let heard = try await bench.push(apnsToken(1), jwt: jwt)
      #expect(heard.status == 200)
      #expect(heard.version == "2")
      #expect(heard.body.isEmpty)
      #expect(heard.headers["apns-id"]?.count == 36)
      let id = "123e4567-e89b-12d3-a456-42661417400a"
      #expect(try await bench.push(apnsToken(1), headers: ["apns-id": id], jwt: jwt).headers["apns-id"] == id)
      let inbox = try await bench.simulator.control("GET", "/inbox?limit=1")
      let message = inbox["messages"]?[0]
      #expect(message?["token"]?.string == apnsToken(1))
      #expect(message?["lane"] == "apns")
      #expect(message?["headers"]?["apns-topic"]?.string == bench.bundleID)
      #expect(message?["headers"]?["authorization"] == nil)
      #expect(message?["body"] == ["aps": ["alert": "hello"]])
      #expect(inbox["total"] == 2 && inbox["recipients"] == 1 && inbox["repeated"] == 1)
    }
  }

  @Test func `each thing that is wrong with a push has its own reason`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      let good = apnsToken(7)
      let topic = bench.bundleID
      let cases: [(String, [String: String?], String, Int, String)] = [
        (good, ["apns-topic": nil], "{}", 400, "MissingTopic"),
        (good, ["apns-topic": "not a topic"], "{}", 400, "BadTopic"),
        (good, ["apns-topic": "com.example.other"], "{}", 400, "TopicDisallowed"),
        (good, ["apns-topic": topic + ".voip"], "{}", 400, "InvalidPushType"),
        (good, ["apns-push-type": "voip"], "{}", 400, "InvalidPushType"),
        (good, ["apns-push-type": "loud"], "{}", 400, "InvalidPushType"),
        (good, ["apns-priority": "7"], "{}", 400, "BadPriority"),
        (good, ["apns-priority": "10", "apns-push-type": "background"], "{}", 400, "BadPriority"),
        (good, ["apns-expiration": "tomorrow"], "{}", 400, "BadExpirationDate"),
        (good, ["apns-expiration": "-1"], "{}", 400, "BadExpirationDate"),
        (good, ["apns-collapse-id": String(repeating: "c", count: 65)], "{}", 400, "BadCollapseId"),
        (good, ["apns-id": "42"], "{}", 400, "BadMessageId"),
        (good, [:], "", 400, "PayloadEmpty"),
        (good, [:], #"{"aps":"# + "\"" + String(repeating: "x", count: 4088) + "\"}", 413, "PayloadTooLarge"),
        ("fcm-like:token", [:], "{}", 400, "BadDeviceToken"),
        (String(good.dropLast()), [:], "{}", 400, "BadDeviceToken"),
        ("abcd", [:], "{}", 400, "BadDeviceToken"),
        ("", [:], "{}", 400, "MissingDeviceToken"),
        ("../" + good, [:], "{}", 404, "BadPath"),
        (good + "/more", [:], "{}", 404, "BadPath"),
        (good, ["authorization": nil], "{}", 403, "MissingProviderToken"),
      ]
      for (token, headers, body, status, reason) in cases {
        let heard = try await bench.push(
          token, headers: headers, body: body, jwt: jwt, options: ["--http2", "--path-as-is"])
        #expect(heard.status == status && heard.reason == reason, "\(reason): \(heard)")
        #expect(heard.headers["apns-id"]?.count == 36)
      }
      let get = try await bench.curl(bench.deviceURL(good), method: "GET", headers: ["authorization": "bearer " + jwt])
      #expect(get.status == 405 && get.reason == "MethodNotAllowed")
      let twice = try await bench.push(
        good, jwt: jwt, options: ["--http2", "--header", "apns-topic: \(topic)"])
      #expect(twice.reason == "DuplicateHeaders")
      #expect(try await bench.status("inbox", "total") == 0)
    }
  }

  @Test func `what is allowed to its last byte is accepted`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      let topic = bench.bundleID
      func payload(_ count: Int) -> String { #"{"a":""# + String(repeating: "x", count: count - 8) + "\"}" }
      let cases: [([String: String?], String)] = [
        ([:], payload(4096)),
        (["apns-push-type": "voip", "apns-topic": topic + ".voip"], payload(5120)),
        (["apns-push-type": nil, "apns-topic": topic + ".voip"], "{}"),
        (["apns-push-type": "background", "apns-priority": "5"], "{}"),
        (["apns-push-type": "liveactivity", "apns-topic": topic + ".push-type.liveactivity"], "{}"),
        (["apns-collapse-id": String(repeating: "c", count: 64), "apns-expiration": "0", "apns-priority": "1"], "{}"),
      ]
      for (headers, body) in cases {
        let heard = try await bench.push(apnsToken(1), headers: headers, body: body, jwt: jwt)
        #expect(heard.status == 200, "\(headers): \(heard)")
      }
      #expect(try await bench.push(apnsToken(1).uppercased(), jwt: jwt).status == 200)
    }
  }

  @Test func `a provider token is judged by signature, form, key, team and age`() async throws {
    try await Bench.with { bench in
      let otherKey = try Bench.pem()
      let now = bench.now
      let cases: [(String, Int, String)] = [
        (try bench.providerToken(keyPEM: otherKey), 403, "InvalidProviderToken"),
        (try bench.providerToken(form: .es256DER), 403, "InvalidProviderToken"),
        (try bench.providerToken(keyID: "ABCDEFGHIJ"), 403, "InvalidProviderToken"),
        (try bench.providerToken(teamID: "OTHERTEAM1"), 403, "InvalidProviderToken"),
        (try bench.providerToken(algorithm: "ES384"), 403, "InvalidProviderToken"),
        (try bench.providerToken(algorithm: "none"), 403, "InvalidProviderToken"),
        ("x.y.z", 403, "InvalidProviderToken"),
        (try bench.providerToken() + "A", 403, "InvalidProviderToken"),
        (try bench.providerToken(issuedAt: now - 3700), 403, "ExpiredProviderToken"),
        (try bench.providerToken(issuedAt: now + 3700), 403, "ExpiredProviderToken"),
        (try bench.providerToken(issuedAt: now - 3000), 200, ""),
      ]
      for (jwt, status, reason) in cases {
        let heard = try await bench.push(apnsToken(1), jwt: jwt)
        #expect(heard.status == status && heard.reason ?? "" == reason, "\(reason): \(heard)")
      }
    }
  }

  @Test func `a second new token within twenty minutes is one too many, and the first stays good`() async throws {
    try await Bench.with { bench in
      let first = try bench.providerToken(issuedAt: bench.now - 60)
      let second = try bench.providerToken()
      #expect(try await bench.push(apnsToken(1), jwt: first).status == 200)
      let early = try await bench.push(apnsToken(1), jwt: second)
      #expect(early.status == 429 && early.reason == "TooManyProviderTokenUpdates")
      #expect(try await bench.push(apnsToken(1), jwt: first).status == 200)
      try await bench.simulator.control("POST", "/clock", ["advanceMs": 1_200_000])
      #expect(try await bench.push(apnsToken(1), jwt: second).status == 200)
    }
  }

  @Test func `turning the clock by an hour makes a token too old`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      #expect(try await bench.push(apnsToken(1), jwt: jwt).status == 200)
      try await bench.simulator.control("POST", "/clock", ["advanceMs": 3_700_000])
      #expect(try await bench.push(apnsToken(1), jwt: jwt).reason == "ExpiredProviderToken")
      try await bench.simulator.control("POST", "/clock", ["reset": true])
      #expect(try await bench.push(apnsToken(1), jwt: jwt).status == 200)
    }
  }

  @Test func `a connection belongs to its first key`() async throws {
    try await Bench.with { bench in
      let first = try bench.providerToken()
      try await bench.simulator.control("POST", "/credentials", ["lane": "apns", "action": "rotate"])
      let second = try Bench(bench.simulator).providerToken()
      try await bench.simulator.control("POST", "/credentials", ["lane": "apns", "providerTokenUpdateSeconds": 0])
      #expect(try await bench.push(apnsToken(1), jwt: second).status == 200)
      let heard = try await bench.pushBoth(first, second)
      #expect(heard == #"{"reason":"UnrelatedKeyIdInToken"}"#)
      #expect(try await bench.count("apns", "403 UnrelatedKeyIdInToken") == 1)
    }
  }

  @Test func `a connection that showed a token too old is past helping`() async throws {
    try await Bench.with { bench in
      let old = try bench.providerToken(issuedAt: bench.now - 4000)
      let fresh = try bench.providerToken()
      let reason = #"{"reason":"ExpiredProviderToken"}"#
      #expect(try await bench.pushBoth(old, fresh) == reason + reason)
      #expect(try await bench.pushBoth(fresh, fresh).isEmpty)
    }
  }

  @Test func `a revoked key signs nothing until it is restored`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      try await bench.simulator.control("POST", "/credentials", ["lane": "apns", "action": "revoke"])
      #expect(try await bench.push(apnsToken(1), jwt: jwt).reason == "InvalidProviderToken")
      try await bench.simulator.control("POST", "/credentials", ["lane": "apns", "action": "restore"])
      #expect(try await bench.push(apnsToken(1), jwt: jwt).status == 200)
    }
  }

  @Test func `a device answers by its state, and in the sandbox by its environment`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      let states: [(String, Int, String?)] = [
        ("active", 200, nil), ("uninstalled", 410, "Unregistered"), ("expired", 410, "ExpiredToken"),
        ("throttled", 429, "TooManyRequests"), ("otherTopic", 400, "DeviceTokenNotForTopic"),
        ("otherEnvironment", 400, "BadDeviceToken"),
      ]
      for (number, (state, status, reason)) in states.enumerated() {
        let token = apnsToken(number)
        try await bench.simulator.control(
          "PUT", "/devices/" + token, ["state": .string(state), "since": 1_700_000_000_123])
        let heard = try await bench.push(token, jwt: jwt)
        #expect(heard.status == status && heard.reason == reason, "\(state): \(heard)")
        #expect((heard.json?["timestamp"] == 1_700_000_000_123) == (status == 410))
      }
      let sandbox = ["--http2", "--header", "host: api.sandbox.push.apple.com"]
      #expect(try await bench.push(apnsToken(0), jwt: jwt, options: sandbox).reason == "BadDeviceToken")
      let other = try await bench.push(apnsToken(5), jwt: jwt, options: sandbox)
      #expect(other.status == 200 && other.headers["apns-unique-id"] != nil)
      try await bench.simulator.control("POST", "/credentials", ["lane": "apns", "environment": "production"])
      let key = try await bench.push(apnsToken(5), jwt: jwt, options: sandbox)
      #expect(key.status == 403 && key.reason == "BadEnvironmentKeyInToken")
    }
  }

  @Test func `HTTP/1 is not spoken`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      let heard = try await bench.push(apnsToken(1), jwt: jwt, options: ["--http1.1"])
      #expect(heard.exit != 0 && heard.status == 0)
    }
  }

  @Test func `the services' real names are in the certificate, and another authority is not trusted`() async throws {
    try await Bench.with { bench in
      let jwt = try bench.providerToken()
      let port = try #require(bench.simulator.endpoints.apns.split(separator: ":").last)
      let real = try await bench.curl(
        "https://api.push.apple.com/3/device/" + apnsToken(1),
        headers: ["authorization": "bearer " + jwt, "apns-topic": bench.bundleID], body: "{}",
        options: ["--http2", "--connect-to", "::127.0.0.1:\(port)"])
      #expect(real.status == 200)
      let wrong = try await bench.curl(
        "https://push.example.com/3/device/" + apnsToken(1), body: "{}",
        options: ["--http2", "--connect-to", "::127.0.0.1:\(port)"])
      #expect(wrong.exit == 60)
      let system = try await bench.curl(
        bench.deviceURL(apnsToken(1)), body: "{}",
        options: ["--http2", "--cacert", "/etc/ssl/certs/ca-certificates.crt"])
      #expect(system.exit == 60)
    }
  }
}

extension Bench {
  /// Two pushes with a token each over one connection, by one curl; what both answers say.
  fileprivate func pushBoth(_ first: String, _ second: String) async throws -> String {
    func request(_ jwt: String) -> [String] {
      [
        "--silent", "--cacert", directory + "/ca.pem", "--http2", "--header", "authorization: bearer " + jwt,
        "--header", "apns-topic: " + bundleID, "--data", "{}", deviceURL(apnsToken(2)),
      ]
    }
    return try await Program.run("/usr/bin/curl", request(first) + ["--next"] + request(second), in: directory).output
  }

  /// A P-256 key that nobody knows.
  static func pem() throws -> String {
    guard let key = zonai_openssl_new_p256_key(), let text = BIO_new(BIO_s_mem()) else { throw TokenMaker.Failure() }
    defer {
      EVP_PKEY_free(key)
      BIO_free(text)
    }
    var start: UnsafeMutablePointer<CChar>?
    guard PEM_write_bio_PrivateKey(text, key, nil, nil, 0, nil, nil) == 1 else { throw TokenMaker.Failure() }
    let count = zonai_openssl_bio_bytes(text, &start)
    return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
