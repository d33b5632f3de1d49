import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiSimulator
import ZonaiTestKit

@testable import ZonaiTransports

@Suite struct FCMCredentialEndToEndTests {
  /// Google's own answer to an access token that it does not take.
  private let refused: JSON = [
    "error": [
      "code": 401, "status": "UNAUTHENTICATED", "message": "Request had invalid authentication credentials.",
    ]
  ]

  @Test func `an access token that expires in mid-batch with a hundred streams open is renewed once`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm { $0.connectionsPerLane = 1 }
      let tokens = Services.fcmTokens(2000)
      #expect(try await fcm.send(to: Array(tokens[..<10])).delivered == 10)
      try await services.simulator.control("DELETE", "/inbox")
      // Every answer takes its time, so that a hundred are under way when the token ends, and most are to come.
      try await services.fault(["lane": "fcm", "delayMs": 200])
      async let sending = fcm.send(to: tokens)
      while try await services.requests("fcm") < 110 { await Task.yield() }
      try await services.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "expire"])
      try await services.simulator.control("DELETE", "/faults")
      let result = try await sending
      #expect(result.delivered == 2000)
      #expect(result.laneFault == nil)
      #expect(result.credentials == [1, 2])
      #expect(try await services.requests("oauth") == 2)
      #expect(try await services.answers("fcm", "401 UNAUTHENTICATED") >= 1)
      // Nobody lost, nobody twice.
      try await services.expectInbox(2000)
      await fcm.close()
    }
  }

  @Test func `answers that are final are handed over before a refused token is renewed, and each recipient has one`()
    async throws
  {
    try await Services.with { services in
      let fcm = try await services.fcm {
        $0.connectionsPerLane = 1
        $0.requestTimeout = 5000
      }
      let tokens = Services.fcmTokens(10)
      #expect(try await fcm.send(to: tokens).delivered == 10)
      try await services.fault(["lane": "fcm", "token": .string(tokens[9]), "times": 1, "status": 401, "body": refused])
      // The round with the old token is not over before this one's time is.
      try await services.fault(["lane": "fcm", "token": .string(tokens[0]), "times": 1, "action": "silence"])
      let batch = PushBatch(
        message: try fcm.prepare(PushMessage(title: "t")), tokens: TokenList(tokens), selection: Array(0..<10),
        expiresAt: nil, permit: SendPermit(validUntil: .max))
      let log = AnswerLog(batch)
      async let end = fcm.send(batch) { log.take($0) }
      await log.wait { answers in answers.count { $0 != nil } >= 8 }
      #expect(log.answers[0] == nil)
      #expect(log.answers[9] == nil)
      let result = log.end(await end)
      #expect(log.problems == [])
      #expect(result.delivered == 9)
      #expect(result.reasons == [.timedOut])
      #expect(result.answers[9]?.sent.credential == 2)
      #expect(result.answers.allSatisfy { $0?.sent.connection == 1 || $0?.sent.connection == 2 })
      await fcm.close()
    }
  }

  @Test func `several batches that meet an expired token share one renewal`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let tokens = Services.fcmTokens(2000)
      #expect(try await fcm.send(to: [tokens[0]]).delivered == 1)
      try await services.simulator.control("DELETE", "/inbox")
      try await services.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "expire"])
      let delivered = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 0..<4 {
          group.addTask { try await fcm.send(to: Array(tokens[index * 500..<(index + 1) * 500])).delivered }
        }
        return try await group.reduce(0, +)
      }
      #expect(delivered == 2000)
      #expect(try await services.requests("oauth") == 2)
      try await services.expectInbox(2000)
      await fcm.close()
    }
  }

  @Test func `a token that ages is renewed before it ends`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      #expect(try await fcm.send(to: Services.fcmTokens(5)).credentials == [1])
      try await services.turn(minutes: 54)
      #expect(try await fcm.send(to: Services.fcmTokens(5)).credentials == [1])
      try await services.turn(minutes: 2)
      // In the background: no send waits for it.
      while try await fcm.send(to: Services.fcmTokens(5)).credentials == [1] { await Task.yield() }
      #expect(try await fcm.send(to: Services.fcmTokens(5)).credentials == [2])
      #expect(try await services.requests("oauth") == 2)
      #expect(try await services.answers("fcm", "401 UNAUTHENTICATED") == 0)
      await fcm.close()
    }
  }

  @Test func `an odd 401 before deliveries renews nothing, and everybody else is delivered to`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm { $0.connectionsPerLane = 1 }
      let tokens = Services.fcmTokens(500)
      // So many that the connection has as many streams as it may.
      #expect(try await fcm.send(to: tokens).delivered == 500)
      // Each among the hundred that are opened at once, with others behind it, however slowly the answers are read.
      for odd in [7, 150, 270] {
        try await services.fault(["lane": "fcm", "token": .string(tokens[odd]), "status": 401, "body": refused])
      }
      let result = try await fcm.send(to: tokens)
      #expect(result.delivered == 497)
      // They stand as they are: the engine decides whose fault they were.
      #expect(result.verdicts.map(\.fault) == [.credentials, .credentials, .credentials])
      #expect(result.credentials == [1])
      #expect(try await services.requests("oauth") == 1)
      await fcm.close()
    }
  }

  @Test func `an odd 401 after which nobody was delivered to is reported after one renewal`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let tokens = Services.fcmTokens(60)
      try await services.fault(["lane": "fcm", "token": .string(tokens[59]), "status": 401, "body": refused])
      let result = try await fcm.send(to: tokens)
      guard case .answered(let verdict, let sent) = result.answers[59] else {
        Issue.record("\(result.answers[59])")
        return
      }
      #expect(verdict.fault == .credentials)
      #expect(verdict.outcome == .jobFails)
      #expect(sent.credential == 2)
      #expect(try await services.requests("oauth") == 2)
      #expect(result.delivered == 59)
      await fcm.close()
    }
  }

  @Test(arguments: ["", "<html>Error 401</html>", "INVALID_KEY", #"{"error":{"code":401,"message":"no"}}"#])
  func `a 401 that is not Google's refuses no credential, and renews none`(_ body: String) async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let tokens = Services.fcmTokens(60)
      try await services.fault(["lane": "fcm", "token": .string(tokens[59]), "status": 401, "body": .string(body)])
      let result = try await fcm.send(to: tokens)
      #expect(result.delivered == 59)
      #expect(result.verdicts.map(\.fault) == [.service])
      #expect(result.verdicts.map(\.faultWhenRepeated) == [.configuration])
      #expect(result.credentials == [1])
      #expect(try await services.requests("oauth") == 1)
      await fcm.close()
    }
  }

  @Test func `a key file that is half written stops nobody, until its old key is refused`() async throws {
    try await Services.with { services in
      let path = services.simulator.directory + "/service-account.json"
      let fcm = try await services.fcm()
      let tokens = Services.fcmTokens(5)
      let whole = shell("cat '\(path)'").output
      try TemporaryFolder.replace(path, String(whole.prefix(100)))
      // No token yet: the key that was read at first gets one.
      #expect(try await fcm.send(to: tokens).delivered == 5)
      try await services.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "expire"])
      #expect(try await fcm.send(to: tokens).credentials == [2])
      // FCM refuses what the old key gets: the file is what to look at.
      try await services.fault(["lane": "fcm", "times": 10, "status": 401, "body": refused])
      let refused = try await fcm.send(to: tokens)
      #expect(refused.delivered == 0)
      #expect(refused.laneFault?.words?.contains("is not JSON") == true)
      #expect(refused.laneFault?.names == "fcm.serviceAccount")
      #expect(refused.notSent == 5)
      await fcm.close()
    }
  }

  @Test func `a revoked key ends with the credential named, and nothing else is sent`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let tokens = Services.fcmTokens(100)
      #expect(try await fcm.send(to: [tokens[0]]).delivered == 1)
      try await services.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "revoke"])
      try await services.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "expire"])
      let result = try await fcm.send(to: tokens)
      #expect(result.delivered == 0)
      #expect(result.notSent == 100)
      #expect(result.laneFault?.outcome == .jobFails)
      #expect(result.laneFault?.fault == .credentials)
      #expect(result.laneFault?.reason == "invalid_grant")
      #expect(result.laneFault?.names == "fcm.serviceAccount")
      #expect(try await services.answers("oauth", "400 invalid_grant") == 2)
      await fcm.close()
    }
  }

  @Test func `a key that was replaced on disk is used from the next batch on`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let tokens = Services.fcmTokens(20)
      #expect(try await fcm.send(to: tokens).delivered == 20)
      let old = try #require(
        try await services.simulator.control("GET", "/credentials")["fcm"]?["keyId"]?.string)
      try await services.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "rotate"])
      try await services.simulator.control(
        "POST", "/credentials", ["lane": "fcm", "action": "revoke", "keyId": .string(old)])
      try await services.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "expire"])
      let result = try await fcm.send(to: tokens)
      #expect(result.delivered == 20)
      #expect(result.credentials == [2])
      // The file was read before anything was sent: the old token was not tried.
      #expect(try await services.answers("fcm", "401 UNAUTHENTICATED") == 0)
      await fcm.close()
    }
  }

  private static let tokenTroubles: [(JSON, Fault, Verdict.Outcome)] = [
    (["lane": "oauth", "status": 503], .service, .transientlyFailed),
    (["lane": "oauth", "action": "silence"], .service, .transientlyFailed),
    (["lane": "oauth", "action": "drop"], .connection, .transientlyFailed),
    (["lane": "oauth", "status": 404, "body": "<html>"], .service, .transientlyFailed),
    (["lane": "oauth", "status": 400, "body": ["error": "solar_flare"]], .service, .transientlyFailed),
    (["lane": "oauth", "status": 400, "body": ["error": "invalid_scope"]], .credentials, .jobFails),
  ]

  @Test(arguments: tokenTroubles)
  func `without a token nothing is sent, and the fault says whose it is`(
    _ trouble: JSON, _ fault: Fault, _ outcome: Verdict.Outcome
  ) async throws {
    try await Services.with { services in
      let fcm = try await services.fcm { $0.requestTimeout = 1000 }
      try await services.fault(trouble)
      let result = try await fcm.send(to: Services.fcmTokens(10))
      #expect(result.notSent == 10)
      #expect(result.laneFault?.fault == fault)
      #expect(result.laneFault?.outcome == outcome)
      #expect(try await services.requests("fcm") == 0)
      await fcm.close()
    }
  }

  @Test func `an endpoint that is away for a moment in mid-batch is no fault of the key`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let tokens = Services.fcmTokens(50)
      #expect(try await fcm.send(to: [tokens[0]]).delivered == 1)
      try await services.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "expire"])
      try await services.fault(["lane": "oauth", "times": 1, "status": 503])
      let result = try await fcm.send(to: tokens)
      #expect(result.notSent == 50)
      #expect(result.laneFault?.fault == .service)
      #expect(result.laneFault?.outcome == .transientlyFailed)
      #expect(try await fcm.send(to: tokens).delivered == 50)
      await fcm.close()
    }
  }

  @Test func `THIRD_PARTY_AUTH_ERROR is no credential of ours and renews nothing`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let tokens = Services.fcmTokens(30)
      try await services.fault([
        "lane": "fcm", "prefix": "fcm-token-1", "status": 401,
        "body": [
          "error": [
            "code": 401, "status": "UNAUTHENTICATED", "message": "Auth error from APNS or Web Push Service",
            "details": [
              [
                "@type": "type.googleapis.com/google.firebase.fcm.v1.ApnsError", "statusCode": 403,
                "reason": "InvalidProviderToken",
              ],
              [
                "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                "errorCode": "THIRD_PARTY_AUTH_ERROR",
              ],
            ],
          ]
        ],
      ])
      let result = try await fcm.send(to: tokens)
      // 1 and 10 to 19.
      #expect(result.verdicts.count == 11)
      #expect(result.delivered == 19)
      #expect(result.reasons == ["THIRD_PARTY_AUTH_ERROR"])
      #expect(result.verdicts.allSatisfy { $0.fault == .configuration && $0.outcome == .transientlyFailed })
      #expect(try await services.requests("oauth") == 1)
      await fcm.close()
    }
  }
}
