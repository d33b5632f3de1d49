import Testing
import ZonaiCore
import ZonaiTestKit

struct StoppingTests {
  @Test func `a worker that is stopped settles what was answered and another goes on from there`() async throws {
    let world = World(streams: 10)
    world.insert("android", 1...400)
    let zonai = try world.zonai { $0.batchSize = 100 }
    let job = try await zonai.push(.hello, to: world.audience)

    world.fcm.answersGate.shut()
    let work = Task { try await zonai.run() }
    await world.fcm.waitUntilSent(10)
    zonai.shutdown()
    world.fcm.answersGate.open()
    let report = try await work.value

    #expect(report.wasStopped)
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.state == .running)
    #expect(stopped.counts.delivered == world.fcm.sent.count)
    #expect(world.fcm.sent.count < 400)
    #expect(try await zonai.workers().allSatisfy { $0.leases == 0 })

    let next = try world.zonai { $0.batchSize = 100 }
    let done = try await world.finish(job.id, with: next)
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 400)
    #expect(Set(world.sentTokens).count == 400)
    #expect(world.fcm.sent.count == 400, "nobody twice")
    #expect(done.counts.repeatedByTakeover == 0)
  }

  @Test func `cancelling the task that runs a worker stops it in the same way`() async throws {
    let world = World(streams: 10)
    world.insert("android", 1...200)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let work = Task { try await zonai.run() }
    await world.fcm.waitUntilSent(10)
    work.cancel()
    world.fcm.answersGate.open()
    let report = try await work.value
    #expect(report.wasStopped)
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.counts.delivered == world.fcm.sent.count)
  }

  @Test func `what is not answered within the grace time is owed, and counted as a possible repeat`() async throws {
    let world = World(streams: 10)
    world.insert("android", 1...40)
    let zonai = try world.zonai { $0.gracePeriodSeconds = 20 }
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let work = Task { try await zonai.run() }
    await world.fcm.waitUntilSent(10)
    zonai.shutdown()
    await world.events.wait { if case .stopping = $0 { true } else { false } }
    await world.clock.turn(20_000)
    _ = try await work.value

    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.counts.settled == 0)
    #expect(stopped.owed == 40)
    #expect(stopped.counts.repeatedAfterLostAnswer == 40)
    world.fcm.answersGate.open()
  }

  @Test func `a cancelled job stops at once, keeps its place and can be resumed`() async throws {
    let world = World(streams: 10)
    world.insert("android", 1...300)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let drain = Task { try await zonai.drain() }
    await world.fcm.waitUntilSent(10)
    let cancelled = try await zonai.cancel(job.id)
    #expect(cancelled.state == .cancelled)
    // The next renewal tells the worker.
    await world.clock.turn(600_000)
    await world.events.wait { if case .batchStopped = $0 { true } else { false } }
    world.fcm.answersGate.open()
    _ = try await drain.value

    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.state == .cancelled)
    #expect(stopped.counts.delivered == world.fcm.sent.count)
    #expect(world.fcm.sent.count < 300)
    try await zonai.resume(job.id)
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.counts.delivered == 300)
    #expect(world.fcm.sent.count == 300)
  }

  @Test func `a worker that was stopped before it began claims nothing`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    zonai.shutdown()
    let report = try await zonai.run()
    #expect(report.wasStopped)
    #expect(report.batches == 0)
    #expect(try await zonai.job(job.id)?.state == .pending)
  }
}
