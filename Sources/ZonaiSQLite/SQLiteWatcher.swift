import ZonaiCore
import ZonaiThreads

/// Tells waiting tasks that something was committed: at once for this process, and for others by looking at the file's
/// data version now and then, while somebody waits.
final class SQLiteWatcher: Sendable {
  private struct Waiter {
    var seen: Int
    var deadline: Int64
    var continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0
    /// Cancelled before they had begun to wait.
    var cancelled: Set<Int> = []
    var changes = 0
    var isClosing = false
  }

  private let state = Monitor(State())

  init(path: String, pollMilliseconds: Int64) throws(StoreError) {
    do throws(ThreadStartError) {
      let state = state
      // The thread holds the state and never this object, so that the last reference to it ends the thread.
      _ = try NamedThread(name: "zonai-watch") { Self.watch(state, path: path, every: max(1, pollMilliseconds)) }
    } catch {
      throw StoreError(.unavailable, "\(error)")
    }
  }

  /// Somebody in this process has committed.
  func noteWrite() { state.change { $0.changes += 1 } }

  /// Rises with every commit of this process, and when the thread finds one of another.
  var changes: Int { state.withLock { $0.changes } }

  func close() { state.change { $0.isClosing = true } }

  func wait(after seen: Int, until deadline: Int64) async {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.change { state in
          if state.isClosing || state.changes != seen || state.cancelled.remove(number) != nil { return true }
          state.waiters[number] = Waiter(seen: seen, deadline: deadline, continuation: continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.change { state -> Waiter? in
        if let waiter = state.waiters.removeValue(forKey: number) { return waiter }
        state.cancelled.insert(number)
        return nil
      }
      waiter?.continuation.resume()
    }
    _ = state.withLock { $0.cancelled.remove(number) }
  }

  // MARK: The thread

  private enum Turn {
    case look
    case end
  }

  private static func watch(_ state: Monitor<State>, path: String, every pollMilliseconds: Int64) {
    var connection: SQLiteConnection?
    var version: Int64?
    while true {
      let turn = state.wait { state -> Turn? in
        if state.isClosing { return .end }
        return state.waiters.isEmpty ? nil : .look
      }
      if turn == .end { break }
      // A file that cannot be opened gives its sentence to whoever claims; here it has no news.
      if connection == nil { connection = try? SQLiteConnection(path: path) }
      let current = try? connection?.dataVersion()
      // The first look has nothing to compare with: something may have been written since the first claim.
      if current != nil, current != version { state.withLock { $0.changes += 1 } }
      release(state)
      version = current ?? version
      let soon = MonotonicClock.milliseconds() + pollMilliseconds
      let until = state.withLock { state in min(soon, state.waiters.values.map(\.deadline).min() ?? soon) }
      _ = state.wait(until: until) { state -> Bool? in
        if state.isClosing || state.waiters.isEmpty { return true }
        return state.waiters.values.contains { $0.seen != state.changes || $0.deadline < until } ? true : nil
      }
    }
    release(state)
  }

  /// Lets those go on for whom there is news, or whose time has come.
  private static func release(_ state: Monitor<State>) {
    let now = MonotonicClock.milliseconds()
    let released = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      let over = state.waiters.filter {
        state.isClosing || $0.value.seen != state.changes || $0.value.deadline <= now
      }
      for number in over.keys { state.waiters[number] = nil }
      return over.values.map(\.continuation)
    }
    for continuation in released { continuation.resume() }
  }
}
