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
      let orders = result.answers.compactMap { $0?.sent.order }
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
      let endless = String(repeating: "a1", count: 70_000)
      let result = try await apns.send(to: [Services.apnsTokens(1)[0], "fcm:token_x", "abc", endless, "a1/../a1"])
      #expect(result.delivered == 1)
      #expect(result.laneFault == nil)
      #expect(result.verdicts.map(\.fault) == Array(repeating: .configuration, count: 4))
      #expect(result.verdicts.allSatisfy { $0.outcome == .transientlyFailed })
      #expect(result.reasons == [.tokenNotForLane])
      #expect(try await services.requests("apns") == 1)
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
      let result = try await apns.send(to: Services.apnsTokens(200))
      #expect(result.delivered == 0)
      #expect(result.reasons == [.notTheService])
      #expect(result.verdicts.allSatisfy { $0.fault == .service && $0.faultWhenRepeated == .configuration })
      #expect(result.verdicts.allSatisfy { $0.names == "APNs endpoint" })
      #expect(result.verdicts.allSatisfy { $0.answerMayBeLost })
      #expect(result.notSent == 0)
      await apns.close()
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

  @Test(arguments: [
    ("reset", Reason.answerLost), ("drop", .answerLost), ("silence", .timedOut),
  ])
  func `an answer that is lost may have been handled, and is the service's`(
    _ action: String, _ reason: Reason
  ) async throws {
    try await Services.with { services in
      let apns = try await services.apns {
        $0.requestTimeout = 5000
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
      #expect(result.answers.allSatisfy { $0 != nil })
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
        $0.requestTimeout = 10_000
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
