import Synchronization
import ZonaiThreads

/// How other threads reach the server's.
final class ServerMailbox: Sendable {
  struct Letters {
    var work: [@Sendable () -> Void] = []
    var stops = false
  }

  private struct State {
    var letters = Letters()
    var waiters: [CheckedContinuation<Void, Never>] = []
    var isClosed = false
  }

  let pipe: WakePipe
  private let state = Mutex(State())

  init() throws { pipe = try WakePipe() }

  /// False when nobody is left to do the work.
  func post(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isPosted = state.withLock { state in
      if !state.isClosed { state.letters.work.append(work) }
      return !state.isClosed
    }
    if isPosted { pipe.wake() }
    return isPosted
  }

  func stop(_ waiter: CheckedContinuation<Void, Never>?) {
    let isClosed = state.withLock { state in
      state.letters.stops = true
      if let waiter, !state.isClosed { state.waiters.append(waiter) }
      return state.isClosed
    }
    if isClosed { waiter?.resume() }
    pipe.wake()
  }

  func take() -> Letters {
    state.withLock { state in
      let letters = state.letters
      state.letters.work = []
      return letters
    }
  }

  /// Called when nothing serves any more. Work that came too late for the loop is still done: somebody may wait for it.
  func close() {
    let (work, waiters) = state.withLock { state in
      state.isClosed = true
      let left = (state.letters.work, state.waiters)
      state.letters.work = []
      state.waiters = []
      return left
    }
    for work in work { work() }
    for waiter in waiters { waiter.resume() }
  }
}
