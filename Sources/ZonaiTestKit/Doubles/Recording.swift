import Synchronization

/// What happened, in its order, for tests that want to look at it or to wait until so much has happened.
///
/// As an observer: `let events = Recording<ZonaiEvent>()`, and `observer: { events.append($0) }`.
public final class Recording<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiting: [(condition: @Sendable ([Element]) -> Bool, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  public init() {}

  public var elements: [Element] { state.withLock { $0.elements } }
  public var count: Int { state.withLock { $0.elements.count } }

  public func append(_ element: Element) {
    let reached = state.withLock { state in
      state.elements.append(element)
      let elements = state.elements
      let reached = state.waiting.filter { $0.condition(elements) }
      if !reached.isEmpty { state.waiting.removeAll { $0.condition(elements) } }
      return reached.map(\.wake)
    }
    for continuation in reached { continuation.resume() }
  }

  /// Returns once there are this many.
  public func wait(for count: Int) async { await wait { $0.count >= count } }

  /// Returns once the condition holds. It is asked at once and after each element, and must be
  /// quick.
  public func wait(until condition: @escaping @Sendable ([Element]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if condition(state.elements) { return true }
        state.waiting.append((condition, continuation))
        return false
      }
      if isReached { continuation.resume() }
    }
  }
}
