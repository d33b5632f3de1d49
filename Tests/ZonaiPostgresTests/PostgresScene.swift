import ZonaiCore
import ZonaiPostgres
import ZonaiTestKit

/// A migrated store in a schema of its own, and short words for what these tests do over and over.
struct PostgresScene: Sendable {
  let fixture: PostgresFixture
  let store: PostgresStore

  var application: Application { fixture.application }

  /// Runs the body on a fresh scene and takes it away again. `statements` make the application's tables.
  static func run(
    _ statements: String..., options: (inout PostgresOptions) -> Void = { _ in },
    _ body: (PostgresScene) async throws -> Void
  ) async throws {
    try await Turns.shared.take {
      try await withFixture { fixture in
        try await fixture.application.runAll(statements)
        let scene = PostgresScene(fixture: fixture, store: try fixture.store(options))
        let outcome: Result<Void, any Error>
        do {
          _ = try await scene.store.migrate()
          outcome = .success(try await body(scene))
        } catch { outcome = .failure(error) }
        await scene.store.close()
        try outcome.get()
      }
    }
  }

  static let devices = "CREATE TABLE devices (id bigint PRIMARY KEY, token text, platform text, seen timestamptz)"

  func addDevices(_ count: Int) async throws {
    try await application.run(
      "INSERT INTO devices SELECT i, 'token-' || i, 'android' FROM generate_series(1, \(count)) AS i")
  }

  @discardableResult
  func enqueue(
    _ audience: Audience = Audience("devices", token: "token"), policy: Policy = .clearColumn
  ) async throws -> JobID {
    try await store.enqueue(EnqueueRequest(definition: .news(audience, policy: policy))).job.id
  }

  func claim(_ worker: String = "anna", size: Int = 500) async throws -> ClaimedBatch {
    let result = try await store.claim(.from(worker, size: size))
    guard case .batch(let batch) = result else { throw TestFailure("no batch but \(result)") }
    return batch
  }

  func job(_ id: JobID) async throws -> Job {
    guard case .job(let job?) = try await store.jobs(.one(id)) else { throw TestFailure("no job \(id)") }
    return job
  }

  /// Claims and delivers until nothing is left; the tokens in the order in which they came.
  func drain(size: Int) async throws -> [String] {
    var tokens: [String] = []
    while true {
      switch try await store.claim(.from("anna", size: size)) {
      case .batch(let batch):
        tokens += batch.tokens
        _ = try await store.settle(.answers(batch.delivered()))
      case .ended, .contended: continue
      case .nothing: return tokens
      }
    }
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
}

/// The error that the body ends with.
func failure(_ body: () async throws -> Void) async -> StoreError? {
  do {
    try await body()
    return nil
  } catch { return error as? StoreError ?? StoreError(.failed, "another error: \(error)") }
}

extension JobDefinition {
  static func news(_ audience: Audience, policy: Policy = .clearColumn) -> JobDefinition {
    JobDefinition(
      message: PushMessage(title: "news"), audience: audience, policy: policy,
      routes: Routes(apple: .fcm, android: .fcm, unknown: .fcm))
  }
}

extension ClaimRequest {
  static func from(_ worker: String, size: Int = 500) -> ClaimRequest {
    ClaimRequest(
      worker: WorkerID(rawValue: worker), transports: [.fcm], batchSize: size, firstBatchSize: size,
      leaseMilliseconds: 60_000)
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
    let line = TallyLine(group: Self.group, outcome: .delivered, reason: "delivered", count: recipients.count)
    return BatchAnswers(lease: lease, tally: recipients.isEmpty ? [] : [line])
  }

  /// Everybody is owed at once.
  func givenBack() -> BatchAnswers {
    BatchAnswers(lease: lease, owed: (0..<recipients.count).map { OwedRecipient(key: recipients.keys[$0]) })
  }

  var tokens: [String] { (0..<recipients.count).map { recipients.tokens.token($0).text } }
}
