import ZonaiCore
import ZonaiSQLite
import ZonaiTestKit

/// A migrated store on a fresh file, and short words for what these tests do over and over.
struct SQLiteScene: Sendable {
  let fixture: SQLiteFixture
  let store: SQLiteStore

  var application: Application { fixture.application }

  init(
    _ statements: String..., journal: SQLiteFixture.Journal = .wal, options: SQLiteOptions = SQLiteOptions()
  ) async throws {
    fixture = try SQLiteFixture(journal: journal)
    for statement in statements { try fixture.application.run(statement) }
    store = try SQLiteStore(path: fixture.path, options: options, clock: { [clock = fixture.clock] in clock.now })
    _ = try await store.migrate()
  }

  static let devices = "CREATE TABLE devices (id INTEGER PRIMARY KEY, token TEXT, platform TEXT, seen)"

  func addDevices(_ count: Int) throws {
    try application.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO devices (id, token, platform) SELECT i, 'token-' || i, 'android' FROM n
      """, [.integer(Int64(count))])
  }

  func enqueue(
    _ audience: Audience, policy: Policy = .clearColumn, isMeant: Bool = false
  ) async throws -> JobID {
    try await store.enqueue(
      EnqueueRequest(
        definition: .news(audience, policy: policy), deletesReferencedRows: isMeant)
    ).job.id
  }

  func claimResult(_ worker: String = "anna", lease: Int64 = 60_000) async throws -> ClaimResult {
    try await store.claim(.from(worker, lease: lease))
  }

  func claim(_ worker: String = "anna", lease: Int64 = 60_000) async throws -> ClaimedBatch {
    let result = try await claimResult(worker, lease: lease)
    guard case .batch(let batch) = result else { throw TestFailure("no batch but \(result)") }
    return batch
  }

  func job(_ id: JobID) async throws -> Job {
    guard case .job(let job?) = try await store.jobs(.one(id)) else { throw TestFailure("no job \(id)") }
    return job
  }

  /// Rejects the whole batch as dead and carries out the policy.
  func prune(_ batch: ClaimedBatch) async throws -> Committed {
    let rejections = (0..<batch.recipients.count).map { batch.rejection($0) }
    _ = try await store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
    let prunes = BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) })
    guard case .committed(let committed) = try await store.settle(.prunes(prunes)) else {
      throw TestFailure("the lease was lost")
    }
    return committed
  }

  /// The rows by their id, token by token.
  func tokens(of table: String = "devices") throws -> [Value] {
    try application.rows("SELECT token FROM \(quoted(table)) ORDER BY 1").compactMap { $0["token"] }
  }
}

extension JobDefinition {
  static func news(_ audience: Audience, policy: Policy = .clearColumn) -> JobDefinition {
    JobDefinition(
      message: PushMessage(title: "news"), audience: audience, policy: policy,
      routes: Routes(apple: .fcm, android: .fcm, unknown: .fcm))
  }
}

extension ClaimRequest {
  static func from(_ worker: String, size: Int = 500, lease: Int64 = 60_000, only: JobID? = nil) -> ClaimRequest {
    ClaimRequest(
      worker: WorkerID(rawValue: worker), transports: [.fcm], batchSize: size, leaseMilliseconds: lease, only: only)
  }
}

extension ClaimedBatch {
  static let group = Group(transport: .fcm, fingerprint: "project", platform: Platform("android"))

  func rejection(_ index: Int) -> Rejection {
    Rejection(
      eventID: "\(lease.batch)-\(lease.fence)-\(index)", key: recipients.keys[index],
      token: recipients.tokens.token(index), lastSeen: recipients.lastSeen(index), group: Self.group,
      evidence: .conclusive, reason: "UNREGISTERED", status: 404, words: nil, deadSince: nil)
  }

  func delivered() -> BatchAnswers {
    let line = TallyLine(
      group: Self.group, outcome: .delivered, reason: "delivered", count: recipients.count)
    return BatchAnswers(lease: lease, tally: recipients.isEmpty ? [] : [line])
  }

  var keys: [RowKey] { (0..<recipients.count).map { recipients.keys[$0] } }
  var tokens: [String] { (0..<recipients.count).map { recipients.tokens.token($0).text } }
}
