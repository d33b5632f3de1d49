import Synchronization

/// "Claim nothing more": raised once, heard by everybody who listens, however late they began to.
final class StopSignal: Sendable {
  private struct State {
    var isRaised = false
    var next = 0
    var listeners: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  var isRaised: Bool { state.withLock { $0.isRaised } }

  func raise() {
    let listeners = state.withLock { state in
      defer { state.listeners = [:] }
      state.isRaised = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener() }
  }

  /// Calls back when the signal is raised, or at once when it is. Returns a number to stop listening by.
  @discardableResult
  func listen(_ listener: @escaping @Sendable () -> Void) -> Int {
    let number = state.withLock { state -> Int? in
      guard !state.isRaised else { return nil }
      state.next += 1
      state.listeners[state.next] = listener
      return state.next
    }
    guard let number else {
      listener()
      return 0
    }
    return number
  }

  func forget(_ number: Int) { state.withLock { $0.listeners[number] = nil } }
}
