import ZonaiThreads

/// The time as a transport sees it: for tokens that age, and for what is left of a message's time to live. Tests turn it.
public struct TransportClock: Sendable {
  /// Milliseconds since 1970, for what is signed.
  public var wall: @Sendable () -> Int64
  /// Milliseconds of a clock that never jumps, for how long an access token lives.
  public var monotonic: @Sendable () -> Int64
  /// Lets so many milliseconds pass.
  public var pause: @Sendable (Int64) async -> Void

  public init(
    wall: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> Int64,
    pause: @escaping @Sendable (Int64) async -> Void
  ) {
    self.wall = wall
    self.monotonic = monotonic
    self.pause = pause
  }

  /// The machine's clocks.
  public static let system = TransportClock(
    wall: { WallClock.milliseconds() }, monotonic: { MonotonicClock.milliseconds() },
    pause: { milliseconds in
      // Cancelled, it returns at once: whoever is cancelled has no use for the rest of the wait.
      try? await Task.sleep(for: .milliseconds(milliseconds))
    })
}
