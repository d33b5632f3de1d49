import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiSimulator

@testable import ZonaiTransports

@Suite struct FCMEndToEndTests {
  @Test func `everybody gets the message once, as it was meant`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let message = PushMessage(
        title: "Title", body: "Text", data: ["k": "v"], collapseKey: "news", timeToLive: 600, priority: .high)
      let tokens = Services.fcmTokens(1200)
      let result = try await fcm.send(message, to: tokens, expiresAt: services.clock.wall() + 300_000)
      #expect(result.delivered == 1200)
      #expect(result.laneFault == nil)
      #expect(result.credentials == [1])
      #expect(Set(result.answers.compactMap { $0?.sent.order }).count == 1200)
      try await services.expectInbox(1200)
      #expect(try await services.requests("oauth") == 1)
      let sent = try #require(try await services.inbox(1).first)
      #expect(sent["headers"]?["x-goog-api-format-version"] == "2")
      #expect(sent["headers"]?["content-type"] == "application/json")
      let body = try #require(sent["body"]?["message"])
      #expect(body["token"] == sent["token"])
      #expect(body["notification"] == ["title": "Title", "body": "Text"])
      #expect(body["data"] == ["k": "v"])
      let left = try #require(body["android"]?["ttl"]?.string)
      #expect(left.hasSuffix("s"))
      #expect((270...300).contains(Int(left.dropLast()) ?? 0))
      await fcm.close()
    }
  }

  @Test(arguments: [
    ("uninstalled", "UNREGISTERED", Fault.recipient, Verdict.Outcome.permanentlyRejected),
    ("throttled", "QUOTA_EXCEEDED", .recipient, .transientlyFailed),
    ("otherProject", "SENDER_ID_MISMATCH", .configuration, .transientlyFailed),
  ])
  func `what FCM says of a device is its verdict, and the others are delivered to`(
    _ state: String, _ reason: String, _ fault: Fault, _ outcome: Verdict.Outcome
  ) async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let tokens = Services.fcmTokens(50)
      try await services.simulator.control("PUT", "/devices/\(tokens[20])", ["state": .string(state)])
      let result = try await fcm.send(to: tokens)
      #expect(result.delivered == 49)
      #expect(result.verdicts.map(\.reason.rawValue) == [reason])
      #expect(result.verdicts.map(\.fault) == [fault])
      #expect(result.verdicts.map(\.outcome) == [outcome])
      await fcm.close()
    }
  }

  @Test func `a service that takes its time gets more connections, each with a hundred requests at most`() async throws
  {
    try await Services.with { services in
      let fcm = try await services.fcm()
      try await services.fault(["lane": "fcm", "delayMs": 300])
      async let result = fcm.send(to: Services.fcmTokens(6000))
      while try await services.connections("fcm") < 24 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(try await result.delivered == 6000)
      #expect(try await services.connections("fcm") <= 32)
      try await services.expectInbox(6000)
      await fcm.close()
    }
  }

  @Test func `a 429 for the whole project opens no further request, one for a device stops nothing`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm { $0.connectionsPerLane = 1 }
      let tokens = Services.fcmTokens(2000)
      #expect(try await fcm.send(to: [tokens[0]]).delivered == 1)
      try await services.fault([
        "lane": "fcm", "after": 10, "times": 1, "status": 429,
        "body": ["error": ["code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded."]],
      ])
      let before = try await services.requests("fcm")
      let result = try await fcm.send(to: tokens)
      #expect(result.reasons == ["RESOURCE_EXHAUSTED"])
      #expect(result.laneFault == nil)
      #expect(result.delivered + 1 == Int(try await services.requests("fcm") - before))
      #expect(result.notSent == 1999 - result.delivered)
      #expect(result.delivered < 500)
      #expect(try await fcm.send(to: tokens).delivered == 2000)
      await fcm.close()
    }
  }

  @Test func `tokens that need escaping arrive as they are, those that cannot be FCM's are not sent`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let odd = ["with \"quotes\" and \\", "line\nbreak", "tab\tand ü"]
      var list = TokenList(Services.fcmTokens(2) + odd + Services.apnsTokens(1))
      list.append([0x61, 0xff, 0x62][...])
      let batch = PushBatch(
        message: try fcm.prepare(PushMessage(title: "t")), tokens: list, selection: Array(0..<list.count),
        expiresAt: nil, permit: SendPermit(validUntil: .max))
      let result = await fcm.collect(batch)
      #expect(result.delivered == 2)
      // The simulator names the token as malformed: it understood the body.
      for index in 2..<5 {
        guard case .answered(let verdict, _) = result.answers[index] else {
          Issue.record("\(result.answers[index])")
          continue
        }
        #expect(verdict.evidence?.about == .token || verdict.evidence == .namesNothing, "\(verdict)")
        #expect(verdict.fault == .recipient)
      }
      for index in 5..<7 {
        guard case .answered(let verdict, let sent) = result.answers[index] else {
          Issue.record("\(result.answers[index])")
          continue
        }
        #expect(verdict.reason == .tokenNotForLane)
        #expect(sent.order == 0)
      }
      #expect(try await services.requests("fcm") == 5)
      await fcm.close()
    }
  }

  @Test(arguments: ["", " ", "<html>welcome</html>", "[]"])
  func `a 200 without FCM's JSON is another server's, and delivers to nobody`(_ body: String) async throws {
    try await Services.with { services in
      let fcm = try await services.fcm { $0.connectionsPerLane = 1 }
      try await services.fault(["lane": "fcm", "status": 200, "body": .string(body), "deliver": false])
      let result = try await fcm.send(to: Services.fcmTokens(200))
      #expect(result.delivered == 0)
      #expect(result.reasons == [.notTheService])
      #expect(result.verdicts.allSatisfy { $0.fault == .service && $0.faultWhenRepeated == .configuration })
      #expect(result.verdicts.allSatisfy { $0.names == "FCM endpoint" })
      #expect(result.notSent == 0)
      await fcm.close()
    }
  }

  @Test(arguments: [(404, "<html>not here</html>"), (400, ""), (302, "")])
  func `another server's answer is tried again, and names the endpoint`(_ status: Int64, _ body: String) async throws {
    try await Services.with { services in
      let fcm = try await services.fcm { $0.connectionsPerLane = 1 }
      try await services.fault(["lane": "fcm", "status": .integer(status), "body": .string(body)])
      let result = try await fcm.send(to: Services.fcmTokens(2000))
      #expect(result.reasons == [.notTheService])
      #expect(result.verdicts.allSatisfy { $0.fault == .service && $0.faultWhenRepeated == .configuration })
      #expect(result.verdicts.allSatisfy { $0.names == "FCM endpoint" })
      #expect(result.notSent == 0)
      await fcm.close()
    }
  }

  @Test func `a GOAWAY hands back what was not handled, and only that`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm { $0.connectionsPerLane = 1 }
      try await services.fault(["lane": "fcm", "after": 150, "times": 1, "action": "goaway"])
      let tokens = Services.fcmTokens(600)
      let result = try await fcm.send(to: tokens)
      let again = result.answers.indices.filter { if case .answered = result.answers[$0] { true } else { false } }
      #expect(result.reasons == [.notHandled])
      #expect(result.verdicts.allSatisfy { $0.retry == .free })
      #expect(try await fcm.send(to: again.map { tokens[$0] }).delivered == again.count)
      try await services.expectInbox(600)
      await fcm.close()
    }
  }

  @Test func `no more than a hundred requests are under way on a connection`() async throws {
    var options = SimulatorOptions()
    options.fcmStreamLimit = 1000
    try await Services.with(options) { services in
      let fcm = try await services.fcm { $0.connectionsPerLane = 1 }
      // So many that the connection has as many streams as it may.
      #expect(try await fcm.send(to: Services.fcmTokens(2000)).delivered == 2000)
      let before = try await services.requests("fcm")
      try await services.fault(["lane": "fcm", "action": "silence"])
      let permit = SendPermit(validUntil: .max)
      async let sending = fcm.send(to: Services.fcmTokens(500), permit: permit)
      while try await services.requests("fcm") - before < 100 { await Task.yield() }
      permit.revoke()
      await fcm.close()
      let result = try await sending
      #expect(result.verdicts.count == 100)
      #expect(result.notSent == 400)
    }
  }

  @Test func `a message whose time to live ran out is not sent`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let message = PushMessage(title: "t", timeToLive: 60)
      let result = try await fcm.send(message, to: Services.fcmTokens(5), expiresAt: services.clock.wall() - 1)
      #expect(result.notSent == 5)
      #expect(result.laneFault == nil)
      // Now or never is passed on as it is.
      let now = PushMessage(title: "t", timeToLive: 0)
      #expect(try await fcm.send(now, to: Services.fcmTokens(5), expiresAt: 1).delivered == 5)
      #expect(try await services.inbox(1).first?["body"]?["message"]?["android"]?["ttl"] == "0s")
      await fcm.close()
    }
  }

  @Test func `the store's time decides what is left of the time to live, not this machine's`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm()
      let message = PushMessage(title: "t", timeToLive: 60)
      let moment = services.clock.monotonic()
      let late = try await fcm.send(
        message, to: Services.fcmTokens(5), expiresAt: services.clock.wall() - 3_600_000,
        expiresAtMoment: moment + 60_000)
      #expect(late.delivered == 5)
      let over = try await fcm.send(
        message, to: Services.fcmTokens(5), expiresAt: services.clock.wall() + 3_600_000, expiresAtMoment: moment - 1)
      #expect(over.notSent == 5)
      await fcm.close()
    }
  }
}
