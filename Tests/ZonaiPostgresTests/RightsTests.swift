import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiTestServers

/// A role that lacks a right: the sentence names the GRANT, and running it helps.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct RightsTests {
  private func withRole(_ body: (PostgresScene, String, PostgresStore) async throws -> Void) async throws {
    try await PostgresScene.run(PostgresScene.devices) { scene in
      let role = "r" + scene.fixture.schema
      try await scene.application.run("CREATE ROLE \(role) LOGIN PASSWORD 'correct horse'")
      let server = try ServerAddress(TestServers.postgres ?? "")
      let store = try PostgresStore(
        url: server.url(
          user: role, password: "correct%20horse", "options=-csearch_path%3D\(scene.fixture.schema),public"))
      let outcome: Result<Void, any Error>
      do { outcome = .success(try await body(scene, role, store)) } catch { outcome = .failure(error) }
      await store.close()
      try await scene.application.runAll(["DROP OWNED BY \(role)", "DROP ROLE \(role)"])
      try outcome.get()
    }
  }

  /// What a sentence says is to be granted.
  private func grant(_ error: StoreError?) throws -> String {
    let sentence = try #require(error).sentence
    #expect(error?.code == .denied, "\(sentence)")
    #expect(!sentence.contains("horse"))
    let start = try #require(sentence.split(separator: "GRANT ").last, "\(sentence)")
    return "GRANT " + start
  }

  private func request(_ policy: Policy) -> EnqueueRequest {
    EnqueueRequest(definition: .news(Audience("devices", token: "token"), policy: policy))
  }

  @Test(arguments: [Policy.none, .clearColumn, .deleteRow])
  func `whoever runs the GRANTs that the sentences name, one after the other, gets through`(
    _ policy: Policy
  ) async throws {
    try await withRole { scene, role, store in
      try await scene.addDevices(3)
      var granted: [String] = []
      var isThrough = false
      for _ in 0..<16 where !isThrough {
        let error = await failure {
          _ = try await store.enqueue(request(policy))
          guard case .batch(let batch) = try await store.claim(.from("anna")) else { throw TestFailure("no batch") }
          let rejections = (0..<3).map { batch.rejection($0) }
          _ = try await store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
          _ = try await store.inspect(.rows(batch.lease, rejections))
          guard
            case .committed(let committed) = try await store.settle(
              .prunes(BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) })))
          else { throw TestFailure("lost") }
          #expect(committed.outcomes == [TallyLine.Outcome](repeating: policy == .none ? .kept : .pruned, count: 3))
        }
        if error == nil {
          isThrough = true
        } else {
          granted.append(try grant(error))
          try await scene.application.run(granted[granted.count - 1])
        }
      }
      #expect(isThrough, "\(granted)")
      #expect(granted.contains { $0.hasPrefix("GRANT USAGE ON SCHEMA") }, "\(granted)")
      let right = ["none": "SELECT", "clearColumn": "SELECT, UPDATE (token)", "deleteRow": "SELECT, DELETE, UPDATE"]
      #expect(granted.contains("GRANT \(right[policy.rawValue] ?? "") ON devices TO \(role)"), "\(granted)")
      #expect(Set(granted).count == granted.count, "\(granted)")
    }
  }

  @Test func `a role that may not make tables is told so by migrate`() async throws {
    try await withRole { scene, role, store in
      let drops = try await scene.application.run(
        """
        SELECT format('DROP TABLE %I', relname) FROM pg_class
        WHERE relname ~ '^zonai_' AND relkind = 'r' AND relnamespace = '\(scene.fixture.schema)'::regnamespace
        """
      ).compactMap { $0[0] }
      try await scene.application.runAll(drops + ["GRANT USAGE ON SCHEMA \(scene.fixture.schema) TO \(role)"])
      let named = try grant(await failure { _ = try await store.migrate() })
      #expect(named == "GRANT USAGE, CREATE ON SCHEMA \(scene.fixture.schema) TO \(role)")
      try await scene.application.run(named)
      _ = try await store.migrate()
    }
  }

  @Test func `rights that are taken away while a job runs spare the rows and say why`() async throws {
    try await withRole { scene, role, store in
      try await scene.addDevices(2)
      try await scene.application.runAll([
        "GRANT USAGE ON SCHEMA \(scene.fixture.schema) TO \(role)",
        "GRANT ALL ON ALL TABLES IN SCHEMA \(scene.fixture.schema) TO \(role)",
      ])
      _ = try await store.enqueue(request(.clearColumn))
      guard case .batch(let batch) = try await store.claim(.from("anna")) else { throw TestFailure("no batch") }
      let rejections = (0..<2).map { batch.rejection($0) }
      _ = try await store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
      try await scene.application.run("REVOKE UPDATE ON devices FROM \(role)")
      guard
        case .committed(let committed) = try await store.settle(
          .prunes(BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) })))
      else { throw TestFailure("lost") }
      #expect(committed.outcomes == [.spared, .spared])
      #expect(committed.refusals.allSatisfy { $0.contains("permission denied for table devices") })
    }
  }
}
