import Synchronization

/// A list that only grows, on whose length tasks can wait.
final class Milestones<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiting: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var elements: [Element] { state.withLock { $0.elements } }

  func append(_ element: Element) {
    let reached = state.withLock { state in
      state.elements.append(element)
      let count = state.elements.count
      let reached = state.waiting.filter { $0.count <= count }
      state.waiting.removeAll { $0.count <= count }
      return reached.map(\.wake)
    }
    for continuation in reached { continuation.resume() }
  }

  /// Returns once the list holds this many.
  func wait(for count: Int) async {
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
