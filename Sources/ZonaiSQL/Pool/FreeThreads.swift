import Synchronization

/// Which of a pool's threads are free. Who finds none waits in line: whoever came first gets the next one, so that nobody
/// sits behind one long read while another thread idles.
final class FreeThreads: Sendable {
  private struct State {
    var free: [Int]
    var waiting: [CheckedContinuation<Int, Never>] = []
  }

  private let state: Mutex<State>

  init(count: Int) { state = Mutex(State(free: Array((0..<count).reversed()))) }

  /// The one used last comes first, so that no more connections are opened than are needed. The wait ends with the
  /// transactions before it, each of which has a deadline.
  func take() async -> Int {
    await withCheckedContinuation { continuation in
      let free = state.withLock { state -> Int? in
        if let free = state.free.popLast() { return free }
        state.waiting.append(continuation)
        return nil
      }
      if let free { continuation.resume(returning: free) }
    }
  }

  func giveBack(_ thread: Int) {
    let next = state.withLock { state -> CheckedContinuation<Int, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free.append(thread)
      return nil
    }
    next?.resume(returning: thread)
  }
}
