import Synchronization

/// A door that tasks wait at while it is shut: a delay in a test that lasts exactly until somebody ends it.
public final class Gate: Sendable {
  private struct State {
    var isOpen: Bool
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  public init(isOpen: Bool = true) { state = Mutex(State(isOpen: isOpen)) }

  public func shut() { state.withLock { $0.isOpen = false } }

  /// Lets everybody through, now and until it is shut again.
  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns once the gate is open.
  public func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}
