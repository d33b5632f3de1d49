import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiSimulator
import ZonaiTestKit

@testable import ZonaiTransports

@Suite struct APNsCredentialEndToEndTests {
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
      try await services.fault(["lane": "apns", "times": 2000, "delayMs": 20])
      let before = try await services.requests("apns")
      async let sending = withThrowingTaskGroup(of: CollectedSend.self) { group in
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

  @Test func `TooManyProviderTokenUpdates opens no further request, keeps the token and mints none`() async throws {
    try await Services.with { services in
      let apns = try await services.apns { $0.connectionsPerLane = 1 }
      let tokens = Services.apnsTokens(2000)
      #expect(try await apns.send(to: [tokens[0]]).delivered == 1)
      let throttle: JSON = ["lane": "apns", "status": 429, "body": ["reason": "TooManyProviderTokenUpdates"]]
      try await services.fault(throttle)
      let before = try await services.requests("apns")
      let result = try await apns.send(to: tokens)
      #expect(result.delivered == 0)
      #expect(result.laneFault == nil)
      #expect(result.reasons == ["TooManyProviderTokenUpdates"])
      #expect(result.verdicts.allSatisfy { $0.slowsLane && $0.fault == .service && $0.retry == .attempts })
      // What was open when the first answer came is read to its end.
      #expect(result.verdicts.count == Int(try await services.requests("apns") - before))
      #expect(result.notSent == 2000 - result.verdicts.count)
      #expect(result.verdicts.count < 200)
      try await services.simulator.control("DELETE", "/faults")
      let again = try await apns.send(to: tokens)
      #expect(again.delivered == 2000)
      #expect(again.credentials == [1])
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
}
