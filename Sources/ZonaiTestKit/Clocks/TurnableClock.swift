import Synchronization
import ZonaiCore

/// A clock that stands still until somebody turns it.
///
/// It starts at a round moment in 2023, so that milliseconds and seconds cannot be taken for one another. Whoever sleeps on
/// it wakes when it was turned far enough, when its task is cancelled, or when somebody wakes it by its number.
public final class TurnableClock: Sendable {
  private struct State {
    var now: Int64
    var nextSleeper = 0
    var sleepers: [Int: (until: Int64, wake: CheckedContinuation<Void, Never>)] = [:]
    /// Woken before they had lain down.
    var woken: Set<Int> = []
    /// Who waits for somebody to lie down.
    var watchers: [Int: (test: @Sendable (Int64) -> Bool, wake: CheckedContinuation<Void, Never>)] = [:]
  }

  private let state: Mutex<State>

  /// `now` is in milliseconds; for the store's clock, since 1970.
  public init(now: Int64 = 1_700_000_000_000) { state = Mutex(State(now: now)) }

  public var now: Int64 { state.withLock { $0.now } }

  /// How many tasks sleep on this clock just now: what a test looks at before it turns the clock.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Turns the clock forward and wakes everybody whose time has come.
  public func advance(milliseconds: Int64) {
    let due = state.withLock { state in
      state.now += milliseconds
      let due = state.sleepers.filter { $0.value.until <= state.now }
      for number in due.keys { state.sleepers[number] = nil }
      return due.values.sorted { $0.until < $1.until }.map(\.wake)
    }
    for continuation in due { continuation.resume() }
  }

  /// Sleeps until the clock was turned this far, or the task is cancelled.
  public func sleep(milliseconds: Int64) async {
    await sleep(number: makeSleeper(), milliseconds: milliseconds)
  }

  /// Returns once somebody sleeps until a moment that passes the test: then is the time to turn the clock. Returns at once
  /// when the task is cancelled.
  public func waitForSleeper(until test: @escaping @Sendable (Int64) -> Bool) async {
    let number = makeSleeper()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if state.woken.remove(number) != nil || state.sleepers.values.contains(where: { test($0.until) }) {
            return true
          }
          state.watchers[number] = (test, continuation)
          return false
        }
        if isThere { continuation.resume() }
      }
    } onCancel: {
      wake(number)
    }
  }

  /// When the next sleeper wakes.
  public var nextWaking: Int64? { state.withLock { $0.sleepers.values.map(\.until).min() } }

  /// A number to sleep under, which `wake` takes.
  func makeSleeper() -> Int {
    state.withLock { state in
      state.nextSleeper += 1
      return state.nextSleeper
    }
  }

  func sleep(number: Int, milliseconds: Int64) async {
    await sleep(number: number) { $0 + milliseconds }
  }

  /// `end` makes the moment of waking from the present one.
  fileprivate func sleep(number: Int, end: @Sendable (Int64) -> Int64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isDue, watchers) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
          let until = end(state.now)
          if state.woken.remove(number) != nil || until <= state.now { return (true, []) }
          state.sleepers[number] = (until, continuation)
          let watching = state.watchers.filter { $0.value.test(until) }
          for number in watching.keys { state.watchers[number] = nil }
          return (false, watching.values.map(\.wake))
        }
        if isDue { continuation.resume() }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      wake(number)
    }
  }

  /// Wakes one sleeper, now or when it lies down.
  func wake(_ number: Int) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if let sleeper = state.sleepers.removeValue(forKey: number) { return sleeper.wake }
      if let watcher = state.watchers.removeValue(forKey: number) { return watcher.wake }
      state.woken.insert(number)
      return nil
    }
    continuation?.resume()
  }
}

extension TurnableClock: EngineClock {
  public func sleep(until moment: Int64) async throws {
    await sleep(number: makeSleeper()) { _ in moment }
    try Task.checkCancellation()
  }
}
