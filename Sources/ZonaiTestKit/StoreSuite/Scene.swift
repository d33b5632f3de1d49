import Synchronization
import ZonaiCore

/// A check's stage: a migrated store on a fixture's database, and short words for what checks do over and over.
struct Scene<Fixture: StoreFixture>: Sendable {
  let fixture: Fixture
  let store: Fixture.Store
  private let handles: Handles<Fixture.Store>

  init(_ fixture: Fixture, isMigrated: Bool = true) async throws {
    self.fixture = fixture
    store = try await fixture.open()
    handles = Handles(store)
    if isMigrated { _ = try await store.migrate() }
  }

  /// Another handle, as another worker has it.
  func open() async throws -> Fixture.Store {
    let handle = try await fixture.open()
    handles.add(handle)
    return handle
  }

  /// So many more handles.
  func open(_ count: Int) async throws -> [Fixture.Store] {
    var handles: [Fixture.Store] = []
    for _ in 0..<count { handles.append(try await open()) }
    return handles
  }

  /// Ends every handle: a server has only so many connections.
  func close() async {
    for handle in handles.take() { await fixture.close(handle) }
  }

  // MARK: The application's table

  /// The usual table: devices 1 to `count`, with tokens `token-1` and so on, all on Android.
  func makeDevices(_ count: Int) async throws {
    try await fixture.create(.devices)
    try await addDevices(count == 0 ? [] : Array(1...Int64(count)))
  }

  func addDevices(_ ids: [Int64], token: (Int64) -> String = { "token-\($0)" }) async throws {
    guard !ids.isEmpty else { return }
    try await fixture.insert(ids.map { TableSketch.device($0, token: token($0)) }, into: "devices")
  }

  /// The tokens of the usual table by id; NULL is absent.
  func deviceTokens() async throws -> [Int64: String] {
    var tokens: [Int64: String] = [:]
    for row in try await fixture.rows(of: "devices") {
      if case .integer(let id) = row["id"], case .text(let token) = row["token"] { tokens[id] = token }
    }
    return tokens
  }

  // MARK: Jobs

  func request(
    _ audience: Audience = .devices, policy: Policy = .clearColumn, title: String = "news", key: String? = nil,
    routes: Routes = Routes(apple: .fcm, android: .fcm, unknown: .fcm)
  ) -> EnqueueRequest {
    EnqueueRequest(
      definition: JobDefinition(
        message: PushMessage(title: title, body: "hello"), audience: audience, policy: policy, routes: routes),
      idempotencyKey: key)
  }

  @discardableResult
  func enqueue(
    _ audience: Audience = .devices, policy: Policy = .clearColumn, title: String = "news", key: String? = nil,
    routes: Routes = Routes(apple: .fcm, android: .fcm, unknown: .fcm)
  ) async throws -> JobID {
    try await store.enqueue(request(audience, policy: policy, title: title, key: key, routes: routes)).job.id
  }

  func job(_ id: JobID) async throws -> Job {
    guard case .job(let job?) = try await store.jobs(.one(id)) else {
      throw CheckFailure(expected: "job \(id) to be there", found: "no such job")
    }
    return job
  }

  func allJobs() async throws -> [Job] {
    guard case .jobs(let jobs) = try await store.jobs(.list(limit: 1000, states: nil)) else {
      throw CheckFailure(expected: "a list of jobs", found: "another kind of listing")
    }
    return jobs
  }

  @discardableResult
  func resume(_ id: JobID, suspects: SuspectMode = .ask) async throws -> Job {
    guard case .job(let job) = try await store.change(.resume(id, suspects: suspects)) else {
      throw CheckFailure(expected: "the resumed job", found: "another kind of result")
    }
    return job
  }

  @discardableResult
  func cancel(_ id: JobID) async throws -> Job {
    guard case .job(let job) = try await store.change(.cancel(id)) else {
      throw CheckFailure(expected: "the cancelled job", found: "another kind of result")
    }
    return job
  }

  // MARK: Batches

  func claimOnce(
    _ worker: String = "anna", size: Int = 500, first: Int = 50, lease: Int64 = 60_000,
    transports: Set<TransportName> = [.fcm, .apns], only: JobID? = nil, on other: Fixture.Store? = nil
  ) async throws -> ClaimResult {
    try await claimOnce(
      ClaimRequest(
        worker: WorkerID(rawValue: worker), transports: transports, batchSize: size, firstBatchSize: first,
        leaseMilliseconds: lease, only: only), on: other)
  }

  func claimOnce(_ request: ClaimRequest, on other: Fixture.Store? = nil) async throws -> ClaimResult {
    let size = request.batchSize
    // "Contended" asks for another try, of which a store with few workers needs few.
    for _ in 0..<1000 {
      let result = try await (other ?? store).claim(request)
      if case .contended = result { continue }
      if case .batch(let batch) = result {
        let count = batch.recipients.count
        try expect(count <= size, "no more than \(size) recipients in a batch", found: "\(count)")
      }
      return result
    }
    throw CheckFailure(expected: "a claim to succeed among few workers", found: "contended 1000 times")
  }

