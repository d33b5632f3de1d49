import ZonaiThreads

/// What other threads leave for a pool's loop.
final class PoolInbox: Sendable {
  struct Contents: Sendable {
    var runs: [BatchRun] = []
    var wantsReconnect = false
    var isClosing = false
  }

  private struct State {
    var contents = Contents()
    var hasEnded = false
    var closers: [CheckedContinuation<Void, Never>] = []
  }

  let wakePipe: WakePipe
  private let state = Monitor(State())

  init() throws(WakePipeError) { wakePipe = try WakePipe() }

  /// False when the pool is closed and will not look.
  func leave(_ run: BatchRun) -> Bool {
    let isTaken = state.withLock { state in
      if state.contents.isClosing || state.hasEnded { return false }
      state.contents.runs.append(run)
      return true
    }
    if isTaken { wakePipe.wake() }
    return isTaken
  }

  func askReconnect() {
    state.withLock { $0.contents.wantsReconnect = true }
    wakePipe.wake()
  }

  func askClose() {
    state.withLock { $0.contents.isClosing = true }
    wakePipe.wake()
  }

  /// Resumes the continuation when the loop has ended.
  func onEnd(_ closer: CheckedContinuation<Void, Never>) {
    let hasEnded = state.withLock { state in
      if !state.hasEnded { state.closers.append(closer) }
      return state.hasEnded
    }
    if hasEnded { closer.resume() }
  }

  /// Takes what is there; called by the loop.
  func take() -> Contents {
    state.withLock { state in
      let contents = state.contents
      state.contents.runs = []
      state.contents.wantsReconnect = false
      return contents
    }
  }

  /// The loop's last act.
  func end() {
    let closers = state.withLock { state in
      state.hasEnded = true
      defer { state.closers = [] }
      return state.closers
    }
    for closer in closers { closer.resume() }
  }
}
