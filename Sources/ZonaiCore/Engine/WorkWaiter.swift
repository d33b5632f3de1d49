import Synchronization

/// Lets the store tell of new work: one wait at a time, which rings the worker's bell.
///
/// It runs beside the worker, since a batch that ends is news too and a store's wait need not end early.
final class WorkWaiter: Sendable {
  private let store: any TokenStore
  private let bell: Doorbell
  private let clock: any EngineClock
  private let observer: ZonaiObserver
  private let waiting = Mutex<Task<Void, Never>?>(nil)

  init(store: any TokenStore, bell: Doorbell, clock: any EngineClock, observer: @escaping ZonaiObserver) {
    self.store = store
    self.bell = bell
    self.clock = clock
    self.observer = observer
  }

  /// Waits, unless a wait is still under way. The bell is rung `pause` after the store spoke: a store that speaks again and
  /// again without there being work must not make the worker a hot loop.
  func wait(milliseconds: Int64, pause: Int64) {
    waiting.withLock { waiting in
      guard waiting == nil else { return }
      waiting = Task { [self] in
        do throws(StoreError) {
          try await store.waitForWork(milliseconds: milliseconds)
          if pause > 0 { try? await clock.sleep(milliseconds: pause) }
          over()
          bell.ring()
        } catch {
          // No ring: the worker looks again by its own timer, and then hears of it from the claim.
          over()
          if !Task.isCancelled { observer(.storeTrouble(.waitForWork, error, retryInMilliseconds: milliseconds)) }
        }
      }
    }
  }

  func cancel() { waiting.withLock { $0 }?.cancel() }

  private func over() { waiting.withLock { $0 = nil } }
}
