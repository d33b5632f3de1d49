import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Cuts connections on which a call has not come back by its deadline: the client libraries' own limits are fixed when a
/// connection is opened, and count whole seconds.
///
/// A cut makes the blocked call return with an error. The server rolls back what was begun.
final class SilenceWatch: Sendable {
  private struct Entry {
    var descriptor: Int32
    /// nil while nothing is under way.
    var deadline: Int64?
    var wasCut = false
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var nextNumber = 0
    /// When the thread looks next without being called.
    var nextLook = Int64.max
    var isClosing = false
  }

  private let state: Monitor<State>

  init() throws(ThreadStartError) {
    let state = Monitor(State())
    self.state = state
    _ = try NamedThread(name: "zonai-my-watch") { SilenceWatch.watch(state) }
  }

  deinit { close() }

  /// Whoever registers a descriptor removes it before it is closed: the number may be another's afterwards.
  func add(_ descriptor: Int32) -> Int {
    state.withLock { state in
      state.nextNumber += 1
      state.entries[state.nextNumber] = Entry(descriptor: descriptor)
      return state.nextNumber
    }
  }

  func remove(_ number: Int) { state.withLock { _ = $0.entries.removeValue(forKey: number) } }

  /// From now on the connection is cut at that moment of `MonotonicClock`.
  func begin(_ number: Int, until deadline: Int64) {
    let isSooner = state.withLock { state in
      state.entries[number]?.deadline = deadline
      return deadline < state.nextLook
    }
    // As a rule the thread looks in time anyway, and need not be called.
    if isSooner { state.change { _ in } }
  }

  func end(_ number: Int) { state.withLock { $0.entries[number]?.deadline = nil } }

  func wasCut(_ number: Int) -> Bool { state.withLock { $0.entries[number]?.wasCut ?? false } }

  func close() { state.change { $0.isClosing = true } }

  private static func watch(_ state: Monitor<State>) {
    while true {
      let look = state.withLock { state -> Int64? in
        guard !state.isClosing else { return nil }
        let now = MonotonicClock.milliseconds()
        for (number, entry) in state.entries where entry.deadline.map({ $0 <= now }) == true {
          state.entries[number]?.deadline = nil
          state.entries[number]?.wasCut = true
          shutdown(entry.descriptor, Int32(SHUT_RDWR))
        }
        state.nextLook = state.entries.values.compactMap(\.deadline).min() ?? .max
        return state.nextLook
      }
      guard let look else { return }
      _ = state.wait(until: look == .max ? nil : look) { state -> Bool? in
        let soonest = state.entries.values.compactMap(\.deadline).min() ?? .max
        return state.isClosing || soonest < look ? true : nil
      }
    }
  }
}
