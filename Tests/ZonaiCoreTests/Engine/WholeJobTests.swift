import Testing
import ZonaiCore
import ZonaiTestKit

struct WholeJobTests {
  @Test func `a job over both platforms reaches everybody once and completes`() async throws {
    let world = World()
    world.insert("android", 1...700)
    world.insert("iOS", 701...1300)
    let zonai = try world.zonai()

    let job = try await zonai.push(.hello, to: world.audience)
    let report = try await zonai.drain()

    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 1300)
    #expect(done.counts.settled == 1300)
    #expect(world.fcm.sent.count == 700)
    #expect(world.apns.sent.count == 600)
    #expect(Set(world.sentTokens).count == 1300)
    #expect(report.jobsEnded == 1)
    #expect(report.remaining?.owedLater == 0)
  }

  @Test func `a job's first batch is small and alone until it is settled`() async throws {
    let world = World()
    world.insert("android", 1...300)
    let zonai = try world.zonai { $0.batchSize = 100 }
    try await zonai.push(.hello, to: world.audience)

    try await zonai.drain()

    #expect(world.fcm.sent.count == 300)
    let claimed = world.events.all.compactMap { event in
      if case .claimed(_, let recipients, _) = event { recipients } else { nil }
    }
    #expect(claimed == [50, 100, 100, 50])
    let story = world.events.all.compactMap { event in
      switch event {
      case .claimed: "claimed"
      case .settled: "settled"
      default: nil
      }
    }
    #expect(story.prefix(3) == ["claimed", "settled", "claimed"])
  }

  @Test func `memory is bounded by the batches in flight, not by the audience`() async throws {
    let world = World()
    world.insert("android", 1...10_000)
    let store = StoreDouble(world.store)
    let zonai = try world.zonai(store: store) {
      $0.batchSize = 200
      $0.batchesInFlight = 3
    }
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()

    #expect(try await zonai.job(job.id)?.counts.delivered == 10_000)
    #expect(store.mostClaimed <= 3 * 200)
    #expect(store.mostClaimed > 200, "several batches were in flight")
  }

  @Test func `two workers share one job and nobody is sent to twice`() async throws {
    let world = World(passes: true)
    world.insert("android", 1...4000)
    let first = try world.zonai { $0.batchSize = 50 }
    let second = try world.zonai(store: InMemoryStore(on: world.database)) { $0.batchSize = 50 }
    let job = try await first.push(.hello, to: world.audience)
    async let one = first.drain()
    async let two = second.drain()
    _ = try await (one, two)

    let done = try #require(try await first.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 4000)
    #expect(world.fcm.sent.count == 4000)
    #expect(Set(world.sentTokens).count == 4000)
  }

  @Test func `an empty audience completes`() async throws {
    let world = World()
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    #expect(try await zonai.job(job.id)?.state == .completed)
    #expect(world.events.count { if case .jobEnded(_, .completed, _, nil) = $0 { true } else { false } } == 1)
  }

  @Test func `one job is worked on to its end and the others are left`() async throws {
    let world = World()
    world.insert("android", 1...10)
    let zonai = try world.zonai()
    let other = try await zonai.push(.hello, to: world.audience)
    let mine = try await zonai.push(PushMessage(title: "mine"), to: world.audience)
    let done = try await zonai.run(only: mine.id)
    #expect(done.state == .completed)
    #expect(try await zonai.job(other.id)?.state == .pending)
    #expect(Set(world.fcm.sent.map(\.message.title)) == ["mine"])
  }

  @Test func `working on a job that is not there says so`() async throws {
    let zonai = try World().zonai()
    await #expect(throws: ZonaiError.self) { try await zonai.run(only: JobID("nope")) }
  }
}
