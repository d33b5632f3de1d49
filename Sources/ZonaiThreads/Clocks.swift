#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The clock for time-outs, deadlines and leases: it never jumps, goes on while the machine sleeps, and its zero means
/// nothing.
public enum MonotonicClock {
  /// Milliseconds since an arbitrary moment of this machine.
  public static func milliseconds() -> Int64 { readMilliseconds(clock) }

  // A lease ends for the others while this machine sleeps. Linux's CLOCK_MONOTONIC stands still then, Darwin's does not.
  #if os(Linux) || os(Android)
    private static let clock = CLOCK_BOOTTIME
  #else
    private static let clock = CLOCK_MONOTONIC
  #endif
}

/// The clock that condition variables wait by: it may stand still while the machine sleeps.
enum WaitingClock {
  static func milliseconds() -> Int64 { readMilliseconds(CLOCK_MONOTONIC) }
}

/// The clock of calendars: for what is shown, signed or compared with a service's time. It may jump either way.
public enum WallClock {
  /// Milliseconds since 1970, UTC.
  public static func milliseconds() -> Int64 { readMilliseconds(CLOCK_REALTIME) }
}

private func readMilliseconds(_ clock: clockid_t) -> Int64 {
  var now = timespec()
  let result = clock_gettime(clock, &now)
  precondition(result == 0, "clock_gettime knows these clocks on every platform that Swift supports")
  return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}
