import ZonaiCore
import ZonaiTestKit

extension TurnableClock {
  /// Waits until somebody sleeps for exactly so long from now, and turns the clock that far.
  func turn(_ milliseconds: Int64) async {
    let moment = now + milliseconds
    await waitForSleeper { $0 == moment }
    advance(milliseconds: milliseconds)
  }

  /// Lets time pass from sleeper to sleeper until cancelled: for tests in which it does not matter how much of it passes.
  func passAlong() async {
    while !Task.isCancelled {
      await waitForSleeper { _ in true }
      for _ in 0..<50 { await Task.yield() }
      if let next = nextWaking { advance(milliseconds: max(0, next - now)) }
    }
  }
}

extension World {
  /// Works on the job until it has ended, letting time pass.
  func finish(_ id: JobID, with zonai: Zonai) async throws -> Job {
    let passing = Task { await clock.passAlong() }
    defer { passing.cancel() }
    return try await zonai.run(only: id)
  }
}