  func claim(
    _ worker: String = "anna", size: Int = 500, first: Int = 50, lease: Int64 = 60_000,
    transports: Set<TransportName> = [.fcm, .apns], only: JobID? = nil, file: StaticString = #fileID,
    line: UInt = #line
  ) async throws -> ClaimedBatch {
    let result = try await claimOnce(
      worker, size: size, first: first, lease: lease, transports: transports, only: only)
    if case .batch(let batch) = result { return batch }
    throw CheckFailure(expected: "a batch to be claimed", found: result.word, file: file, line: line)
  }

  /// Expects that there is nothing to claim, and gives the reason.
  func claimNothing(
    _ worker: String = "berta", size: Int = 500, transports: Set<TransportName> = [.fcm, .apns], only: JobID? = nil,
    file: StaticString = #fileID, line: UInt = #line
  ) async throws -> Idle {
    let result = try await claimOnce(worker, size: size, transports: transports, only: only)
    if case .nothing(let idle) = result { return idle }
    throw CheckFailure(expected: "nothing to be claimed", found: result.word, file: file, line: line)
  }

  /// Commits a step, and expects the job's counts to add up after it.
  @discardableResult
  func settle(
    _ settlement: Settlement, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> Committed {
    guard case .committed(let committed) = try await store.settle(settlement) else {
      throw CheckFailure(expected: "the settlement to be committed", found: "lease lost", file: file, line: line)
    }
    try expectSum(of: try await job(committed.job.id), file: file, line: line)
    return committed
  }

  func expectLeaseLost(
    _ settlement: Settlement, file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    if case .committed = try await store.settle(settlement) {
      throw CheckFailure(expected: "a lost lease to commit nothing", found: "committed", file: file, line: line)
    }
  }

  @discardableResult
  func deliver(_ batch: ClaimedBatch, file: StaticString = #fileID, line: UInt = #line) async throws -> Committed {
    try await settle(.answers(batch.delivered()), file: file, line: line)
  }

  /// Rejects some recipients of a batch as dead and delivers to the others.
  @discardableResult
  func reject(
    _ indexes: [Int], of batch: ClaimedBatch, evidence: Evidence = .conclusive, group: Group = .android,
    file: StaticString = #fileID, line: UInt = #line
  ) async throws -> [Rejection] {
    let count = batch.recipients.count
    try expect(
      indexes.allSatisfy { $0 < count }, "at least \((indexes.max() ?? 0) + 1) recipients in the batch",
      found: "\(count)", file: file, line: line)
    let rejections = indexes.map { batch.rejection($0, evidence: evidence, group: group) }
    var answers = batch.delivered(but: indexes, to: group)
    answers.rejections = rejections
    try await settle(.answers(answers))
    return rejections
  }

  /// Rejects all recipients of a batch and carries out the policy.
  @discardableResult
  func prune(_ batch: ClaimedBatch) async throws -> Committed {
    let rejections = try await reject(Array(0..<batch.recipients.count), of: batch)
    return try await settle(.prunes(batch.prunes(rejections)))
  }

  /// Claims and delivers until nothing is left; the keys in the order in which they were handed out.
  func drain(size: Int = 500, first: Int = 50) async throws -> [(key: RowKey, token: String)] {
    var handed: [(key: RowKey, token: String)] = []
    for _ in 0..<1000 {
      switch try await claimOnce(size: size, first: first) {
      case .batch(let batch):
        try expect(
          batch.recipients.count <= size, "no more than \(size) recipients", found: "\(batch.recipients.count)")
        handed += batch.all
        try await deliver(batch)
      case .ended, .contended: continue
      case .nothing: return handed
      }
    }
    throw CheckFailure(expected: "the work to end", found: "1000 batches and no end")
  }
}

/// Law 13, as far as one reading of a job shows it.
func expectSum(of job: Job, file: StaticString = #fileID, line: UInt = #line) throws {
  var sums: [TallyLine.Outcome: Int] = [:]
  for line in job.tally { sums[line.outcome, default: 0] += line.count }
  let counts = job.counts
  let expected = [
    counts.delivered, counts.transientlyFailed, counts.expired, counts.pruned, counts.spared, counts.kept,
  ]
  let outcomes: [TallyLine.Outcome] = [.delivered, .transientlyFailed, .expired, .pruned, .spared, .kept]
  try expect(
    outcomes.map { sums[$0] ?? 0 }, is: expected, "the tally's sums as the counts say", file: file, line: line)
  try expect(
    counts.permanentlyRejected, is: counts.pruned + counts.spared + counts.kept, "rejected = pruned + spared + kept",
    file: file, line: line)
}

/// The handles that a check opened.
private final class Handles<Store: Sendable>: Sendable {
  private let open: Mutex<[Store]>

  init(_ store: Store) { open = Mutex([store]) }

  func add(_ store: Store) { open.withLock { $0.append(store) } }

  func take() -> [Store] {
    open.withLock { open in
      defer { open = [] }
      return open
    }
  }
}
