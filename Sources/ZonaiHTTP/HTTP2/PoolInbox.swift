import ZonaiThreads

/// What other threads leave for a pool's loop.
final class PoolInbox: Sendable {
  struct Contents: Sendable {
    var runs: [BatchRun] = []
    /// Those that came before new connections were asked for.
    var overtakenRuns: [BatchRun] = []
    var wantsReconnect = false
    var isClosing = false
  }

  private struct State {
    var contents = Contents()
    var generation: UInt64 = 0
    var hasEnded = false
    var closers: [CheckedContinuation<Void, Never>] = []
  }

  let wakePipe: WakePipe
  private let state = Monitor(State())

  init() throws(WakePipeError) { wakePipe = try WakePipe() }

  /// How many times new connections were asked for.
  var generation: UInt64 { state.withLock { $0.generation } }

  /// Leaves the run for the loop; otherwise says why the loop will not have it.
  func leave(_ run: BatchRun, for generation: UInt64?) -> HTTP2Outcome.NotSent? {
    let refusal: HTTP2Outcome.NotSent? = state.withLock { state in
      if state.contents.isClosing || state.hasEnded { return .poolClosed }
      if let generation, generation != state.generation { return .stopped }
      state.contents.runs.append(run)
      return nil
    }
    if refusal == nil { wakePipe.wake() }
    return refusal
  }

  /// Unless somebody did since that generation.
  func askReconnect(since generation: UInt64?) {
    let isAsked = state.withLock { state in
      if let generation, generation != state.generation { return false }
      state.generation += 1
      state.contents.wantsReconnect = true
      state.contents.overtakenRuns += state.contents.runs
      state.contents.runs = []
      return true
    }
    if isAsked { wakePipe.wake() }
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
      state.contents.overtakenRuns = []
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
