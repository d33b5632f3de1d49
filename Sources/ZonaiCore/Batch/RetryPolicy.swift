/// How often and after how long a recipient is tried again. Values only; jitter comes from the caller.
public struct RetryPolicy: Sendable, Hashable {
  /// How many times a recipient is sent to before its last answer counts. The default, 3, is what FCM's own SDKs stay below.
  public var maxAttempts = 3
  /// The first backoff, in milliseconds, doubled for each further attempt. nil, the default, is one second on top of the floors
  /// that the services ask for (60 s after a 429 that names no time, 10 s for FCM); a value replaces those floors.
  public var baseMilliseconds: Int64?
  /// The longest backoff before jitter is drawn, in milliseconds. A service that asks for more gets
  /// it, up to an hour.
  public var maxDelayMilliseconds: Int64 = 60_000
  /// A longer wait than this is not slept: the recipient stays owed, and the batch is given back. A minute, one lease.
  public var longestSleepMilliseconds: Int64 = 60_000
  /// How many times, and for how long from the first on, a request that surely was not handled is
  /// sent again without using up an attempt, while the lane answers others.
  public var maxFreeRepeats = 20
  public var freeRepeatLimitMilliseconds: Int64 = 600_000
  /// How many of them are made at once; the others wait, each twice as long as the one before.
  public var freeRepeatsAtOnce = 3
  /// The first wait of an outage, doubled each round up to the longest; and after how long an outage fails the job.
  public var outageBaseMilliseconds: Int64 = 30_000
  public var outageMaxMilliseconds: Int64 = 600_000
  public var outageLimitMilliseconds: Int64 = 86_400_000

  public init(maxAttempts: Int = 3, baseMilliseconds: Int64? = nil, maxDelayMilliseconds: Int64 = 60_000) {
    self.maxAttempts = maxAttempts
    self.baseMilliseconds = baseMilliseconds
    self.maxDelayMilliseconds = maxDelayMilliseconds
  }

  /// The wait before the next attempt, in milliseconds: the floor, and full jitter on top of it.
  ///
  /// - Parameters:
  ///   - attempt: how many attempts are used up, from 1.
  ///   - random: at least 0 and below 1.
  public func delay(afterAttempt attempt: Int, verdict: Verdict, laneFloor: Int64, random: Double) -> Int64 {
    // What the service says replaces the floor of its kind of answer, never the lane's own.
    let kindFloor = verdict.grantedWait ?? verdict.retryFloorMilliseconds ?? 0
    let floor = baseMilliseconds == nil ? max(kindFloor, laneFloor) : verdict.grantedWait ?? 0
    let doubled = (baseMilliseconds ?? 1000) << Int64(min(max(attempt - 1, 0), 20))
    let jitter = Double(min(doubled, maxDelayMilliseconds)) * random
    return floor + max(1, Int64(jitter))
  }

  /// The wait before a free repeat, in milliseconds; 0 for one that is made at once.
  ///
  /// - Parameters:
  ///   - count: how many were made before.
  ///   - random: at least 0 and below 1.
  public func freeRepeatDelay(after count: Int, random: Double) -> Int64 {
    guard count >= freeRepeatsAtOnce else { return 0 }
    let doubled = (baseMilliseconds ?? 100) << Int64(min(count - freeRepeatsAtOnce, 20))
    let wait = min(doubled, maxDelayMilliseconds, 30_000)
    return wait / 2 + Int64(Double(wait) / 2 * random)
  }

  /// The wait before the next round of an outage, in milliseconds.
  public func outageDelay(round: Int, random: Double) -> Int64 {
    let doubled = outageBaseMilliseconds << Int64(min(max(round - 1, 0), 20))
    let wait = min(doubled, outageMaxMilliseconds)
    // A tenth of jitter, so that the workers of one job do not all come back at once.
    return wait + Int64(Double(wait) * 0.1 * random)
  }
}
