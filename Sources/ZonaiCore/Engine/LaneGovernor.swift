import Synchronization

/// Which lanes this worker leaves alone for a while, since a service asked for less traffic. Shared by all batches: each of
/// them hears of a 429 only by its own answers.
final class LaneGovernor: Sendable {
  /// No pause is longer; a batch that must wait more than this is given back.
  static let longestPause: Int64 = 60_000

  private let pausedUntil = Mutex<[TransportName: Int64]>([:])

  /// Returns how long the lane is paused for, if that is news.
  func slow(_ transport: TransportName, milliseconds: Int64, now: Int64) -> Int64? {
    let pause = min(max(0, milliseconds), LaneGovernor.longestPause)
    return pausedUntil.withLock { paused in
      guard now + pause > max(paused[transport] ?? 0, now) else { return nil }
      paused[transport] = now + pause
      return pause
    }
  }

  /// When the lane may be used again; nil when that is now.
  func pauseEnd(_ transport: TransportName, now: Int64) -> Int64? {
    pausedUntil.withLock { paused in
      guard let until = paused[transport] else { return nil }
      if until > now { return until }
      paused[transport] = nil
      return nil
    }
  }
}
