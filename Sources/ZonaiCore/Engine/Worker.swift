import Synchronization

/// Claims batches and runs them, several at once, until there is nothing to do or it is told to stop.
final class Worker: Sendable {
  enum Goal: Sendable, Hashable {
    /// Until stopped.
    case stay
    /// Until nothing is due that this worker can serve, the leases of the dead included.
    case drain
    /// Until this job has ended.
    case finish(JobID)

    var job: JobID? { if case .finish(let job) = self { job } else { nil } }
  }

  let id: WorkerID
  let store: any TokenStore & JobStore
  let transports: [TransportName: any Transport]
  let options: ZonaiOptions
  let clock: any EngineClock
  let observer: ZonaiObserver
  let heartbeat: Heartbeat
  let meter: SettleMeter
  let governor: LaneGovernor
  let prepared: PreparedJobs
  let hookThreads: HookThreads
  let stop = StopSignal()
  let patience: StorePatience

  private let zonai: Zonai
  private let bell = Doorbell()
  private let progress = Mutex(Progress())
  /// The versions of the app's bindings when this worker began.
  private let bindingVersions = Mutex<[TransportName: Int64]>([:])

  /// What the batches of this worker have done so far.
  private struct Progress {
    var inFlight = 0
    var report = WorkReport()
    var failure: (any Error)?
    /// Jobs whose end was told, until they are claimed from again.
    var ended: Set<JobID> = []
  }

  init(_ zonai: Zonai) throws(ZonaiError) {
    id = WorkerID.madeUp(named: zonai.options.workerName)
    store = zonai.store
    transports = zonai.transports
    options = zonai.options
    clock = zonai.clock
    observer = zonai.observer
    governor = zonai.governor
    prepared = zonai.prepared
    hookThreads = zonai.hookThreads
    self.zonai = zonai
    patience = StorePatience(
      clock: clock, patience: options.storePatienceSeconds.milliseconds, grace: options.gracePeriodSeconds.milliseconds,
      stop: stop, observer: observer)
    meter = SettleMeter(now: clock.now)
    do {
      heartbeat = try Heartbeat(
        store: store, worker: id, app: zonai.app, lease: options.leaseSeconds.milliseconds, meter: meter, clock: clock,
        observer: observer)
    } catch {
      throw ZonaiError(.noThread, error.description)
    }
  }

  func hook(for table: TableName) -> PushRejectionHandler? { zonai.hook(for: table) }

  /// Works until the goal is reached, the worker is stopped, or something ends it that no retry helps against.
  func work(for goal: Goal) async throws -> WorkReport {
    do { try await bind() } catch {
      guard stop.isRaised else { throw error }
      var report = WorkReport()
      report.wasStopped = true
      return report
    }
    observer(.workerStarted(id, transports: Array(transports.keys)))
    let beating = heartbeat.start()
    let listening = stop.listen { [bell] in bell.ring() }
    let retention = options.retentionSeconds.map { seconds in
      Retention(store: store, keeps: seconds.milliseconds, clock: clock, observer: observer).start()
    }
    let waiter = WorkWaiter(store: store, bell: bell, clock: clock, observer: observer)
    await withDiscardingTaskGroup { group in
      await claimAll(for: goal, waiter: waiter, into: &group)
      let inFlight = progress.withLock { $0.inFlight }
      if stop.isRaised { observer(.stopping(id, batchesInFlight: inFlight)) }
    }
    waiter.cancel()
    stop.forget(listening)
    retention?.cancel()
    beating.cancel()
    await beating.value
    await retention?.value
    await heartbeat.sayFarewell()
    observer(.workerStopped(id))
    var (report, failure) = progress.withLock { ($0.report, $0.failure) }
    report.wasStopped = stop.isRaised
    if let failure { throw failure }
    return report
  }

  // MARK: Claiming

  /// Refused here, before it is listed and before it claims, when the app is bound to other lanes
  /// than this worker has.
  private func bind() async throws(StoreError) {
    let store = store
    let request = BindRequest(app: zonai.app, lanes: zonai.lanes)
    let bindings = try await firstCall(.bind) { () async throws(StoreError) in try await store.bind(request) }
    bindingVersions.withLock { $0 = bindings.lanes.mapValues(\.version) }
  }

  /// A call that ends with a stop. A store that was never reached is not waited for.
  private func firstCall<Result: Sendable>(
    _ call: ZonaiEvent.StoreCall, _ body: () async throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    let isFirst = !zonai.storeWasReached.load(ordering: .relaxed)
    let result = try await patience.call(
      call, unless: { isFirst && $0.code == .unavailable }, endsWithStop: true, body)
    zonai.storeWasReached.store(true, ordering: .relaxed)
    return result
  }

