import Testing
import ZonaiCore
import ZonaiTestKit

/// Several batches at once whose hooks never return.
@Suite(.timeLimit(.minutes(1)))
struct HangingHookTests {
  /// A first batch of one device that lives, then three of ten that are dead.
  private struct Scene {
    let world = World()
    let hang = Hang()
    let store: StoreDouble

    init() {
      world.insert("android", 1...31)
      for number in 2...31 { world.fcm.answer("android-\(number)", with: .dead, times: .max) }
      store = StoreDouble(world.store)
    }

    func zonai(_ change: (inout ZonaiOptions) -> Void) throws -> Zonai {
      try world.zonai(
        store: store,
        options: {
          $0.firstBatchSize = 1
          $0.batchSize = 10
          $0.hooksAtOnce = 1
          change(&$0)
        },
        hook: { [hang] _ in
          hang.block()
          return .keep
        })
    }

    /// Returns once a hook hangs and every batch wants its own asked.
    func waitUntilAllAsk() async {
      await hang.waitUntilBlocked(1)
      await world.events.wait(30) { if case .rejected = $0 { true } else { false } }
      // From the report to the queue for a thread it is a few steps of other tasks.
      for _ in 0..<200 { await Task.yield() }
    }
  }

  @Test func `the last hook that may hang answers every batch that waits for a thread`() async throws {
    let scene = Scene()
    let zonai = try scene.zonai { $0.abandonedHooksLimit = 1 }
    let job = try await zonai.push(.hello, to: scene.world.audience)
    let run = Task { try await zonai.run() }
    await scene.waitUntilAllAsk()
    await scene.world.clock.turn(10_000)
    let error = await #expect(throws: ZonaiError.self) { try await run.value }
    #expect(error?.code == .hooksStuck)
    #expect(scene.hang.blocked == 1)
    #expect(try await zonai.job(job.id)?.counts.pruned == 1)
    #expect(try await zonai.workers().allSatisfy { $0.leases == 0 })
    scene.hang.release()
  }

  @Test func `a worker that is told to stop ends though hooks hold every thread`() async throws {
    let scene = Scene()
    let zonai = try scene.zonai {
      $0.abandonedHooksLimit = 1
      $0.gracePeriodSeconds = 5
    }
    try await zonai.push(.hello, to: scene.world.audience)
    let run = Task { try await zonai.run() }
    await scene.waitUntilAllAsk()
    zonai.shutdown()
    await scene.world.clock.turn(5000)
    // Whether it says that hooks are stuck depends on which batch hears of the end first.
    _ = await run.result
    #expect(try await zonai.workers().allSatisfy { $0.leases == 0 })
    scene.hang.release()
  }

  @Test func `a batch whose budget passes while others hold the threads is given back and asks again`() async throws {
    let scene = Scene()
    let zonai = try scene.zonai {
      $0.hookBudgetSeconds = 5
      $0.gracePeriodSeconds = 1
    }
    let job = try await zonai.push(.hello, to: scene.world.audience)
    let run = Task { try await zonai.run() }
    await scene.waitUntilAllAsk()
    // The first batch is settled, and the answers of the others.
    await scene.store.wait(for: .settle, count: 4)
    await scene.world.clock.turn(5000)
    await scene.store.wait(for: .settle, count: 6)
    scene.hang.release()
    await scene.world.events.wait { if case .jobEnded = $0 { true } else { false } }
    let done = try #require(try await zonai.job(job.id))
    #expect(done.counts.kept == 30)
    #expect(done.counts.hooksFailed == 0)
    zonai.shutdown()
    _ = try await run.value
  }
}
