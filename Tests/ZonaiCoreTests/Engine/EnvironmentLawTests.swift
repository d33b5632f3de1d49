import Testing
import ZonaiCore
import ZonaiTestKit

/// Checks of tokens in a lane's other environment, as the engine makes them.
@Suite(.timeLimit(.minutes(1)))
struct EnvironmentLawTests {
  private func scene(_ bad: [Int], of count: Int) -> World {
    let world = World(otherEnvironment: .canBeAsked)
    world.insert("ios", 1...count)
    for number in bad { world.apns.answer("ios-\(number)", with: .suspect(.aboutLane), times: .max) }
    return world
  }

  @Test func `each bad token is asked about once, and only what the other environment confirms is pruned`() async throws
  {
    let world = scene([3, 8, 13], of: 60)
    world.apns.answerCheck("ios-8", with: .undecided("the sandbox environment answers 410"))
    world.apns.answerCheck(
      "ios-13",
      with: .aliveThere(
        Verdict(.transientlyFailed, fault: .configuration, reason: "TokenOfOtherEnvironment", names: "apns.useSandbox"))
    )
    let zonai = try world.zonai { $0.batchSize = 20 }
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(world.apns.checked.map(\.text).sorted() == ["ios-13", "ios-3", "ios-8"])
    #expect(done.counts.pruned == 1)
    #expect(world.isCleared(3))
    #expect(!world.isCleared(8))
    #expect(!world.isCleared(13))
    #expect(done.counts.transientlyFailed == 2)
  }

  @Test func `an other environment that never answers delays its batch by one time limit, and keeps the row`()
    async throws
  {
    let world = scene([3], of: 10)
    world.apns.checksGate.shut()
    let zonai = try world.zonai { $0.sendLimitSeconds = 40 }
    let job = try await zonai.push(.hello, to: world.audience)
    let run = Task { try await zonai.run(only: job.id) }
    await world.apns.waitUntilChecked(1)
    await world.clock.turn(40_000)
    let done = try await run.value
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 9)
    #expect(done.counts.transientlyFailed == 1)
    #expect(!world.isCleared(3))
    world.apns.checksGate.open()
  }

  @Test func `a worker that must stop does not wait for the other environment beyond its grace`() async throws {
    let world = scene([3], of: 10)
    world.apns.checksGate.shut()
    let zonai = try world.zonai { $0.gracePeriodSeconds = 20 }
    let job = try await zonai.push(.hello, to: world.audience)
    let run = Task { try await zonai.run() }
    await world.apns.waitUntilChecked(1)
    zonai.shutdown()
    await world.events.wait { if case .stopping = $0 { true } else { false } }
    await world.clock.turn(20_000)
    _ = try await run.value
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.counts.delivered == 9)
    #expect(stopped.owed == 1, "the recipient is sent to again, and asked about then")
    #expect(!world.isCleared(3))
    world.apns.checksGate.open()
  }

  @Test func `checks above the hour's budget are not made, and the rows are kept`() async throws {
    let world = scene(Array(stride(from: 6, through: 1500, by: 6)), of: 1500)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(world.apns.checked.count == 200)
    #expect(done.counts.pruned == 200)
    #expect(done.counts.transientlyFailed == 50)
    #expect(done.counts.settled == 1500)
  }
}
