import ZonaiCore

/// A worker that was heard of.
struct MemoryWorker: Sendable {
  var app: AppName
  var status: WorkerStatus?
  let startedAt: Int64
  var seenAt: Int64
  var lease: Int64
}

extension MemoryState {
  /// Workers that were not heard of for so long are forgotten.
  static let workerMemory: Int64 = 86_400_000

  mutating func see(_ worker: WorkerID, of app: AppName, lease: Int64, status: WorkerStatus? = nil) {
    var seen = workers[worker] ?? MemoryWorker(app: app, startedAt: now, seenAt: now, lease: lease)
    seen.app = app
    seen.seenAt = now
    seen.lease = lease
    seen.status = status ?? seen.status
    workers[worker] = seen
  }

  var workerAccounts: [WorkerAccount] {
    workers.filter { $0.value.seenAt >= now - MemoryState.workerMemory }.map { worker, seen in
      let leased = jobs.flatMap { job in
        job.batches.values.filter { $0.owner == worker && $0.isLeased(at: now) }.map { _ in job.id }
      }
      return WorkerAccount(
        worker: worker, app: seen.app, status: seen.status, leases: leased.count,
        jobs: Set(leased).sorted { $0.rawValue < $1.rawValue }, startedAt: seen.startedAt, lastSeenAt: seen.seenAt,
        lastSeenAgo: now - seen.seenAt, isAlive: now - seen.seenAt <= seen.lease)
    }.sorted { $0.worker.rawValue < $1.worker.rawValue }
  }

  mutating func retain(_ milliseconds: Int64, every: Int64) -> Int {
    if every > 0, let retainedAt, now - retainedAt < every { return 0 }
    retainedAt = now
    workers = workers.filter { $0.value.seenAt >= now - MemoryState.workerMemory }
    secrets = secrets.filter { $0.value.endsAt > now }
    let before = jobs.count
    jobs.removeAll { job in
      guard let finished = job.finishedAt, !job.state.isOpen else { return false }
      let isInFlight = job.batches.values.contains { $0.isLeased(at: now) }
      return finished < now - milliseconds && !isInFlight
    }
    return before - jobs.count
  }
}
