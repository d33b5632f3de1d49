import Testing
import ZonaiCore
import ZonaiTestKit

@Suite(.timeLimit(.minutes(1)))
struct StoreTroubleTests {
  static let away = StoreError(.unavailable, "cannot reach the database")
  static let full = StoreError(.full, "the disk is full")

  @Test func `a store that was never reached is told at once`() async throws {
    let world = World()
    let store = StoreDouble(world.store)
    store.fail(.bind, with: [Self.away])
    let zonai = try world.zonai(store: store)
    let error = await #expect(throws: StoreError.self) { try await zonai.run() }
    #expect(error?.code == .unavailable)
    #expect(store.count(.bind) == 1)
    #expect(store.count(.claim) == 0)
  }

  @Test func `a busy store is tried again, after a pause each time`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let store = StoreDouble(world.store)
    store.fail(.claim, with: Array(repeating: StoreError(.busy, "locked"), count: 4))
    let zonai = try world.zonai(store: store)
    let job = try await zonai.push(.hello, to: world.audience)
    let before = world.clock.now
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.counts.delivered == 3)
    #expect(world.clock.now > before)
    #expect(
      world.events.count {
        if case .storeTrouble(.claim, _, .some) = $0 { true } else { false }
      } == 4)
  }

  @Test func `answers are settled once the store is back`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let store = StoreDouble(world.store)
    store.fail(.settle, with: Array(repeating: Self.away, count: 3))
    let zonai = try world.zonai(store: store)
    let job = try await zonai.push(.hello, to: world.audience)
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.counts.delivered == 3)
    #expect(world.fcm.sent.count == 3)
  }

  @Test func `a store that cannot record ends the worker before more is sent`() async throws {
    let world = World()
    world.insert("android", 1...5000)
    let store = StoreDouble(world.store)
    store.fail(.settle, with: Array(repeating: Self.full, count: 100))
    let zonai = try world.zonai(store: store) { $0.batchSize = 100 }
    try await zonai.push(.hello, to: world.audience)
    let error = await #expect(throws: StoreError.self) { try await zonai.run() }
    #expect(error?.code == .full)
    #expect(world.fcm.sent.count == 50, "the first batch and no other")
  }

  @Test func `patience has a limit`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let store = StoreDouble(world.store)
    let zonai = try world.zonai(store: store) { $0.storePatienceSeconds = 30 }
    try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    store.fail(.claim, with: Array(repeating: Self.away, count: 1000))
    let before = world.clock.now
    let passing = Task { await world.clock.passAlong() }
    await #expect(throws: StoreError.self) { try await zonai.drain() }
    passing.cancel()
    #expect(world.clock.now - before >= 30_000)
    #expect(store.count(.claim) < 50, "with backoff")
  }

  @Test func `a contended claim is no hot loop`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let store = StoreDouble(world.store)
    store.contend(times: 20)
    let zonai = try world.zonai(store: store)
    let job = try await zonai.push(.hello, to: world.audience)
    let before = world.clock.now
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.state == .completed)
    #expect(world.clock.now - before >= 1000, "it slept between its claims")
  }

  @Test func `an idle worker looks again by its clock and tells once that it is idle`() async throws {
    let world = World()
    let store = StoreDouble(world.store)
    let zonai = try world.zonai(store: store) { $0.pollSeconds = 2 }
    let work = Task { try await zonai.run() }
    for _ in 1...5 { await world.clock.turn(2000) }
    zonai.shutdown()
    _ = try await work.value
    #expect(world.events.count { if case .idle = $0 { true } else { false } } == 1)
    #expect(store.count(.claim) < 30)
  }
}
