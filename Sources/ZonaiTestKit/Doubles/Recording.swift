import Synchronization

/// What happened, in its order, for tests that want to look at it or to wait until so much has happened.
///
/// As an observer: `let events = Recording<ZonaiEvent>()`, and `observer: { events.append($0) }`.
public final class Recording<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiting: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  public init() {}

  public var elements: [Element] { state.withLock { $0.elements } }
  public var count: Int { state.withLock { $0.elements.count } }

  public func append(_ element: Element) {
    let reached = state.withLock { state in
      state.elements.append(element)
      let count = state.elements.count
      let reached = state.waiting.filter { $0.count <= count }
      state.waiting.removeAll { $0.count <= count }
      return reached.map(\.wake)
    }
    for continuation in reached { continuation.resume() }
  }

  /// Returns once there are this many.
  public func wait(for count: Int) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if state.elements.count >= count { return true }
        state.waiting.append((count, continuation))
        return false
      }
      if isReached { continuation.resume() }
    }
  }
}
