import ZonaiCore

/// Everything that an in-memory database holds: the application's tables, and Zonai's own.
struct MemoryState: Sendable {
  /// The version of Zonai's own tables; 0 before `migrate`.
  var version = 0
  var now: Int64 = 0

  var tables: [TableName: MemoryTable] = [:]
  /// Rows whose change the application's own rules refuse.
  var refusals: [RowRefusal] = []
  /// Columns that the refusals of all changes of a table quote.
  var quotations: [TableName: String] = [:]
  /// Rows that a transaction of the application holds, by table and position-free key.
  var locks: [RowLock] = []
  /// Rows whose prune ends as a dead-lock's victim.
  var conflicts: [RowConflict] = []

  /// In the order of their enqueuing.
  var jobs: [MemoryJob] = []
  var jobsMade = 0
  var claims = 0
  var lanes: [LaneKey: LaneRecord] = [:]
  var secrets: [String: Secret] = [:]
  var workers: [WorkerID: MemoryWorker] = [:]
  var apps: [AppName: AppBindings] = [:]
  /// When jobs that ended long ago were last looked for.
  var retainedAt: Int64?

  static let currentVersion = 1

  struct LaneKey: Sendable, Hashable {
    var transport: TransportName
    var fingerprint: String
    var platform: Platform

    init(_ group: Group) {
      transport = group.transport
      fingerprint = group.fingerprint
      platform = group.platform
    }
  }

  /// What is remembered of a lane and platform over all jobs.
  struct LaneRecord: Sendable {
    var lastDeliveredAt: Int64?
    var circumstantialSince = 0
  }

  struct RowRefusal: Sendable {
    var table: TableName
    var column: String
    var value: Value
    var words: String
  }

  func requireVersion() throws(StoreError) {
    if version == 0 { throw StoreError(.notMigrated, "the store has no tables of Zonai's: run migrate") }
    guard version != Self.currentVersion else { return }
    let advice = version > Self.currentVersion ? "use a newer build of Zonai" : "run migrate"
    throw StoreError(
      .schemaVersion, "the store's tables have version \(version), this build knows \(Self.currentVersion): \(advice)")
  }

  func index(of job: JobID) -> Int? { jobs.firstIndex { $0.id == job } }

  /// The batch that this lease still owns.
  func owned(_ lease: BatchLease) -> (job: Int, batch: MemoryBatch)? {
    guard let job = index(of: lease.job), let batch = jobs[job].batches[lease.batch], batch.fence == lease.fence,
      batch.owner != nil
    else { return nil }
    return (job, batch)
  }
}
