import Synchronization
import Testing
import ZonaiCore
import ZonaiTestKit

struct HookTests {
  /// A world of ten devices, of which the third is dead.
  private func worldWithOneDead() -> World {
    let world = World()
    world.insert("android", 1...10)
    world.fcm.answer("android-3", with: .dead, times: .max)
    return world
  }

  @Test(arguments: Policy.allCases)
  func `the hook sees the row whole before anything is done to it`(_ policy: Policy) async throws {
    let world = worldWithOneDead()
    let heard = Mutex<[PushRejection]>([])
    let zonai = try world.zonai(hook: { rejection in
      #expect(world.tokens[3] == "android-3")
      heard.withLock { $0.append(rejection) }
      return .followPolicy
    })
    let job = try await zonai.push(.hello, to: world.audience, policy: policy, attribution: ["campaign": "spring"])
    try await zonai.drain()

    let rejection = try #require(heard.withLock { $0 }.first)
    #expect(heard.withLock { $0.count } == 1)
    #expect(rejection.row["owner"] == "owner 3")
    #expect(rejection.row["id"] == 3)
    #expect(rejection.key == RowKey(3))
    #expect(rejection.token.text == "android-3")
    #expect(rejection.reason == "UNREGISTERED")
    #expect(rejection.evidence == .conclusive)
    #expect(rejection.transport == .fcm)
    #expect(rejection.platform == Platform("android"))
    #expect(rejection.attribution == ["campaign": "spring"])
    #expect(rejection.policy == policy)
    #expect(rejection.job == job.id)
    #expect(!rejection.eventID.isEmpty)

    let counts = try #require(try await zonai.job(job.id)).counts
    #expect(counts.permanentlyRejected == 1)
    #expect(counts.addsUp)
    switch policy {
    case .clearColumn:
      #expect(world.isCleared(3))
      #expect(counts.pruned == 1)
    case .deleteRow:
      #expect(world.tokens[3] == nil)
      #expect(counts.pruned == 1)
    case .none:
      #expect(world.tokens[3] == "android-3")
      #expect(counts.kept == 1)
    }
  }

  @Test(arguments: Policy.allCases)
  func `a hook that answers keep leaves the row`(_ policy: Policy) async throws {
    let world = worldWithOneDead()
    let zonai = try world.zonai(hook: { _ in .keep })
    let job = try await zonai.push(.hello, to: world.audience, policy: policy)
    try await zonai.drain()
    #expect(world.tokens[3] == "android-3")
    let counts = try #require(try await zonai.job(job.id)).counts
    #expect(counts.kept == 1)
    #expect(counts.pruned == 0)
    #expect(counts.permanentlyRejected == 1)
  }

