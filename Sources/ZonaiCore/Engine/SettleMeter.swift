import Synchronization

/// Counts what a worker settles, and how fast: for people who list workers.
final class SettleMeter: Sendable {
  private struct State {
    var settled = 0
    /// The count at moments of the last minute, the oldest first; the first one is the window's beginning.
    var marks: [(moment: Int64, settled: Int)]
  }

  private let state: Mutex<State>
  /// Long enough that a batch that waits for slow answers does not make the rate jump.
  private static let window: Int64 = 60_000

  init(now: Int64) { state = Mutex(State(marks: [(now, 0)])) }

  func add(_ count: Int) { state.withLock { $0.settled += count } }

  /// So many in all, and so many a second over the last minute, or since the beginning.
  func read(now: Int64) -> (settled: Int, perSecond: Double) {
    state.withLock { state in
      // The newest mark that is a window old is where the window begins.
      while state.marks.count > 1, state.marks[1].moment <= now - SettleMeter.window { state.marks.removeFirst() }
      let (moment, settled) = state.marks[0]
      let rate = now > moment ? Double(state.settled - settled) * 1000 / Double(now - moment) : 0
      if let last = state.marks.last, now - last.moment >= SettleMeter.window / 12 {
        state.marks.append((now, state.settled))
      }
      return (state.settled, rate)
    }
  }
}
