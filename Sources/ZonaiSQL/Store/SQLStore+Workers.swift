import Synchronization
import ZonaiCore

/// The list of workers: who is there, and what it told of itself.
extension SQLStore {
  /// A worker that was not heard of for a day is forgotten.
  static var workerMemory: Int64 { 86_400_000 }

  func remember(
    _ worker: WorkerID, of app: AppName, _ status: WorkerStatus?, lease: Int64, _ now: Int64,
    _ connection: Driver.Connection
  ) throws(StoreError) {
    var columns: [(StaticString, Value)] = [
      ("worker", .text(worker.rawValue)), ("app", .text(app.rawValue)), ("started_at", .integer(now)),
      ("seen_at", .integer(now)),
      ("lease", .integer(lease)),
    ]
    var changes: [(StaticString, UpsertChange)] = [
      ("app", .replace), ("seen_at", .replace), ("lease", .replace),
    ]
    if let status {
      columns += [
        ("host", .text(status.host)), ("process", .integer(Int64(status.process))),
        ("settled", .integer(Int64(status.settled))),
        ("rate", .integer(Int64((status.settledPerSecond * 1000).rounded()))),
      ]
      changes += [("host", .replace), ("process", .replace), ("settled", .replace), ("rate", .replace)]
    }
    var upsert = SQLBuilder(dialect)
    dialect.appendUpsert(into: "zonai_workers", columns, key: ["worker"], whenThere: changes, to: &upsert)
    try connection.run(upsert.statement())
    signsOfLife.note(worker, at: now)
  }

  /// A claim is a sign of life too. Written down only now and then: workers that claim tell it with their heartbeats.
  func rememberClaim(_ request: ClaimRequest, _ now: Int64, _ connection: Driver.Connection) throws(StoreError) {
    guard signsOfLife.isOld(request.worker, at: now) else { return }
    try remember(request.worker, of: request.app, nil, lease: request.leaseMilliseconds, now, connection)
  }

  func forget(_ worker: WorkerID, _ connection: Driver.Connection) throws(StoreError) {
    try connection.run(sql("DELETE FROM zonai_workers WHERE worker = \(worker.rawValue)"))
    signsOfLife.forget(worker)
  }

  func workers(_ connection: Driver.Connection) throws(StoreError) -> [WorkerAccount] {
    let now = try now(connection)
    var jobs: [String: [JobID]] = [:]
    let leases = sql(
      "SELECT worker, job FROM zonai_batches WHERE worker IS NOT NULL AND due_at > \(now) ORDER BY worker, job")
    try connection.run(leases) { row throws(StoreError) in
      jobs[row.text(0), default: []].append(JobID(row.text(1)))
    }
    let seen = sql(
      """
      SELECT worker, host, process, started_at, seen_at, lease, settled, rate, app FROM zonai_workers
      WHERE seen_at >= \(now - Self.workerMemory) ORDER BY worker
      """)
    return try connection.all(seen) { row throws(StoreError) in
      let leased = jobs[row.text(0)] ?? []
      var distinct: [JobID] = []
      for job in leased where distinct.last != job { distinct.append(job) }
      let status = row.optionalText(1).map { host in
        WorkerStatus(
          host: host, process: Int(row.integer(2)), settled: Int(row.integer(6)),
          settledPerSecond: Double(row.integer(7)) / 1000)
      }
      let ago = max(0, now - row.integer(4))
      return WorkerAccount(
        worker: WorkerID(rawValue: row.text(0)), app: AppName(rawValue: row.text(8)), status: status,
        leases: leased.count, jobs: distinct, startedAt: row.integer(3), lastSeenAt: row.integer(4), lastSeenAgo: ago,
        isAlive: ago <= row.integer(5))
    }
  }
}

/// When this store last wrote down that a worker is there, by the store's clock.
final class SignsOfLife: Sendable {
  private let seen = Mutex<[WorkerID: Int64]>([:])

  /// Milliseconds. A few heartbeats of the shortest lease, half a heartbeat of the usual one.
  private static let interval: Int64 = 10_000
  private static let limit = 256

  func isOld(_ worker: WorkerID, at now: Int64) -> Bool {
    seen.withLock { seen in
      guard let last = seen[worker] else { return true }
      return now < last || now - last >= SignsOfLife.interval
    }
  }

  func note(_ worker: WorkerID, at now: Int64) {
    seen.withLock { seen in
      if seen.count >= SignsOfLife.limit { seen = [:] }
      seen[worker] = now
    }
  }

  func forget(_ worker: WorkerID) { seen.withLock { $0[worker] = nil } }
}
