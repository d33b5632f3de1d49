import Testing
import ZonaiCore

@Suite(.timeLimit(.minutes(1)))
struct ThreadClockTests {
  @Test func `nobody is woken before their moment`() async throws {
    let clock = try ThreadClock()
    let start = clock.now
    let sleepers = [Int64]([60, 20, 40, 0, -5]).map { wait in
      Task {
        try await clock.sleep(milliseconds: wait)
        return clock.now - start >= wait
      }
    }
    for sleeper in sleepers { #expect(try await sleeper.value) }
  }

  @Test func `a cancelled sleeper wakes at once with an error`() async throws {
    let clock = try ThreadClock()
    let sleeping = Task { try await clock.sleep(milliseconds: 3_600_000) }
    sleeping.cancel()
    await #expect(throws: CancellationError.self) { try await sleeping.value }
  }

  @Test func `a sleeper that comes later and wants to wake earlier does`() async throws {
    let clock = try ThreadClock()
    let long = Task { try await clock.sleep(milliseconds: 3_600_000) }
    try await clock.sleep(milliseconds: 5)
    try await clock.sleep(milliseconds: 1)
    long.cancel()
    _ = await long.result
  }

  @Test func `a thousand sleepers all wake`() async throws {
    let clock = try ThreadClock()
    let sleepers = (0..<1000).map { wait in Task { try await clock.sleep(milliseconds: Int64(wait % 7)) } }
    for sleeper in sleepers { try await sleeper.value }
  }
}
