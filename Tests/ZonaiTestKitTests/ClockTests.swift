import Testing
import ZonaiCore

@testable import ZonaiTestKit

@Suite struct ClockTests {
  @Test func `a sleeper wakes when the clock was turned far enough, and not before`() async {
    let clock = TurnableClock(now: 1000)
    let woken = Recording<String>()
    async let short: Void = {
      await clock.sleep(milliseconds: 10)
      woken.append("short")
    }()
    async let long: Void = {
      await clock.sleep(milliseconds: 20)
      woken.append("long")
    }()
    await clock.waitForSleeper { $0 == 1010 }
    await clock.waitForSleeper { $0 == 1020 }
    clock.advance(milliseconds: 9)
    #expect(clock.sleeperCount == 2)
    clock.advance(milliseconds: 1)
    await short
    #expect(woken.elements == ["short"])
    clock.advance(milliseconds: 100)
    await long
    #expect(woken.elements == ["short", "long"])
    #expect(clock.now == 1110)
  }

  @Test func `a sleeper whose task is cancelled wakes at once`() async {
    let clock = TurnableClock()
    let task = Task { await clock.sleep(milliseconds: 1_000_000) }
    task.cancel()
    await task.value
    #expect(clock.sleeperCount == 0)
  }

  @Test func `who waits for work in memory hears of what came between the look and the wait`() async throws {
    let store = InMemoryStore()
    let request = ClaimRequest(worker: WorkerID(rawValue: "anna"), transports: [.fcm])
    guard case .nothing = try await store.claim(request) else {
      Issue.record("there is no job")
      return
    }
    store.database.create(TableSketch("other", columns: [], primaryKey: []))
    // Returns although the clock stands still.
    try await store.waitForWork(milliseconds: 1_000_000)
  }

  @Test func `who waits for work in memory wakes with the clock, and when cancelled`() async throws {
    let store = InMemoryStore()
    let waiting = Task { try await store.waitForWork(milliseconds: 500) }
    await store.database.clock.waitForSleeper { _ in true }
    store.database.clock.advance(milliseconds: 500)
    try await waiting.value
    let cancelled = Task { try await store.waitForWork(milliseconds: 500) }
    cancelled.cancel()
    try await cancelled.value
  }

  @Test func `a gate holds everybody until it is opened`() async {
    let gate = Gate(isOpen: false)
    let passed = Recording<Int>()
    async let first: Void = {
      await gate.pass()
      passed.append(1)
    }()
    gate.open()
    await first
    await gate.pass()
    #expect(passed.elements == [1])
  }
}
