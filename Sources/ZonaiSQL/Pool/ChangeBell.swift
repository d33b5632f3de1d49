import Synchronization
import ZonaiThreads

/// Counts what was committed, and wakes the tasks that wait for it.
public final class ChangeBell: Sendable {
  private struct State {
    var changes = 0
    var nextWaiter = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    /// Waits that have not ended.
    var open: Set<Int> = []
    /// Told to go on before they had begun to wait.
    var released: Set<Int> = []
    var isClosed = false

    mutating func takeAll() -> [CheckedContinuation<Void, Never>] {
      defer { waiters = [:] }
      return Array(waiters.values)
    }
  }

  private let state = Mutex(State())

  public init() {}

  /// Rises with every `ring`.
  public var changes: Int { state.withLock { $0.changes } }

  /// Whether somebody waits just now.
  public var isHeard: Bool { state.withLock { !$0.waiters.isEmpty } }

  /// Something was committed.
  public func ring() {
    let woken = state.withLock { state in
      state.changes += 1
      return state.takeAll()
    }
    for waiter in woken { waiter.resume() }
  }

  /// Lets everybody go on, now and later.
  public func close() {
    let woken = state.withLock { state in
      state.isClosed = true
      return state.takeAll()
    }
    for waiter in woken { waiter.resume() }
  }

  /// Returns when `changes` is no longer `seen`, when the task is cancelled, or at the deadline (`MonotonicClock`).
  public func wait(after seen: Int, until deadline: Int64) async {
    let left = deadline - MonotonicClock.milliseconds()
    guard left > 0 else { return }
    let number = state.withLock { state in
      state.nextWaiter += 1
      state.open.insert(state.nextWaiter)
      return state.nextWaiter
    }
    let timer = Task { [self] in
      do { try await Task.sleep(for: .milliseconds(left)) } catch { return }
      release(number)
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.isClosed || state.changes != seen || state.released.contains(number) { return true }
          state.waiters[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      release(number)
    }
    timer.cancel()
    state.withLock { state in
      state.open.remove(number)
      state.released.remove(number)
    }
  }

  private func release(_ number: Int) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if let waiter = state.waiters.removeValue(forKey: number) { return waiter }
      if state.open.contains(number) { state.released.insert(number) }
      return nil
    }
    waiter?.resume()
  }
}
