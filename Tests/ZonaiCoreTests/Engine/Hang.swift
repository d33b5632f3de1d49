import Synchronization
import ZonaiThreads

/// Blocks threads, as `sleep()` in an application's code does, until the test lets them go.
final class Hang: Sendable {
  private struct State {
    var blocked = 0
    var isReleased = false
  }

  private let state = Monitor(State())
  private let waiting = Mutex<[(count: Int, wake: CheckedContinuation<Void, Never>)]>([])

  /// How many threads were blocked so far.
  var blocked: Int { state.withLock { $0.blocked } }

  /// Blocks the calling thread.
  func block() {
    let count = state.change { state in
      state.blocked += 1
      return state.blocked
    }
    wake(count)
    _ = state.wait { $0.isReleased ? true : nil }
  }

  func release() { state.change { $0.isReleased = true } }

  /// Returns once so many threads were blocked.
  func waitUntilBlocked(_ count: Int) async {
    await withCheckedContinuation { continuation in
      waiting.withLock { $0.append((count, continuation)) }
      wake(blocked)
    }
  }

  /// The same for a thread that may block itself.
  func blockUntilBlocked(_ count: Int) { _ = state.wait { $0.blocked >= count ? true : nil } }

  private func wake(_ count: Int) {
    let reached = waiting.withLock { waiting in
      let reached = waiting.filter { $0.count <= count }
      waiting.removeAll { $0.count <= count }
      return reached.map(\.wake)
    }
    for continuation in reached { continuation.resume() }
  }
}
