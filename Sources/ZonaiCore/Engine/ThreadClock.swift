import Synchronization
import ZonaiThreads

/// The monotonic clock, with sleepers woken by a thread of its own.
///
/// `Task.sleep` wakes by way of the cooperative pool: an application that blocks that pool would make every lease lapse.
public final class ThreadClock: EngineClock {
  private let sleepers: Sleepers

  /// Throws when the system has no thread left to give.
  public init() throws(ThreadStartError) {
    let sleepers = Sleepers()
    self.sleepers = sleepers
    // The thread holds the list and not the clock, so that it ends with the clock.
    _ = try NamedThread(name: "zonai clock") { sleepers.run() }
  }

  deinit { sleepers.close() }

  public var now: Int64 { MonotonicClock.milliseconds() }

  public func sleep(until moment: Int64) async throws {
    let number = sleepers.number()
    // A cancellation that comes after the waking leaves its mark.
    defer { sleepers.forget(number) }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        sleepers.add(number, until: moment, continuation)
      }
    } onCancel: {
      sleepers.cancel(number)
    }
  }
}

/// Who sleeps until when. A few dozen at a time, so the earliest is found by looking at all.
private final class Sleepers: Sendable {
  private struct State {
    var next = 0
    var waiting: [Int: (until: Int64, continuation: CheckedContinuation<Void, any Error>)] = [:]
    /// Cancelled before they had lain down.
    var cancelled: Set<Int> = []
    var isClosing = false

    var earliest: Int64? { waiting.values.lazy.map(\.until).min() }
  }

  private let state = Monitor(State())

  func number() -> Int {
    state.withLock { state in
      state.next += 1
      return state.next
    }
  }

  func add(_ number: Int, until moment: Int64, _ continuation: CheckedContinuation<Void, any Error>) {
    let isCancelled = state.change { state in
      if state.cancelled.remove(number) != nil { return true }
      state.waiting[number] = (moment, continuation)
      return false
    }
    if isCancelled { continuation.resume(throwing: CancellationError()) }
  }

  func cancel(_ number: Int) {
    let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      guard let sleeper = state.waiting.removeValue(forKey: number) else {
        state.cancelled.insert(number)
        return nil
      }
      return sleeper.continuation
    }
    continuation?.resume(throwing: CancellationError())
  }

  func forget(_ number: Int) { _ = state.withLock { $0.cancelled.remove(number) } }

  func close() { state.change { $0.isClosing = true } }

  func run() {
    while true {
      let planned = state.withLock { $0.earliest }
      let isOver = state.wait(until: planned) { state -> Bool? in
        if state.isClosing { return true }
        // Somebody wants to be woken before the moment that this wait was begun for: begin anew.
        return state.earliest == planned ? nil : false
      }
      if isOver == true { return }
      wakeDue()
    }
  }

  private func wakeDue() {
    let now = MonotonicClock.milliseconds()
    let due = state.withLock { state in
      let due = state.waiting.filter { $0.value.until <= now }
      for number in due.keys { state.waiting[number] = nil }
      return due.values.sorted { $0.until < $1.until }.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
  }
}
