import Synchronization
import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiTestServers

/// Connections that are cut in the middle: nothing is lost, nothing counts twice.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct LostConnectionTests {
  /// Runs the body with a store whose connections go over a relay.
  private func overRelay(_ body: (PostgresScene, PostgresStore, Relay) async throws -> Void) async throws {
    try await PostgresScene.run(PostgresScene.devices) { scene in
      try await scene.addDevices(10)
      let server = try ServerAddress(TestServers.postgres ?? "")
      let relay = try Relay(to: server.port)
      let url = server.url(
        port: relay.port, "sslmode=disable&options=-csearch_path%3D\(scene.fixture.schema),public")
      let store = try PostgresStore(url: url, clock: { [clock = scene.fixture.clock] in clock.now })
      try await body(scene, store, relay)
      await store.close()
    }
  }

  private func claim(_ store: PostgresStore) async throws -> ClaimedBatch {
    guard case .batch(let batch) = try await store.claim(.from("anna")) else { throw TestFailure("no batch") }
    return batch
  }

  @Test func `a settlement whose answer was lost counts once`() async throws {
    try await overRelay { scene, store, relay in
      let job = try await scene.enqueue()
      let batch = try await claim(store)
      relay.set(.cutAfter("COMMIT\u{0}"))
      let error = await failure { _ = try await store.settle(.answers(batch.delivered())) }
      #expect(error?.mayBeCommitted == true)
      #expect(error?.code == .unavailable && error?.sentence.contains("nobody can tell") == true)
      #expect(try await scene.job(job).counts.delivered == 10)
      guard case .leaseLost = try await store.settle(.answers(batch.delivered())) else {
        throw TestFailure("the second time counted again")
      }
      #expect(try await scene.job(job).counts.delivered == 10)
      #expect(try await scene.job(job).state == .completed)
    }
  }

  @Test func `prunes whose answer was lost count once`() async throws {
    try await overRelay { scene, store, relay in
      let job = try await scene.enqueue()
      let batch = try await claim(store)
      let rejections = (0..<10).map { batch.rejection($0) }
      _ = try await store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
      let prunes = BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) })
      relay.set(.cutAfter("COMMIT\u{0}"))
      #expect(await failure { _ = try await store.settle(.prunes(prunes)) }?.mayBeCommitted == true)
      guard case .leaseLost = try await store.settle(.prunes(prunes)) else {
        throw TestFailure("the second time counted again")
      }
      let counts = try await scene.job(job).counts
      #expect(counts.pruned == 10 && counts.permanentlyRejected == 10)
    }
  }

  @Test(arguments: ["zonai_tally", "DELETE FROM zonai_batches", "UPDATE zonai_jobs SET delivered", "BEGIN"])
  func `what is cut before its commit is done again without a word`(_ words: String) async throws {
    try await overRelay { scene, store, relay in
      let job = try await scene.enqueue()
      let batch = try await claim(store)
      relay.set(.cutBefore(words))
      _ = try await store.settle(.answers(batch.delivered()))
      #expect(relay.cutCount == 1)
      #expect(try await scene.job(job).counts.delivered == 10)
    }
  }

  @Test func `a settlement that was cut with its commit unheard is settled the next time`() async throws {
    try await overRelay { scene, store, relay in
      let job = try await scene.enqueue()
      let batch = try await claim(store)
      relay.set(.cutBefore("COMMIT\u{0}"))
      #expect(await failure { _ = try await store.settle(.answers(batch.delivered())) }?.mayBeCommitted == true)
      #expect(try await scene.job(job).counts.delivered == 0)
      _ = try await store.settle(.answers(batch.delivered()))
      #expect(try await scene.job(job).counts.delivered == 10)
    }
  }

  @Test func `a read whose connection is cut is read again`() async throws {
    try await overRelay { scene, store, relay in
      let job = try await scene.enqueue()
      relay.set(.cutAfter("FROM zonai_jobs"))
      guard case .job(let found?) = try await store.jobs(.one(job)) else { throw TestFailure("no job") }
      #expect(found.id == job)
      #expect(relay.cutCount == 1)
    }
  }

  @Test func `sessions that an administrator ends are opened anew, with nothing lost`() async throws {
    try await PostgresScene.run(PostgresScene.devices) { scene in
      try await scene.addDevices(60)
      let job = try await scene.enqueue()
      let store = try PostgresStore(
        url: scene.fixture.url + "&application_name=\(scene.fixture.schema)",
        clock: { [clock = scene.fixture.clock] in clock.now })
      var tokens: [String] = []
      for _ in 0..<60 {
        guard case .batch(let batch) = try await store.claim(.from("anna", size: 1)) else { break }
        tokens += batch.tokens
        // Those of this test have its name; some of them, at every step.
        try await scene.application.run(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = '\(scene.fixture.schema)' AND random() < 0.5
          """)
        _ = try await store.settle(.answers(batch.delivered()))
      }
      await store.close()
      #expect(Set(tokens).count == 60 && tokens.count == 60)
      #expect(try await scene.job(job).counts.delivered == 60)
    }
  }
}
