import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiSimulator

@testable import ZonaiTransports

@Suite struct APNsEndToEndTests {
  @Test func `everybody gets the message once, as it was meant`() async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      let message = PushMessage(
        title: "Title", body: "Text", data: ["k": "v"], collapseKey: "news", timeToLive: 600, sound: "default", badge: 2
      )
      let tokens = Services.apnsTokens(1500)
      let result = try await apns.send(message, to: tokens, expiresAt: services.clock.wall() + 300_000)
      #expect(result.delivered == 1500)
      #expect(result.laneFault == nil)
      #expect(result.credentials == [1])
      // The order of sending is the batch's, and no two share a place.
      let orders = result.answers.compactMap { $0.sent?.order }
      #expect(Set(orders).count == 1500)
      #expect(orders.allSatisfy { $0 > 0 })
      try await services.expectInbox(1500)
      let sent = try #require(try await services.inbox(1).first)
      #expect(
        sent["body"]
          == ["aps": ["alert": ["title": "Title", "body": "Text"], "badge": 2, "sound": "default"], "k": "v"])
      let headers = try #require(sent["headers"])
      #expect(headers["apns-topic"] == "dev.zonai.simulated")
      #expect(headers["apns-push-type"] == "alert")
      #expect(headers["apns-priority"] == "10")
      #expect(headers["apns-collapse-id"] == "news")
      let expiration = try #require(headers["apns-expiration"]?.string.flatMap { Int64($0) })
      #expect(abs(expiration - (services.clock.wall() / 1000 + 300)) <= 30)
      await apns.close()
    }
  }

  @Test(arguments: [
    ("uninstalled", "Unregistered", Fault.recipient, Verdict.Outcome.permanentlyRejected),
    ("expired", "ExpiredToken", .recipient, .permanentlyRejected),
    ("throttled", "TooManyRequests", .recipient, .transientlyFailed),
    ("otherTopic", "DeviceTokenNotForTopic", .configuration, .transientlyFailed),
    ("otherEnvironment", "BadDeviceToken", .recipient, .permanentlyRejected),
  ])
  func `what APNs says of a device is its verdict, and the others are delivered to`(
    _ state: String, _ reason: String, _ fault: Fault, _ outcome: Verdict.Outcome
  ) async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      let tokens = Services.apnsTokens(50)
      try await services.simulator.control(
        "PUT", "/devices/\(tokens[20])", ["state": .string(state), "since": 1_700_000_000_000])
      let result = try await apns.send(to: tokens)
      #expect(result.delivered == 49)
      guard case .answered(let verdict, let sent) = result.answers[20] else {
        Issue.record("\(result.answers[20])")
        return
      }
      #expect(verdict.reason.rawValue == reason)
      #expect(verdict.fault == fault)
      #expect(verdict.outcome == outcome)
      #expect(sent.order > 0)
      if verdict.evidence == .conclusive { #expect(verdict.deadSince == 1_700_000_000_000) }
      await apns.close()
    }
  }

  @Test func `a token that cannot be APNs' is not sent and is configuration`() async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      let result = try await apns.send(to: [Services.apnsTokens(1)[0], "fcm:token_x", "abc"])
      #expect(result.delivered == 1)
      #expect(result.verdicts.map(\.fault) == [.configuration, .configuration])
      #expect(result.reasons == [.tokenNotForLane])
      #expect(try await services.requests("apns") == 1)
      await apns.close()
    }
  }

  @Test func `an expired provider token is replaced once, over a new connection, and nobody is lost`() async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      let tokens = Services.apnsTokens(300)
      #expect(try await apns.send(to: tokens).delivered == 300)
      // The service's clock runs ahead: to it the token is old.
      try await services.simulator.control("POST", "/credentials", ["lane": "apns", "providerTokenSeconds": 1500])
      try await services.turn(minutes: 30)
      let result = try await apns.send(to: tokens)
      #expect(result.delivered == 300)
      #expect(result.credentials == [2])
      #expect(try await services.connections("apns") >= 2)
      #expect(try await services.answers("apns", "403 ExpiredProviderToken") >= 1)
      try await services.expectInbox(300, repeated: 300)
      await apns.close()
    }
  }

  @Test func `batches in flight when a token ends share one new one, and none spoils the new connection`() async throws
  {
    try await Services.with { services in
      let apns = try await services.apns { $0.connectionsPerLane = 1 }
      let tokens = Services.apnsTokens(4000)
      #expect(try await apns.send(to: [tokens[0]]).delivered == 1)
      try await services.simulator.control("DELETE", "/inbox")
      // Few streams, so that the batches queue up behind each other.
      try await services.fault(["lane": "apns", "times": 1, "action": "streamLimit", "streams": 20])
      #expect(try await apns.send(to: [tokens[0]]).delivered == 1)
      try await services.simulator.control("DELETE", "/inbox")
      // The service's clock runs ahead: to it the token is old.
      try await services.turn(minutes: 30)
      try await services.fault(["lane": "apns", "times": 300, "delayMs": 20])
      let before = try await services.requests("apns")
      async let sending = withThrowingTaskGroup(of: PushBatchResult.self) { group in
        for index in 0..<4 {
          group.addTask { try await apns.send(to: Array(tokens[index * 1000..<(index + 1) * 1000])) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      while try await services.requests("apns") - before < 200 { await Task.yield() }
      try await services.simulator.control("POST", "/credentials", ["lane": "apns", "providerTokenSeconds": 1500])
      let results = try await sending
      #expect(results.map(\.delivered).reduce(0, +) == 4000)
      #expect(results.allSatisfy { $0.laneFault == nil })
      #expect(Set(results.flatMap(\.credentials)) == [1, 2])
      #expect(try await services.answers("apns", "403 ExpiredProviderToken") <= 80)
      try await services.expectInbox(4000)
      await apns.close()
    }
  }

  @Test(arguments: [("IdleTimeout", 400), ("Shutdown", 503)] as [(String, Int64)])
  func `an answer about the connection is not repeated on it`(_ reason: String, _ status: Int64) async throws {
    try await Services.with { services in
      let apns = try await services.apns { $0.connectionsPerLane = 1 }
      #expect(try await apns.send(to: Services.apnsTokens(1)).delivered == 1)
      try await services.fault([
        "lane": "apns", "times": 5, "status": .integer(status), "body": ["reason": .string(reason)],
      ])
      let result = try await apns.send(to: Services.apnsTokens(5))
      #expect(result.verdicts.map(\.fault) == Array(repeating: .connection, count: 5))
      #expect(try await apns.send(to: Services.apnsTokens(5)).delivered == 5)
      #expect(try await services.connections("apns") == 2)
      await apns.close()
    }
  }

  @Test(arguments: ["<html>welcome</html>", " ", "{}"])
  func `a 200 with a body is another server's, and delivers to nobody`(_ body: String) async throws {
    try await Services.with { services in
      let apns = try await services.apns { $0.connectionsPerLane = 1 }
      try await services.fault(["lane": "apns", "status": 200, "body": .string(body), "deliver": false])
      let result = try await apns.send(to: Services.apnsTokens(2000))
      #expect(result.delivered == 0)
      #expect(result.reasons == [.notTheService])
      #expect(result.verdicts.allSatisfy { $0.fault == .configuration && $0.outcome == .jobFails })
      #expect(result.notSent > 0)
      await apns.close()
    }
  }

  @Test func `a young token that is called expired means a wrong clock, and none is minted`() async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      let tokens = Services.apnsTokens(300)
      #expect(try await apns.send(to: tokens).delivered == 300)
      try await services.simulator.control("POST", "/clock", ["advanceMs": 7_200_000])
      let result = try await apns.send(to: tokens)
      #expect(result.delivered == 0)
      #expect(result.notSent == 300)
      #expect(result.laneFault?.outcome == .jobFails)
      #expect(result.laneFault?.fault == .credentials)
      #expect(result.laneFault?.words?.contains("clock") == true)
      try await services.expectInbox(300)
      await apns.close()
    }
  }

  @Test func `InvalidProviderToken gets the same token over a new connection once`() async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      try await services.fault([
        "lane": "apns", "times": 1, "status": 403, "body": ["reason": "InvalidProviderToken"],
      ])
      let result = try await apns.send(to: Services.apnsTokens(200))
      #expect(result.delivered == 200)
      #expect(result.credentials == [1])
      #expect(try await services.connections("apns") >= 2)
      try await services.expectInbox(200)
      await apns.close()
    }
  }

  @Test func `a revoked key stops the lane after one cure, and what was not sent comes back so`() async throws {
    try await Services.with { services in
      let apns = try await services.apns { $0.connectionsPerLane = 1 }
      #expect(try await apns.send(to: Services.apnsTokens(1)).delivered == 1)
      try await services.simulator.control("POST", "/credentials", ["lane": "apns", "action": "revoke"])
      let before = try await services.requests("apns")
      let result = try await apns.send(to: Services.apnsTokens(3000))
      #expect(result.delivered == 0)
      #expect(result.reasons == ["InvalidProviderToken"])
      #expect(result.verdicts.allSatisfy { $0.outcome == .jobFails && $0.fault == .credentials })
      #expect(result.notSent > 0)
      #expect(result.laneFault == nil)
      // What was under way when the first answer came, and one more over the new connection.
      #expect(try await services.requests("apns") - before < 3000)
      await apns.close()
    }
  }

  @Test func `a key that was replaced on disk is used from the next batch on, over connections of its own`()
    async throws
  {
    try await Services.with { services in
      let apns = try await services.apns()
      #expect(try await apns.send(to: Services.apnsTokens(20)).delivered == 20)
      // The wrong key in the file: Apple does not know it.
      let path = try services.apnsKeyPath()
      let right = shell("cat '\(path)'").output
      try TemporaryFolder.replace(path, TestKeys.otherP256)
      let refused = try await apns.send(to: Services.apnsTokens(20))
      #expect(refused.delivered == 0)
      #expect(refused.reasons == ["InvalidProviderToken"])
      // Half a file is no key: the last one that was read stays, and the fault names the file.
      try TemporaryFolder.replace(path, String(right.prefix(40)))
      let damaged = try await apns.send(to: Services.apnsTokens(20))
      #expect(damaged.delivered == 0)
      #expect(damaged.laneFault?.names == "apns.keyFile")
      #expect(damaged.laneFault?.words?.contains("damaged") == true)
      try TemporaryFolder.replace(path, right)
      let result = try await apns.send(to: Services.apnsTokens(20))
      #expect(result.delivered == 20)
      try await services.expectInbox(20, repeated: 20)
      await apns.close()
    }
  }

  @Test func `TooManyProviderTokenUpdates keeps the token and mints none`() async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      try await services.fault([
        "lane": "apns", "times": 5, "status": 429, "body": ["reason": "TooManyProviderTokenUpdates"],
      ])
      let result = try await apns.send(to: Services.apnsTokens(50))
      #expect(result.delivered == 45)
      #expect(result.credentials == [1])
      #expect(result.verdicts.map(\.fault) == Array(repeating: .service, count: 5))
      #expect(result.verdicts.allSatisfy { $0.slowsLane && $0.retry == .attempts })
      #expect(try await apns.send(to: Services.apnsTokens(50)).credentials == [1])
      await apns.close()
    }
  }

  @Test func `transports of one team in one process show one token`() async throws {
    try await Services.with { services in
      let (one, two) = (try await services.apns(), try await services.apns())
      #expect(try await one.send(to: Services.apnsTokens(10)).delivered == 10)
      // A second new token within twenty minutes would be answered with 429.
      #expect(try await two.send(to: Services.apnsTokens(10)).delivered == 10)
      await one.close()
      await two.close()
    }
  }

  @Test func `a GOAWAY hands back what was not handled, and only that`() async throws {
    try await Services.with { services in
      let apns = try await services.apns { $0.connectionsPerLane = 1 }
      try await services.fault(["lane": "apns", "after": 100, "times": 1, "action": "goaway"])
      let result = try await apns.send(to: Services.apnsTokens(600))
      let handedBack = result.verdicts.count
      #expect(result.delivered == 600 - handedBack)
      #expect(handedBack >= 1)
      #expect(result.reasons == [.notHandled])
      #expect(result.verdicts.allSatisfy { $0.fault == .connection && $0.retry == .free })
      // Whoever was handed back can be sent to again without harm.
      let again = result.answers.indices.filter { if case .answered = result.answers[$0] { true } else { false } }
      let tokens = Services.apnsTokens(600)
      #expect(try await apns.send(to: again.map { tokens[$0] }).delivered == handedBack)
      try await services.expectInbox(600)
      await apns.close()
    }
  }

  @Test func `a GOAWAY that refuses the credential is cured like an answer that does`() async throws {
    try await Services.with { services in
      let apns = try await services.apns { $0.connectionsPerLane = 1 }
      try await services.fault([
        "lane": "apns", "after": 50, "times": 1, "action": "goaway", "debugData": #"{"reason":"InvalidProviderToken"}"#,
      ])
      let result = try await apns.send(to: Services.apnsTokens(300))
      #expect(result.delivered == 300)
      try await services.expectInbox(300)
      await apns.close()
    }
  }

  @Test func `a GOAWAY that refuses the credential for good is the lane's fault`() async throws {
    try await Services.with { services in
      let apns = try await services.apns { $0.connectionsPerLane = 1 }
      #expect(try await apns.send(to: Services.apnsTokens(1)).delivered == 1)
      try await services.fault([
        "lane": "apns", "action": "goaway", "debugData": #"{"reason":"BadCertificateEnvironment"}"#,
      ])
      let result = try await apns.send(to: Services.apnsTokens(30))
      #expect(result.delivered == 0)
      #expect(result.laneFault?.reason == "BadCertificateEnvironment")
      #expect(result.laneFault?.fault == .credentials)
      #expect(result.notSent > 0)
      await apns.close()
    }
  }

  @Test(arguments: [
    ("reset", Reason.answerLost), ("drop", .answerLost), ("silence", .timedOut),
  ])
  func `an answer that is lost may have been handled, and is the service's`(
    _ action: String, _ reason: Reason
  ) async throws {
    try await Services.with { services in
      let apns = try await services.apns {
        $0.requestTimeout = 1000
        $0.connectionsPerLane = 1
      }
      let tokens = Services.apnsTokens(40)
      #expect(try await apns.send(to: [tokens[0]]).delivered == 1)
      try await services.fault(["lane": "apns", "token": .string(tokens[10]), "action": .string(action)])
      let result = try await apns.send(to: tokens)
      guard case .answered(let verdict, _) = result.answers[10] else {
        Issue.record("\(result.answers[10])")
        return
      }
      #expect(verdict.reason == reason)
      #expect(verdict.fault == .service)
      #expect(verdict.answerMayBeLost)
      #expect(verdict.outcome == .transientlyFailed)
      #expect(result.answers.allSatisfy { $0 != .notSent })
      await apns.close()
    }
  }

  @Test func `a stream limit of one slows down and loses nobody`() async throws {
    var options = SimulatorOptions()
    options.apnsStreamLimit = 1
    try await Services.with(options) { services in
      let apns = try await services.apns()
      #expect(try await apns.send(to: Services.apnsTokens(120)).delivered == 120)
      try await services.expectInbox(120)
      await apns.close()
    }
  }

  @Test func `several batches at once share the lane`() async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      let tokens = Services.apnsTokens(2000)
      let delivered = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 0..<4 {
          group.addTask { try await apns.send(to: Array(tokens[index * 500..<(index + 1) * 500])).delivered }
        }
        return try await group.reduce(0, +)
      }
      #expect(delivered == 2000)
      try await services.expectInbox(2000)
      await apns.close()
    }
  }

  @Test func `retry-after and date are passed on`() async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      try await services.fault([
        "lane": "apns", "times": 1, "status": 503, "body": ["reason": "ServiceUnavailable"],
        "headers": ["retry-after": "Wed, 21 Oct 2026 07:29:00 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"],
      ])
      let result = try await apns.send(to: Services.apnsTokens(1))
      #expect(result.verdicts.first?.retryAfterMilliseconds == 60_000)
      await apns.close()
    }
  }

  @Test func `a message that APNs finds too large stops the batch and keeps every row`() async throws {
    try await Services.with { services in
      let apns = try await services.apns { $0.connectionsPerLane = 1 }
      #expect(try await apns.send(to: Services.apnsTokens(1)).delivered == 1)
      try await services.fault(["lane": "apns", "status": 413, "body": ["reason": "PayloadTooLarge"]])
      let result = try await apns.send(to: Services.apnsTokens(3000))
      #expect(result.reasons == ["PayloadTooLarge"])
      #expect(result.verdicts.allSatisfy { $0.outcome == .jobFails && $0.fault == .message })
      #expect(result.notSent > 0)
      await apns.close()
    }
  }

  @Test func `a permit that was taken back opens nothing, also in mid-batch`() async throws {
    var options = SimulatorOptions()
    options.apnsStreamLimit = 1
    try await Services.with(options) { services in
      let apns = try await services.apns {
        $0.connectionsPerLane = 1
        $0.requestTimeout = 3000
      }
      let revoked = SendPermit(validUntil: .max)
      revoked.revoke()
      #expect(try await apns.send(to: Services.apnsTokens(20), permit: revoked).notSent == 20)
      #expect(try await services.requests("apns") == 0)

      // A connection that answered before, one request at a time: the first answer never comes, and then it would be the
      // others' turn.
      #expect(try await apns.send(to: Services.apnsTokens(1)).delivered == 1)
      try await services.fault(["lane": "apns", "times": 1, "action": "silence"])
      let permit = SendPermit(validUntil: .max)
      async let sending = apns.send(to: Services.apnsTokens(20), permit: permit)
      while try await services.requests("apns") < 2 { await Task.yield() }
      permit.revoke()
      let result = try await sending
      #expect(result.reasons == [.timedOut])
      #expect(result.verdicts.count == 1)
      #expect(result.notSent == 19)
      #expect(result.laneFault == nil)
      #expect(try await services.requests("apns") == 2)
      await apns.close()
    }
  }

  @Test func `the store's time decides what is left of the time to live, not this machine's`() async throws {
    try await Services.with { services in
      let apns = try await services.apns()
      let message = PushMessage(title: "t", timeToLive: 60)
      let moment = services.clock.monotonic()
      let late = try await apns.send(
        message, to: Services.apnsTokens(5), expiresAt: services.clock.wall() - 3_600_000,
        expiresAtMoment: moment + 60_000)
      #expect(late.delivered == 5)
      let over = try await apns.send(
        message, to: Services.apnsTokens(5), expiresAt: services.clock.wall() + 3_600_000, expiresAtMoment: moment - 1)
      #expect(over.notSent == 5)
      await apns.close()
    }
  }
}
