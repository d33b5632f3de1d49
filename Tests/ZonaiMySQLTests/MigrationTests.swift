import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestServers

/// Creating a table commits at once in these servers: a migration is safe for other reasons.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(15)))
struct MigrationTests {
  @Test func `of many migrations at once one makes the tables`() async throws {
    let database = try await ScratchDatabase()
    let migrations = try await withThrowingTaskGroup(of: Migration.self) { group in
      for _ in 0..<6 {
        let store = try MySQLStore(url: database.url)
        group.addTask {
          let migration = try await store.migrate()
          await store.close()
          return migration
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(migrations.count { $0.from == 0 } == 1)
    #expect(Set(migrations.map(\.to)).count == 1)
  }

  @Test func `a migration that was interrupted is done again`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    // As if it had ended after its first table.
    try await scene.application.run("DROP TABLE zonai_batches, zonai_tally, zonai_lanes", "DELETE FROM zonai_meta")
    let store = try MySQLStore(url: scene.database.url)
    let refused = try await scene.refusal { _ = try await store.jobs(.list(limit: 1, states: nil)) }
    #expect(refused.code == .notMigrated)
    #expect(try await store.migrate().from == 0)
    try await scene.addDevices(2)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    #expect(try await scene.prune(scene.claim()).outcomes == [.pruned, .pruned])
  }

  @Test func `one that waits for another is busy at its deadline`() async throws {
    let database = try await ScratchDatabase()
    try await database.application.run("DO GET_LOCK(CONCAT('zonai.migrate.', MD5(DATABASE())), 1)")
    var options = MySQLOptions()
    options.limits.writing = 2000
    let store = try MySQLStore(url: database.url, options: options)
    let error = try #require(await #expect(throws: StoreError.self) { _ = try await store.migrate() })
    #expect(error.code == .busy)
    try await database.application.run("DO RELEASE_ALL_LOCKS()")
    _ = try await store.migrate()
    // And the lock of a migration that is done is let go.
    #expect(
      try await database.application.first("SELECT IS_FREE_LOCK(CONCAT('zonai.migrate.', MD5(DATABASE())))") == "1")
  }

  @Test func `the tables have transactions, whatever the server's default is`() async throws {
    let database = try await ScratchDatabase()
    try await database.application.run("SET default_storage_engine = MyISAM")
    let options = try OptionFile("[client]\ninit-command=SET SESSION default_storage_engine=MyISAM\n")
    _ = try await MySQLStore(url: database.url + "?option-file=" + options.path).migrate()
    let engines = try await database.application.rows(
      "SELECT DISTINCT ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()")
    #expect(engines == [["InnoDB"]])
  }

  @Test func `words of our tables are told apart byte by byte`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    let jobs = ["k", "K", "k ", "k\u{301}"].map { key in
      EnqueueRequest(definition: .news(Audience("devices", token: "token")), idempotencyKey: key)
    }
    var ids: Set<JobID> = []
    for request in jobs { ids.insert(try await scene.store.enqueue(request).job.id) }
    #expect(ids.count == 4)
  }
}
