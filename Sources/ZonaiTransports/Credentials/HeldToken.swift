import ZonaiCore

/// A provider token in use, with what tells its age.
struct HeldToken: Sendable {
  let token: Secret
  /// Shared with other processes, or made here alone.
  let isShared: Bool
  /// What the clock that the token ages by showed, and this machine's clocks at that moment or before it.
  private let now: Int64
  private let reading: ClockReading

  init(_ token: Secret, isShared: Bool, now: Int64, _ reading: ClockReading) {
    self.token = token
    self.isShared = isShared
    self.now = now
    self.reading = reading
  }

  /// Whether its time has come. A shared one has an age; one that was made here goes with its slot, but stays for as long as
  /// Apple wants a team to keep one.
  func isDue(_ clock: TransportClock) -> Bool {
    if isShared { return age(clock) >= ProviderTokens.renewalAge }
    let elapsed = reading.elapsed(clock)
    return elapsed >= ProviderTokens.leastAge && ProviderTokenMint.slot(of: now + elapsed) != token.madeAt
  }

  /// Whether it may still be sent when it cannot be replaced.
  func isGood(_ clock: TransportClock) -> Bool { age(clock) < ProviderTokens.greatestAge }

  private func age(_ clock: TransportClock) -> Int64 { now + reading.elapsed(clock) - token.madeAt }
}

/// This machine's clocks at one moment.
struct ClockReading: Sendable {
  private let wall: Int64
  private let monotonic: Int64

  init(_ clock: TransportClock) {
    wall = clock.wall()
    monotonic = clock.monotonic()
  }

  /// How many milliseconds have passed since. A clock that was put back makes nothing younger, nor does a machine that slept,
  /// whose monotonic clock stood still.
  func elapsed(_ clock: TransportClock) -> Int64 { max(clock.wall() - wall, clock.monotonic() - monotonic) }
}
