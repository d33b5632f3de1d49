import ZonaiCore
import ZonaiMySQL
import ZonaiSQL
import ZonaiTestKit

/// A migrated store on a database of its own, and short words for what these tests do over and over.
struct MySQLScene: Sendable {
  let database: ScratchDatabase
  let store: MySQLStore
  let clock = TurnableClock()

  var application: Application { database.application }

  init(_ statements: String..., on server: ServerURL? = nil, options: MySQLOptions = MySQLOptions()) async throws {
    database = try await ScratchDatabase(on: server)
    for statement in statements { try await database.application.run(statement) }
    store = try MySQLStore(url: database.url, options: options, clock: { [clock] in clock.now })
    _ = try await store.migrate()
  }

  static let devices =
    "CREATE TABLE devices (id BIGINT NOT NULL PRIMARY KEY, token VARCHAR(300), platform VARCHAR(20), seen DATETIME(6))"

  func addDevices(_ count: Int) async throws {
    for start in stride(from: 1, through: count, by: 1000) {
      let rows = (start...min(count, start + 999)).map { "(\($0), 'token-\($0)', 'android')" }
      try await application.run("INSERT INTO devices (id, token, platform) VALUES \(rows.joined(separator: ", "))")
    }
  }

  func enqueue(_ audience: Audience, policy: Policy = .clearColumn, isMeant: Bool = false) async throws -> JobID {
    try await store.enqueue(
      EnqueueRequest(definition: .news(audience, policy: policy), deletesReferencedRows: isMeant)
    ).job.id
  }

  func claimResult(_ worker: String = "anna", size: Int = 500) async throws -> ClaimResult {
    try await store.claim(.from(worker, size: size))
  }

  func claim(_ worker: String = "anna", size: Int = 500) async throws -> ClaimedBatch {
    let result = try await claimResult(worker, size: size)
    guard case .batch(let batch) = result else { throw TestFailure("no batch but \(result)") }
    return batch
  }

  func job(_ id: JobID) async throws -> Job {
    guard case .job(let job?) = try await store.jobs(.one(id)) else { throw TestFailure("no job \(id)") }
    return job
  }

  /// Rejects the whole batch as dead and carries out the policy.
  @discardableResult
  func prune(_ batch: ClaimedBatch) async throws -> Committed {
    let rejections = (0..<batch.recipients.count).map { batch.rejection($0) }
    _ = try await store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
    let prunes = BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) })
    guard case .committed(let committed) = try await store.settle(.prunes(prunes)) else {
      throw TestFailure("the lease was lost")
    }
    return committed
  }

  func refusal(_ body: () async throws -> Void) async throws -> StoreError {
    do { try await body() } catch let error as StoreError { return error }
    throw TestFailure("nothing was refused")
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
  static func from(_ worker: String, size: Int = 500, only: JobID? = nil) -> ClaimRequest {
    ClaimRequest(
      worker: WorkerID(rawValue: worker), transports: [.fcm], batchSize: size, firstBatchSize: size,
      leaseMilliseconds: 60_000, only: only)
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

  /// As if nobody had been sent to: all of them come back by their keys.
  func owed() -> BatchAnswers { BatchAnswers(lease: lease, owed: keys.map { OwedRecipient(key: $0) }) }

  var keys: [RowKey] { (0..<recipients.count).map { recipients.keys[$0] } }
  var tokens: [String] { (0..<recipients.count).map { recipients.tokens.token($0).text } }
}
