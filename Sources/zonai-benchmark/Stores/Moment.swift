#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#else
  import Darwin
#endif

/// A moment of the wall and of this process's CPU, all of its threads together, in nanoseconds.
struct Moment {
  let wall: Int64
  let cpu: Int64

  static func now() -> Moment { Moment(wall: read(CLOCK_MONOTONIC), cpu: read(CLOCK_PROCESS_CPUTIME_ID)) }

  private static func read(_ clock: clockid_t) -> Int64 {
    var now = timespec()
    clock_gettime(clock, &now)
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
  }
}

/// What one part of the work has taken so far.
struct Spent {
  var wall: Int64 = 0
  var cpu: Int64 = 0

  mutating func add(since start: Moment) {
    let end = Moment.now()
    wall += end.wall - start.wall
    cpu += end.cpu - start.cpu
  }

  /// Microseconds for each of so many, with two digits: `"pagingCPU":1.25,"pagingWall":2.50`.
  func fields(_ name: String, each count: Int) -> String {
    func each(_ nanoseconds: Int64) -> Double { (Double(nanoseconds) / Double(max(1, count)) / 10).rounded() / 100 }
    return "\"\(name)CPU\":\(each(cpu)),\"\(name)Wall\":\(each(wall))"
  }
}

/// The two halves of a store's work on a job.
struct StepMeter {
  /// From the look for work to the claim's commit, the page's rows read into arrays.
  var paging = Spent()
  /// From the answers to the batch's end.
  var settling = Spent()
  var recipients = 0
  var batches = 0

  func line(_ options: StoreOptions) -> String {
    """
    {"measured":"store","database":"\(options.database.rawValue)","by":"\(options.by.rawValue)","rows":\(options.rows),\
    "recipients":\(recipients),"batches":\(batches),\(paging.fields("paging", each: recipients)),\
    \(settling.fields("settling", each: recipients)),"peakKilobytes":\(Usage.now().peakKilobytes)}
    """
  }
}
