/// Calls the store again when it failed in passing: with backoff, and with a limit.
struct StorePatience: Sendable {
  let clock: any EngineClock
  let patience: Int64
  /// What is left once the worker was told to stop.
  let grace: Int64
  let stop: StopSignal
  let observer: ZonaiObserver

  private static let firstPause: Int64 = 100
  private static let longestPause: Int64 = 10_000

  /// - Parameters:
  ///   - isPointless: another try would change nothing.
  ///   - endsWithStop: whether a stop ends the trying at once; what was answered is still settled after one.
  func call<Result: Sendable>(
    _ call: ZonaiEvent.StoreCall, unless isPointless: (StoreError) -> Bool = { _ in false }, endsWithStop: Bool = false,
    _ body: () async throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    var pause = StorePatience.firstPause
    var failedSince: Int64?
    while true {
      do { return try await body() } catch {
        let now = clock.now
        let since = failedSince ?? now
        failedSince = since
        let limit = stop.isRaised ? min(patience, grace) : patience
        if endsWithStop, stop.isRaised { throw error }
        guard error.isPassing, now - since < limit, !isPointless(error) else {
          // The worker's own end tells what it is not configured for.
          let isTold = error.code == .otherBinding || error.code == .rebound
          if !isTold { observer(.storeTrouble(call, error, retryInMilliseconds: nil)) }
          throw error
        }
        // Half of it is chance, so that the workers of one store do not come back at once.
        let wait = pause / 2 + Int64.random(in: 0...(pause / 2))
        observer(.storeTrouble(call, error, retryInMilliseconds: wait))
        guard await sleep(wait, endsWithStop: endsWithStop) else { throw error }
        pause = min(pause * 2, StorePatience.longestPause)
      }
    }
  }

  /// Whether it slept to the end.
  private func sleep(_ milliseconds: Int64, endsWithStop: Bool) async -> Bool {
    let sleeping = Task { [clock] in try await clock.sleep(milliseconds: milliseconds) }
    guard endsWithStop else { return (try? await sleeping.value) != nil }
    let listening = stop.listen { sleeping.cancel() }
    defer { stop.forget(listening) }
    return (try? await sleeping.value) != nil
  }
}

extension StoreError {
  /// Whether there is no point in claiming more: what is sent could not be settled either.
  var stopsWorker: Bool {
    if isPassing { return false }
    return !wasFoundBeforeWriting || code == .notMigrated || code == .schemaVersion
  }
}
