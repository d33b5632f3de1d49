import Synchronization
import ZonaiThreads

/// Keeps the leases of a worker's batches, every third of a lease, on a thread of its own: an application that blocks the
/// cooperative pool must not lose its batches to others. It also tells the store that the worker is there, from its start
/// on, so that an idle one is listed too.
///
/// A batch may open requests until two thirds of a lease after the last renewal that succeeded began.
final class Heartbeat: Sendable {
  /// One batch that is alive.
  struct Pulse: Sendable {
    let permit: SendPermit
    /// When the claim, or the last renewal that succeeded, began.
    var renewedAt: Int64
    var wasStopped = false
    let stop: @Sendable (BatchEvent.StopCause) -> Void
  }

  private let store: any TokenStore
  private let worker: WorkerID
  private let app: AppName
  private let lease: Int64
  private let clock: any EngineClock
  private let observer: ZonaiObserver
  private let meter: SettleMeter
  private let thread: ThreadExecutor
  private let pulses = Mutex<[BatchLease: Pulse]>([:])

  init(
    store: any TokenStore, worker: WorkerID, app: AppName, lease: Int64, meter: SettleMeter, clock: any EngineClock,
    observer: @escaping ZonaiObserver
  ) throws(ThreadStartError) {
    self.store = store
    self.worker = worker
    self.app = app
    self.lease = lease
    self.meter = meter
    self.clock = clock
    self.observer = observer
    thread = try ThreadExecutor(name: "zonai heartbeat")
  }

  private var third: Int64 { max(1, lease / 3) }

  /// Until when a batch whose lease began at this moment may open requests.
  func permitEnd(from start: Int64) -> Int64 { start + lease * 2 / 3 }

  func add(_ lease: BatchLease, _ pulse: Pulse) { pulses.withLock { $0[lease] = pulse } }

  func remove(_ lease: BatchLease) { pulses.withLock { $0[lease] = nil } }

  /// Beats until the task is cancelled.
  func start() -> Task<Void, Never> {
    Task(executorPreference: thread) { [self] in
      await beat()
      thread.close()
    }
  }

  private func beat() async {
    var planned = clock.now
    while true {
      do { try await clock.sleep(until: planned) } catch { return }
      let start = clock.now
      if start - planned > third { observer(.heartbeatLate(milliseconds: start - planned)) }
      planned = start + third
      let leases = pulses.withLock { Array($0.keys) }
      do {
        take(try await store.renew(request(leases)), asked: leases, start: start)
      } catch {
        // Sooner than planned, since a second failure costs the permit.
        let pause = max(50, third / 6)
        planned = clock.now + pause
        // Of a store that is away a worker without batches hears from its claims.
        if !leases.isEmpty { observer(.storeTrouble(.renew, error, retryInMilliseconds: pause)) }
        stopLapsed()
      }
    }
  }

  /// Takes the worker off the list. Tried once, and not waited for longer than a moment: it is forgotten after a day anyway.
  func sayFarewell() async {
    let request = request([], isLast: true)
    let over = Doorbell()
    Task { [store, observer] in
      do throws(StoreError) {
        _ = try await store.renew(request)
      } catch {
        if !error.isPassing { observer(.storeTrouble(.renew, error, retryInMilliseconds: nil)) }
      }
      over.ring()
    }
    await over.wait(until: clock.now + Heartbeat.farewell, on: clock)
  }

  private static let farewell: Int64 = 2000

  private func request(_ leases: [BatchLease], isLast: Bool = false) -> RenewRequest {
    let (settled, rate) = meter.read(now: clock.now)
    return RenewRequest(
      worker: worker, app: app, leases: leases, leaseMilliseconds: lease,
      status: WorkerStatus.here(settled: settled, settledPerSecond: rate), isLast: isLast)
  }

  private func take(_ renewed: [RenewedLease], asked: [BatchLease], start: Int64) {
    var answers: [BatchLease: RenewedLease] = [:]
    for answer in renewed { answers[answer.lease] = answer }
    for lease in asked {
      let answer = answers[lease]
      guard let answer, answer.isOwned else {
        stop(lease, .leaseLost) { $0.permit.revoke() }
        continue
      }
      let permitted = permitEnd(from: start)
      pulses.withLock { pulses in
        guard pulses[lease] != nil else { return }
        pulses[lease]?.renewedAt = start
        pulses[lease]?.permit.extend(to: permitted)
      }
      if !answer.jobState.isOpen { stop(lease, .jobStopped) }
    }
  }

  /// A batch whose whole lease went by without a renewal settles what was answered, if nobody took it over meanwhile.
  private func stopLapsed() {
    let now = clock.now
    let lapsed = pulses.withLock { $0.filter { $0.value.renewedAt + lease <= now }.map(\.key) }
    for lease in lapsed { stop(lease, .shutdown) }
  }

  private func stop(_ lease: BatchLease, _ cause: BatchEvent.StopCause, also: (Pulse) -> Void = { _ in }) {
    let pulse = pulses.withLock { pulses -> Pulse? in
      guard let pulse = pulses[lease] else { return nil }
      // Told once, except that a lost lease is always news.
      if cause == .leaseLost {
        pulses[lease] = nil
      } else if pulse.wasStopped {
        return nil
      }
      pulses[lease]?.wasStopped = true
      return pulse
    }
    guard let pulse else { return }
    also(pulse)
    pulse.stop(cause)
    if cause != .leaseLost { observer(.batchStopped(lease, cause)) }
  }
}
