import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestServers

/// What waits, for how long, and what does not.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(15)))
struct LockTests {
  private static var hasty: MySQLOptions {
    var options = MySQLOptions()
    options.limits.writing = 2000
    return options
  }

  @Test func `a write that others hold up is busy at the deadline, and passes`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    try await scene.addDevices(1)
    let store = try MySQLStore(
      url: scene.database.url, options: Self.hasty, clock: { [clock = scene.clock] in clock.now })
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim()
    try await scene.application.run("START TRANSACTION", "SELECT * FROM zonai_jobs FOR UPDATE")
    for _ in 0..<2 {
      let error = try await scene.refusal { _ = try await store.settle(.answers(batch.delivered())) }
      #expect(error.code == .busy)
      #expect(error.isPassing)
    }
    #expect(try await scene.job(job).counts.delivered == 0)
    try await scene.application.run("ROLLBACK")
    _ = try await store.settle(.answers(batch.delivered()))
    #expect(try await scene.job(job).counts.delivered == 1)
  }

  @Test func `a table that somebody alters is busy at the deadline`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices, options: Self.hasty)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    try await scene.application.run("LOCK TABLES zonai_jobs WRITE, zonai_workers WRITE, zonai_meta READ")
    let error = try await scene.refusal { _ = try await scene.enqueue(Audience("devices", token: "token")) }
    #expect(["busy", "tooSlow"].contains(error.code.rawValue), "\(error)")
    try await scene.application.run("UNLOCK TABLES")
    _ = try await scene.enqueue(Audience("devices", token: "token"))
  }

  @Test func `a claim passes over a job that somebody holds`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    try await scene.addDevices(1)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    try await scene.application.run("START TRANSACTION", "SELECT * FROM zonai_jobs FOR UPDATE")
    guard case .contended = try await scene.claimResult() else { throw TestFailure("it was claimed") }
    try await scene.application.run("ROLLBACK")
    #expect(try await scene.claim().recipients.count == 1)
  }

  @Test func `a statement that runs too long is interrupted, and the connection is as good as before`() async throws {
    var options = MySQLOptions()
    options.limits.reading = 1000
    let scene = try await MySQLScene(MySQLScene.devices)
    try await scene.addDevices(30_000)
    let store = try MySQLStore(url: scene.database.url, options: options)
    // Every row is compared with every pattern.
    let patterns = (0..<400).map { Column("token").like("%t%o%k%e%n%-%\($0)x%") }
    let slow = EnqueueRequest(definition: .news(Audience("devices", token: "token", where: .or(patterns))))
    let error = try await scene.refusal { for _ in 0..<50 { _ = try await store.jobs(.count(slow)) } }
    #expect(error.code == .tooSlow)
    #expect(error.sentence.contains("took longer"))
    guard case .jobs(let jobs) = try await store.jobs(.list(limit: 1, states: nil)) else { return }
    #expect(jobs.isEmpty)
  }

  @Test func `rows that the application holds cost a prune one wait, not one each`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    try await scene.addDevices(200)
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim()
    let locker = try Application(scene.database.server, database: scene.database.name)
    try await locker.run(
      "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION",
      "UPDATE devices SET platform = 'ios' WHERE id % 2 = 0")
    // The writing limit, twenty seconds, would end a wait for each of a hundred rows.
    let outcomes = try await scene.prune(batch).outcomes
    #expect(outcomes == (1...200).map { $0 % 2 == 0 ? .spared : .pruned })
    try await locker.run("COMMIT")
    #expect(try await scene.job(job).counts.spared == 100)
  }

  @Test func `locks of the prune itself are let go with it`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    try await scene.addDevices(100)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim(size: 10)
    try await scene.prune(batch)
    let other = try Application(scene.database.server, database: scene.database.name)
    try await other.run("SET SESSION innodb_lock_wait_timeout = 1", "UPDATE devices SET platform = 'x'")
  }

  // MARK: Waiting for work

  @Test func `a write of another process wakes who waits`() async throws {
    var options = MySQLOptions()
    options.pollMilliseconds = 50
    let scene = try await MySQLScene(MySQLScene.devices, options: options)
    try await scene.addDevices(1)
    let other = try MySQLStore(url: scene.database.url, clock: { [clock = scene.clock] in clock.now })
    async let waited: Void = scene.store.waitForWork(milliseconds: 120_000)
    _ = try await other.enqueue(EnqueueRequest(definition: .news(Audience("devices", token: "token"))))
    try await waited
    #expect(try await scene.claim().recipients.count == 1)
  }

  @Test func `a wait ends with its task, with its time, and with the store`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    // The first wait looks at what was written before it.
    try await scene.store.waitForWork(milliseconds: 600)
    let waiting = Task { try await scene.store.waitForWork(milliseconds: 600_000) }
    waiting.cancel()
    try await waiting.value
    try await scene.store.waitForWork(milliseconds: 1)
    async let waited: Void = scene.store.waitForWork(milliseconds: 600_000)
    await scene.store.close()
    try await waited
  }
}