  private func claimAll(for goal: Goal, waiter: WorkWaiter, into group: inout DiscardingTaskGroup) async {
    var wait = ClaimWait(poll: options.pollSeconds.milliseconds)
    var told: String?
    while !isOver {
      guard progress.withLock({ $0.inFlight }) < options.batchesInFlight else {
        await bell.wait()
        continue
      }
      let wasAlone = progress.withLock { $0.inFlight } == 0
      let result: ClaimResult
      let claimedFrom: Int64
      do { (result, claimedFrom) = try await claim(only: goal.job) } catch {
        if !stop.isRaised { fail(error) }
        return
      }
      switch result {
      case .batch(let batch):
        wait.found()
        told = nil
        start(batch, claimedFrom: claimedFrom, into: &group)
      case .ended(let job):
        wait.found()
        note(job)
      case .contended:
        await bell.wait(until: clock.now + wait.afterContention(), on: clock)
      case .nothing(let idle):
        progress.withLock { $0.report.remaining = idle }
        if wasAlone, told != idle.sentence {
          told = idle.sentence
          observer(.idle(idle))
        }
        if wasAlone, await isReached(goal, idle) { return }
        let milliseconds = wait.untilDue(idle)
        waiter.wait(milliseconds: milliseconds, pause: wait.afterFalseAlarm())
        if !isOver { await bell.wait(until: clock.now + milliseconds, on: clock) }
      }
    }
  }

  private var isOver: Bool { stop.isRaised || progress.withLock { $0.failure != nil } }

  /// What the store gave, and when the call that gave it began: a lease may have begun that early.
  private func claim(only job: JobID?) async throws(StoreError) -> (ClaimResult, from: Int64) {
    let request = ClaimRequest(
      worker: id, app: zonai.app, lanes: zonai.lanes, bindingVersions: bindingVersions.withLock { $0 },
      batchSize: options.batchSize,
      firstBatchSize: min(options.firstBatchSize, options.batchSize),
      leaseMilliseconds: options.leaseSeconds.milliseconds, only: job)
    let store = store
    return try await firstCall(.claim) { () async throws(StoreError) in
      let start = self.clock.now
      return (try await store.claim(request), from: start)
    }
  }

  private func isReached(_ goal: Goal, _ idle: Idle) async -> Bool {
    switch goal {
    case .stay: return false
    case .drain: return !idle.waitsForLease && idle.leasesElsewhere == 0
    case .finish(let id):
      do {
        guard case .job(let job?) = try await store.jobs(.one(id)) else { throw ZonaiError.noSuchJob(id) }
        guard job.state.isOpen else { return true }
        if job.app != zonai.app { throw ZonaiError.unservable(job, in: zonai.app) }
        if idle.unservable.contains(id) { throw ZonaiError.unservable(job, having: Set(transports.keys)) }
        return false
      } catch let error as StoreError where error.isPassing {
        return false
      } catch {
        fail(error)
        return true
      }
    }
  }

  // MARK: Batches

  private func start(_ batch: ClaimedBatch, claimedFrom: Int64, into group: inout DiscardingTaskGroup) {
    observer(.claimed(batch.lease, recipients: batch.recipients.count, isTakeover: batch.isTakeover))
    if batch.isFirst, batch.lease.batch == 1, batch.lease.fence == 1 {
      for note in batch.job.notes { observer(.noted(batch.job.id, note)) }
    }
    progress.withLock { progress in
      progress.inFlight += 1
      progress.report.batches += 1
      progress.report.recipients += batch.recipients.count
      progress.ended.remove(batch.job.id)
    }
    let claimedAt = clock.now
    let leasedAt = batch.ageMilliseconds.map { max(claimedFrom, claimedAt - max(0, $0)) }
    group.addTask {
      let end = await self.run(batch, claimedFrom: leasedAt ?? claimedFrom, claimedAt: leasedAt ?? claimedAt)
      self.take(end)
    }
  }

  private func run(_ batch: ClaimedBatch, claimedFrom: Int64, claimedAt: Int64) async -> BatchEnd {
    let messages: PreparedJobs.Messages
    do { messages = try prepared.messages(of: batch.job) } catch {
      return await refuse(batch, JobFailure(.message, error.sentence))
    }
    var runner = BatchRunner(
      worker: self, batch: batch, messages: messages, claimedFrom: claimedFrom, claimedAt: claimedAt)
    return await runner.run()
  }

  /// Fails the job before anything of the batch is sent.
  private func refuse(_ batch: ClaimedBatch, _ failure: JobFailure) async -> BatchEnd {
    let store = store
    do {
      let result = try await patience.call(.change) { () async throws(StoreError) in
        try await store.change(.fail(batch.lease, failure))
      }
      guard case .job(let job) = result else { return .abandoned }
      note(job)
      return .finished(job)
    } catch {
      return .failed(error)
    }
  }

  private func take(_ end: BatchEnd) {
    switch end {
    case .finished, .abandoned: break
    case .failed(let error): if error.stopsWorker { fail(error) }
    case .hooksStuck(let count): fail(ZonaiError.hooksStuck(count))
    }
    progress.withLock { $0.inFlight -= 1 }
    bell.ring()
  }

  /// Claims nothing more; what is in flight is settled, then `work` throws this.
  private func fail(_ error: any Error) {
    progress.withLock { if $0.failure == nil { $0.failure = error } }
    bell.ring()
  }

  /// Tells the observer of a job's end, once.
  func note(_ job: Job) {
    guard !job.state.isOpen else { return }
    let isNews = progress.withLock { progress in
      guard progress.ended.insert(job.id).inserted else { return false }
      progress.report.jobsEnded += 1
      if progress.ended.count > 1000 { progress.ended = [job.id] }
      return true
    }
    if isNews { observer(.jobEnded(job.id, job.state, job.counts, job.error)) }
  }
}
