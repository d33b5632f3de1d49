#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#else
  import Darwin
#endif

/// What this process used up so far.
struct Usage {
  let cpuMicroseconds: Double
  let peakKilobytes: Int

  static func now() -> Usage {
    var usage = rusage()
    #if canImport(Glibc)
      getrusage(RUSAGE_SELF.rawValue, &usage)
    #else
      getrusage(RUSAGE_SELF, &usage)
    #endif
    func microseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1_000_000 + Double(time.tv_usec) }
    #if canImport(Darwin)
      let kilobytes = usage.ru_maxrss / 1024
    #else
      let kilobytes = usage.ru_maxrss
    #endif
    return Usage(
      cpuMicroseconds: microseconds(usage.ru_utime) + microseconds(usage.ru_stime), peakKilobytes: Int(kilobytes))
  }
}
