import Synchronization
import ZonaiThreads

/// The threads that hooks run on: one a hook, a few at once, and a new one for each that a hook never gave back.
///
/// A hook that calls `sleep()` holds its thread for good; nothing can be done about it but to count it and go on.
final class HookThreads: Sendable {
  /// What somebody who waits for a thread is told.
  enum Turn: Sendable {
    case thread(ThreadExecutor)
    /// There is none to be had: too many never came back, or the system has none left to give.
    case noneLeft
    /// The asker is not to wait any longer.
    case released
  }

  private struct State {
    var idle: [ThreadExecutor] = []
    var busy = 0
    var abandoned = 0
    var made = 0
    var waiting: [OneShot<Turn>] = []
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

  /// Offers a thread for one hook when it is this asker's turn. Who has been offered something else by then is passed over.
  func queue(_ turn: OneShot<Turn>) {
    state.withLock { $0.waiting.append(turn) }
    serve()
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
    state.withLock { state in
      state.busy -= 1
      change(&state)
    }
    serve()
  }

  /// Answers everybody who waits while a place is free: `noneLeft` takes no place, so it reaches them all.
  private func serve() {
    while let (asker, turn) = state.withLock({ nextTurn(&$0) }) {
      guard !asker.offer(turn), case .thread(let thread) = turn else { continue }
      state.withLock { state in
        state.busy -= 1
        state.idle.append(thread)
      }
    }
  }

  private func nextTurn(_ state: inout State) -> (OneShot<Turn>, Turn)? {
    guard state.busy < atOnce, !state.waiting.isEmpty else { return nil }
    return (state.waiting.removeFirst(), thread(&state).map(Turn.thread) ?? .noneLeft)
  }

  private func thread(_ state: inout State) -> ThreadExecutor? {
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
