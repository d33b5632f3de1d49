/// Lets the store remove jobs that ended long ago, now and then, beside a worker.
///
/// Every worker asks; the store lets one of them do it.
struct Retention: Sendable {
  let store: any JobStore
  /// How long jobs are kept, in milliseconds.
  let keeps: Int64
  let clock: any EngineClock
  let observer: ZonaiObserver

  /// Often enough that a bite is small, and seldom enough that nobody notices.
  private static let interval: Int64 = 600_000

  /// Goes on until the task is cancelled.
  func start() -> Task<Void, Never> {
    Task {
      while !Task.isCancelled {
        await remove()
        // Spread, so that the workers of one store do not ask at once.
        let pause = Retention.interval + Int64.random(in: 0...(Retention.interval / 10))
        do { try await clock.sleep(milliseconds: pause) } catch { return }
      }
    }
  }

  private func remove() async {
    do throws(StoreError) {
      let result = try await store.change(.retain(milliseconds: keeps, every: Retention.interval))
      if case .removed(let count) = result, count > 0 { observer(.jobsRemoved(count)) }
    } catch {
      // The next time will do: nobody waits for it.
      observer(.storeTrouble(.change, error, retryInMilliseconds: Retention.interval))
    }
  }
}
