import Testing
import ZonaiCore
import ZonaiTestKit
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite(.timeLimit(.minutes(2)))
struct HeartbeatTests {
  @Test func `a batch slower than its lease is not taken over while its worker lives`() async throws {
    let world = World()
    world.insert("android", 1...20)
    let store = StoreDouble(world.store)
    let zonai = try world.zonai(store: store) { $0.leaseSeconds = 60 }
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let drain = Task { try await zonai.drain() }
    await world.fcm.waitUntilSent(20)
    for beat in 1...10 {
      await world.clock.turn(20_000)
      // The first one of all said that the worker is there.
      await store.wait(for: .renew, count: beat + 1)
    }
    // Over three leases later, another worker finds nothing to do.
    let other = ClaimRequest(worker: WorkerID(rawValue: "other"), transports: [.fcm, .apns])
    guard case .nothing(let idle) = try await world.store.claim(other) else {
      Issue.record("a live worker's batch was handed out")
      return
    }
    #expect(idle.leasesElsewhere == 1)
    world.fcm.answersGate.open()
    _ = try await drain.value
    #expect(try await zonai.job(job.id)?.counts.delivered == 20)
    #expect(world.fcm.sent.count == 20)
  }

  @Test func `an application that blocks the whole cooperative pool does not lose its leases`() async throws {
    let world = World()
    world.insert("android", 1...20)
    let store = StoreDouble(world.store)
    let zonai = try world.zonai(store: store) { $0.leaseSeconds = 60 }
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let drain = Task { try await zonai.drain() }
    await world.fcm.waitUntilSent(20)
    let moment = world.clock.now + 20_000
    await world.clock.waitForSleeper { $0 == moment }

    let width = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    let hang = Hang()
    // Not on the pool: once it is blocked, only threads of our own go on.
    let driver = try NamedThread(name: "driver") {
      hang.blockUntilBlocked(width)
      for beat in 1...6 {
        // The heartbeat lies down on its own thread.
        while world.clock.nextWaking.map({ $0 > world.clock.now + 20_000 }) ?? true { sched_yield() }
        world.clock.advance(milliseconds: 20_000)
        store.block(for: .renew, count: beat + 1)
      }
      hang.release()
    }
    await withTaskGroup { group in
      for _ in 0..<(width * 2) { group.addTask { hang.block() } }
    }
    #expect(store.count(.renew) >= 6)
    #expect(try await zonai.workers().first?.leases == 1)
    let other = ClaimRequest(worker: WorkerID(rawValue: "other"), transports: [.fcm, .apns])
    guard case .nothing = try await world.store.claim(other) else {
      Issue.record("the batch was lost while the pool was blocked")
      return
    }
    world.fcm.answersGate.open()
    _ = try await drain.value
    #expect(try await zonai.job(job.id)?.counts.delivered == 20)
    withExtendedLifetime(driver) {}
  }

  @Test func `a worker that cannot renew opens no request after two thirds, and commits nothing once it lost`()
    async throws
  {
    let world = World(streams: 10)
    world.insert("android", 1...40)
    let store = StoreDouble(world.store)
    store.fail(.renew, with: Array(repeating: StoreError(.unavailable, "away"), count: 1000))
    let zonai = try world.zonai(store: store) { $0.leaseSeconds = 60 }
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let drain = Task { try await zonai.run() }
    await world.fcm.waitUntilSent(10)
    // Its store is away altogether: it cannot take its own batch over either.
    store.fail(.claim, with: Array(repeating: StoreError(.unavailable, "away"), count: 1000))
    // The heartbeat that says that the worker is there failed too, and is tried again.
    await store.wait(for: .renew, count: 1)
    let retry = world.clock.now + 3_333
    await world.clock.waitForSleeper { $0 == retry }
    world.clock.advance(milliseconds: 20_000)
    await store.wait(for: .renew, count: 2)
    world.clock.advance(milliseconds: 42_000)

    // Somebody else takes over, and has its own way out.
    let lane = ScriptedTransport(world.fcm.lane, clock: world.clock)
    let rescuer = try world.zonai(transports: [lane, world.apns], store: InMemoryStore(on: world.database))
    try await rescuer.drain()
    let done = try #require(try await rescuer.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 40)
    #expect(done.counts.repeatedByTakeover == 40)

    world.fcm.answersGate.open()
    await world.events.wait { if case .leaseLost = $0 { true } else { false } }
    zonai.shutdown()
    _ = try await drain.value
    #expect(world.fcm.sent.count == 10, "no request after two thirds of the lease")
    #expect(try await rescuer.job(job.id)?.counts.delivered == 40)
  }

  @Test func `after two thirds without a renewal nothing is opened, and what was answered is still committed`()
    async throws
  {
    let world = World(streams: 10)
    world.insert("android", 1...40)
    let store = StoreDouble(world.store)
    store.fail(.renew, with: Array(repeating: StoreError(.unavailable, "away"), count: 1000))
    let zonai = try world.zonai(store: store) { $0.leaseSeconds = 60 }
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let drain = Task { try await zonai.drain() }
    await world.fcm.waitUntilSent(10)
    // The heartbeat that says that the worker is there failed too, and is tried again.
    await store.wait(for: .renew, count: 1)
    let retry = world.clock.now + 3_333
    await world.clock.waitForSleeper { $0 == retry }
    world.clock.advance(milliseconds: 20_000)
    await store.wait(for: .renew, count: 2)
    world.clock.advance(milliseconds: 25_000)
    world.fcm.answersGate.open()
    _ = try await drain.value

    let given = try #require(try await zonai.job(job.id))
    #expect(world.fcm.sent.count == 10)
    #expect(given.counts.delivered == 10)
    #expect(given.owed == 30)
    store.stopFailing(.renew)
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.counts.delivered == 40)
    #expect(world.fcm.sent.count == 40)
    #expect(done.counts.repeatedByTakeover == 0)
  }

  @Test func `draining waits for the lease of a worker that died`() async throws {
    let world = World()
    world.insert("android", 1...5)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    let dead = ClaimRequest(worker: WorkerID(rawValue: "dead"), transports: [.fcm, .apns], leaseMilliseconds: 5000)
    guard case .batch = try await world.store.claim(dead) else {
      Issue.record("there was a batch to claim")
      return
    }
    let passing = Task { await world.clock.passAlong() }
    try await zonai.drain()
    passing.cancel()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.repeatedByTakeover == 5)
    #expect(world.events.count { if case .claimed(_, 5, true) = $0 { true } else { false } } == 1)
  }

  @Test func `a claim that searched for most of a lease leaves the batch the lease whole`() async throws {
    let world = World()
    world.insert("android", 1...5)
    let store = StoreDouble(world.store)
    let zonai = try world.zonai(store: store) { $0.leaseSeconds = 60 }
    let job = try await zonai.push(.hello, to: world.audience)
    store.search { world.clock.advance(milliseconds: 50_000) }
    try await zonai.drain()
    #expect(try await zonai.job(job.id)?.counts.delivered == 5)
    #expect(world.events.count { if case .claimed = $0 { true } else { false } } == 1)
  }
}
