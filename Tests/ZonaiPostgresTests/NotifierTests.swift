import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiTestServers

/// Workers that wait hear of others' work at once. Each test would take minutes if they did not.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct NotifierTests {
  private static let long: Int64 = 600_000

  /// Looks for work and waits for it, again and again, until there is some: as an idle worker with a long poll does.
  private func work(_ store: PostgresStore, _ worker: String = "berta") async throws -> ClaimedBatch {
    while true {
      switch try await store.claim(.from(worker)) {
      case .batch(let batch): return batch
      case .ended, .contended: continue
      case .nothing: try await store.waitForWork(milliseconds: NotifierTests.long)
      }
    }
  }

  /// Until the store's listener is at work, which the server tells.
  private func untilListening(_ scene: PostgresScene, _ name: String) async throws {
    while try await scene.application.run(
      "SELECT 1 FROM pg_stat_activity WHERE application_name = '\(name)' AND query = 'LISTEN zonai_work' AND state = 'idle'"
    ).isEmpty { await Task.yield() }
  }

  private func listening(_ scene: PostgresScene, _ name: String) throws -> PostgresStore {
    try PostgresStore(
      url: scene.fixture.url + "&application_name=\(name)", clock: { [clock = scene.fixture.clock] in clock.now })
  }

  @Test func `an enqueue of another process wakes an idle worker`() async throws {
    try await PostgresScene.run(PostgresScene.devices) { scene in
      try await scene.addDevices(3)
      let name = "l" + scene.fixture.schema
      let store = try listening(scene, name)
      async let batch = work(store)
      try await untilListening(scene, name)
      try await scene.enqueue()
      #expect(try await batch.recipients.count == 3)
      await store.close()
    }
  }

  @Test func `so do a first batch that is answered, a batch that is given back, and a resume`() async throws {
    try await PostgresScene.run(PostgresScene.devices) { scene in
      try await scene.addDevices(4)
      let name = "l" + scene.fixture.schema
      let store = try listening(scene, name)
      let job = try await scene.enqueue()
      let first = try await scene.claim(size: 2)
      async let second = work(store)
      try await untilListening(scene, name)
      _ = try await scene.store.settle(.answers(first.delivered()))
      let mine = try await second
      #expect(mine.tokens == ["token-3", "token-4"])
      async let third = work(store)
      _ = try await scene.store.settle(.answers(mine.givenBack()))
      let again = try await third
      #expect(again.tokens == ["token-3", "token-4"])
      var failed = again.givenBack()
      failed.failure = JobFailure(.message, "too big")
      _ = try await scene.store.settle(.answers(failed))
      async let fourth = work(store)
      _ = try await scene.store.change(.resume(job, suspects: .ask))
      #expect(try await fourth.tokens == ["token-3", "token-4"])
      await store.close()
    }
  }

  @Test func `a listener whose connection is cut listens again`() async throws {
    try await PostgresScene.run(PostgresScene.devices) { scene in
      try await scene.addDevices(1)
      let name = "l" + scene.fixture.schema
      let store = try listening(scene, name)
      async let batch = work(store)
      try await untilListening(scene, name)
      try await scene.application.run(
        """
        SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
        WHERE application_name = '\(name)' AND query = 'LISTEN zonai_work'
        """)
      try await untilListening(scene, name)
      try await scene.enqueue()
      #expect(try await batch.recipients.count == 1)
      await store.close()
    }
  }

  @Test func `a store that is told not to listen opens no connection for it`() async throws {
    try await PostgresScene.run(PostgresScene.devices) { scene in
      let name = "l" + scene.fixture.schema
      var options = PostgresOptions()
      options.listens = false
      let store = try PostgresStore(url: scene.fixture.url + "&application_name=\(name)", options: options)
      _ = try await store.claim(.from("anna"))
      try await store.waitForWork(milliseconds: 20)
      let sessions = try await scene.application.run(
        "SELECT query FROM pg_stat_activity WHERE application_name = '\(name)'")
      // One has read and one has bound the app; a third would be the one that listens.
      #expect(sessions.count == 2, "\(sessions)")
      #expect(!sessions.contains { $0[0] == "LISTEN zonai_work" })
      await store.close()
    }
  }
}