  @Test(arguments: Policy.allCases)
  func `a hook that throws is reported without the token, and stops nothing`(_ policy: Policy) async throws {
    struct Broken: Error, CustomStringConvertible {
      let description: String
    }
    let world = worldWithOneDead()
    let zonai = try world.zonai(hook: { throw Broken(description: "no mail for \($0.token.text)") })
    let job = try await zonai.push(.hello, to: world.audience, policy: policy)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.hooksFailed == 1)
    #expect(done.counts.permanentlyRejected == 1)
    #expect((world.tokens[3] == "android-3") == (policy == .none))
    #expect(world.events.texts.contains { $0.contains("no mail for") })
    #expect(!world.events.texts.contains { $0.contains("android-3") })
  }

  @Test(arguments: Policy.allCases)
  func `a hook that never returns is abandoned and counted, and the job completes`(_ policy: Policy) async throws {
    let world = worldWithOneDead()
    let hang = Hang()
    let zonai = try world.zonai(hook: { _ in
      hang.block()
      return .keep
    })
    let job = try await zonai.push(.hello, to: world.audience, policy: policy)
    let drain = Task { try await zonai.drain() }
    await hang.waitUntilBlocked(1)
    await world.clock.turn(10_000)
    _ = try await drain.value

    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.hooksFailed == 1)
    #expect((world.tokens[3] == "android-3") == (policy == .none))
    #expect(
      world.events.count {
        if case .hookFailed(_, _, .timedOut) = $0 { true } else { false }
      } == 1)
    hang.release()
  }

  @Test func `hooks that hang starve nobody, and too many of them end the worker with a sentence`() async throws {
    let world = World()
    world.insert("android", 1...40)
    world.fcm.answerEverybody(with: .dead)
    let hang = Hang()
    let zonai = try world.zonai(
      options: {
        $0.hooksAtOnce = 1
        $0.abandonedHooksLimit = 3
      },
      hook: { _ in
        hang.block()
        return .keep
      })
    let job = try await zonai.push(.hello, to: world.audience)
    let drain = Task { try await zonai.drain() }
    for hook in 1...3 {
      await hang.waitUntilBlocked(hook)
      await world.clock.turn(10_000)
    }
    let error = await #expect(throws: ZonaiError.self) { try await drain.value }
    #expect(error?.code == .hooksStuck)
    #expect(hang.blocked == 3)
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.counts.hooksFailed == 3)
    #expect(stopped.counts.pruned == 3)
    hang.release()

    // The others' hooks are still to come: nothing is lost.
    let asked = Mutex(0)
    let next = try world.zonai(hook: { _ in
      asked.withLock { $0 += 1 }
      return .followPolicy
    })
    try await next.drain()
    #expect(asked.withLock { $0 } == 37)
    #expect(try await next.job(job.id)?.counts.pruned == 40)
    #expect(world.fcm.sent.count == 40)
  }

  @Test func `hooks that are not asked within the budget are asked with the next claim`() async throws {
    let world = World()
    world.insert("android", 1...6)
    world.fcm.answerEverybody(with: .dead)
    let asked = Mutex<[String]>([])
    let zonai = try world.zonai(
      options: {
        $0.hooksAtOnce = 1
        $0.hookBudgetSeconds = 5
      },
      hook: { rejection in
        asked.withLock { $0.append(rejection.eventID) }
        if asked.withLock({ $0.count }) == 2 { world.clock.advance(milliseconds: 6000) }
        return .followPolicy
      })
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    #expect(try await zonai.job(job.id)?.counts.pruned == 6)
    #expect(asked.withLock { $0.count } == 6)
    #expect(Set(asked.withLock { $0 }).count == 6)
    #expect(world.events.count { if case .claimed = $0 { true } else { false } } == 2)
  }

  @Test func `only so many hooks run at once`() async throws {
    let world = World()
    world.insert("android", 1...30)
    world.fcm.answerEverybody(with: .dead)
    let running = Mutex((now: 0, most: 0))
    let zonai = try world.zonai(
      options: { $0.hooksAtOnce = 3 },
      hook: { _ in
        running.withLock {
          $0.now += 1
          $0.most = max($0.most, $0.now)
        }
        await Task.yield()
        running.withLock { $0.now -= 1 }
        return .followPolicy
      })
    try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    #expect(running.withLock { $0.most } <= 3)
  }

  @Test func `a row that changed after the send is spared without a hook`() async throws {
    let world = worldWithOneDead()
    let asked = Mutex(0)
    let zonai = try world.zonai(hook: { _ in
      asked.withLock { $0 += 1 }
      return .followPolicy
    })
    world.fcm.answersGate.shut()
    let job = try await zonai.push(.hello, to: world.audience)
    let drain = Task { try await zonai.drain() }
    await world.fcm.waitUntilSent(10)
    world.database.update(World.devices, where: "id", is: 3, set: ["token": "android-new"])
    world.fcm.answersGate.open()
    _ = try await drain.value
    #expect(asked.withLock { $0 } == 0)
    #expect(world.tokens[3] == "android-new")
    #expect(try await zonai.job(job.id)?.counts.spared == 1)
  }

  @Test func `without a hook the policy is followed`() async throws {
    let world = worldWithOneDead()
    let zonai = try world.zonai()
    try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    #expect(world.isCleared(3))
    #expect(world.events.count { if case .rejected = $0 { true } else { false } } == 1)
  }

  @Test func `a hook may be a type`() async throws {
    struct Keeper: PushRejectionHook {
      func onPushRejected(_ rejection: PushRejection) async throws -> HookAnswer { .keep }
    }
    let world = worldWithOneDead()
    let zonai = try Zonai(
      store: world.store, transports: [world.fcm], onPushRejected: Keeper(), clock: world.clock)
    try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    #expect(world.tokens[3] == "android-3")
  }
}
