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

  func call<Result: Sendable>(
    _ call: ZonaiEvent.StoreCall, unless isPointless: (StoreError) -> Bool = { _ in false },
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
        guard error.isPassing, now - since < limit, !isPointless(error) else {
          observer(.storeTrouble(call, error, retryInMilliseconds: nil))
          throw error
        }
        // Half of it is chance, so that the workers of one store do not come back at once.
        let wait = pause / 2 + Int64.random(in: 0...(pause / 2))
        observer(.storeTrouble(call, error, retryInMilliseconds: wait))
        guard (try? await clock.sleep(milliseconds: wait)) != nil else { throw error }
        pause = min(pause * 2, StorePatience.longestPause)
      }
    }
  }
}

extension StoreError {
  /// Whether there is no point in claiming more: what is sent could not be settled either.
  var stopsWorker: Bool {
    if isPassing { return false }
    return !wasFoundBeforeWriting || code == .notMigrated || code == .schemaVersion
  }
}
