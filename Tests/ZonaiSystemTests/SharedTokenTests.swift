import Testing
import ZonaiJSON
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Worker processes of one team, against a service that counts provider tokens.
@Suite(.timeLimit(.minutes(5)))
struct SharedTokenTests {
  private static let devices = (1...240).map { Device.ios($0) }
  private static let slot: Int64 = 30 * 60_000

  /// Four workers at once on one job, so slow that everybody gets something to send.
  private func race(_ stage: Stage, _ script: Script) async throws {
    let id = try await script.push()
    try await stage.fault(["lane": "apns", "delayMs": 250])
    let workers = try (0..<4).map { _ in try script.work("--once") }
    for worker in workers { #expect(try await worker.end() == 0, "\(worker.errors)") }
    try await stage.forgetFaults()
    #expect(try await script.show(id)["state"] == "completed")
    let busy = workers.count { worker in
      worker.events.contains { $0["event"] == "stopped" && $0["batches"]?.integer ?? 0 > 0 }
    }
    #expect(busy >= 2, "how many workers sent something")
  }

  private func apns(_ stage: Stage) async throws -> (tokens: Int64, refused: Int64) {
    let shown = try await stage.simulator.control("GET", "/credentials")["apns"]?["providerTokens"]?.integer
    let answers = try await stage.simulator.control("GET", "/status")["lanes"]?["apns"]?["answers"]
    return (shown ?? -1, answers?["429 TooManyProviderTokenUpdates"]?.integer ?? 0)
  }

  @Test func `processes that find the shared token old agree on one new one`() async throws {
    try await Stage.with(Self.devices) { stage in
      let script = try Script(stage, settings: ["batchSize": 5, "pollSeconds": 0.05])
      try await race(stage, script)
      #expect(try await apns(stage).tokens == 1)
      #expect(try stage.database.number("SELECT count(*) FROM zonai_secrets") == 1)
      // As it will be in 51 minutes.
      let aged = 51 * 60_000
      try stage.database.run("UPDATE zonai_secrets SET made_at = made_at - \(aged), ends_at = ends_at - \(aged)")
      try await stage.simulator.control("POST", "/clock", ["advanceMs": .integer(Int64(aged))])
      try await race(stage, script)
      let seen = try await apns(stage)
      #expect(seen.tokens == 2)
      #expect(seen.refused == 0)
      #expect(try stage.database.number("SELECT count(*) FROM zonai_secrets") == 1)
    }
  }

  @Test func `processes that share nothing make the same token, and store none`() async throws {
    try await Stage.with(Self.devices) { stage in
      let script = try Script(
        stage, settings: ["batchSize": 5, "pollSeconds": 0.05], apns: ["shareProviderToken": false])
      // A token of the next half hour may come at any moment of the real clock.
      try await stage.simulator.control("POST", "/credentials", ["lane": "apns", "providerTokenUpdateSeconds": 1])
      let begun = WallClock.milliseconds() / Self.slot
      try await race(stage, script)
      let slots = WallClock.milliseconds() / Self.slot - begun + 1
      #expect((1...slots).contains(try await apns(stage).tokens))
      #expect(try stage.database.number("SELECT count(*) FROM zonai_secrets") == 0)
    }
  }
}
