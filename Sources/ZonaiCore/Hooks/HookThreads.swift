import Synchronization
import ZonaiThreads

/// The threads that hooks run on: one a hook, a few at once, and a new one for each that a hook never gave back.
///
/// A hook that calls `sleep()` holds its thread for good; nothing can be done about it but to count it and go on.
final class HookThreads: Sendable {
  private struct State {
    var idle: [ThreadExecutor] = []
    var busy = 0
    var abandoned = 0
    var made = 0
    var waiting: [CheckedContinuation<ThreadExecutor?, Never>] = []
  }

  private let atOnce: Int
  private let abandonedLimit: Int
  private let state = Mutex(State())

  init(atOnce: Int, abandonedLimit: Int) {
    self.atOnce = atOnce
    self.abandonedLimit = abandonedLimit
  }

  /// How many hooks outlasted their limit and have not returned since.
  var abandoned: Int { state.withLock { max(0, $0.abandoned) } }

  /// A thread for one hook, in turn; nil when there is none to be had, since too many never came back.
  func take() async -> ThreadExecutor? {
    await withCheckedContinuation { continuation in
      let (isReady, thread) = state.withLock { state -> (Bool, ThreadExecutor?) in
        guard state.busy < atOnce else {
          state.waiting.append(continuation)
          return (false, nil)
        }
        return (true, next(&state))
      }
      if isReady { continuation.resume(returning: thread) }
    }
  }

  func giveBack(_ thread: ThreadExecutor) {
    free { $0.idle.append(thread) }
  }

  /// Counts a hook that outlasted its limit; its place is free, its thread is not.
  func abandon() {
    free { $0.abandoned += 1 }
  }

  /// An abandoned hook returned after all.
  func returned(_ thread: ThreadExecutor) {
    state.withLock { $0.abandoned -= 1 }
    thread.close()
  }

  private func free(_ change: (inout State) -> Void) {
    let (continuation, thread) = state.withLock {
      state -> (CheckedContinuation<ThreadExecutor?, Never>?, ThreadExecutor?) in
      state.busy -= 1
      change(&state)
      guard !state.waiting.isEmpty else { return (nil, nil) }
      let continuation = state.waiting.removeFirst()
      return (continuation, next(&state))
    }
    continuation?.resume(returning: thread)
  }

  private func next(_ state: inout State) -> ThreadExecutor? {
    guard state.abandoned < abandonedLimit else { return nil }
    if let idle = state.idle.popLast() {
      state.busy += 1
      return idle
    }
    state.made += 1
    guard let thread = try? ThreadExecutor(name: "zonai hook \(state.made)") else { return nil }
    state.busy += 1
    return thread
  }
}
