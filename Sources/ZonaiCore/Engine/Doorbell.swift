import Synchronization

/// Wakes the one task that waits: now, or when it next waits. Rung often, it wakes once.
final class Doorbell: Sendable {
  private enum State {
    case quiet
    case rung
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let state = Mutex(State.quiet)

  func ring() {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard case .waiting(let continuation) = state else {
        state = .rung
        return nil
      }
      state = .quiet
      return continuation
    }
    continuation?.resume()
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isRung = state.withLock { state in
        if case .rung = state {
          state = .quiet
          return true
        }
        state = .waiting(continuation)
        return false
      }
      if isRung { continuation.resume() }
    }
  }

  /// Waits for a ring, or for the moment if that comes first.
  func wait(until moment: Int64, on clock: any EngineClock) async {
    let timer = Task {
      do { try await clock.sleep(until: moment) } catch { return }
      ring()
    }
    await wait()
    timer.cancel()
  }
}
