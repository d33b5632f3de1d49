import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestKit
import ZonaiTestServers

/// Pushes that the application enqueues by `zonai_push`, in its own transactions.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(5)))
struct PushBySQLTests {
  private static let request = #"{"message": {"title": "news"}, "audience": {"table": "devices", "token": "token"}}"#

  /// A migrated database with three devices, and a store that goes by the server's clock, as the rows do.
  private static func with(_ body: (ScratchDatabase, MySQLStore) async throws -> Void) async throws {
    let database = try await ScratchDatabase()
    let store = try MySQLStore(url: database.url)
    _ = try await store.migrate()
    try await database.application.run(
      MySQLScene.devices, "INSERT INTO devices (id, token) VALUES (1, 'one'), (2, 'two'), (3, 'three')")
    do {
      try await body(database, store)
    } catch {
      await store.close()
      throw error
    }
    await store.close()
  }

  private static func push(
    _ application: Application, _ request: String = request, key: String? = nil
  ) async throws -> String {
    let key = key.map { literal(.text($0)) } ?? "NULL"
    try await application.run("CALL zonai_push(\(literal(.text(request))), \(key), @job)")
    return try await application.first("SELECT @job") ?? ""
  }

  private static func claim(_ store: MySQLStore) async throws -> ClaimResult {
    try await store.claim(ClaimRequest(worker: WorkerID(rawValue: "anna"), transports: [.fcm]))
  }

  private static func jobs(_ store: MySQLStore) async throws -> [Job] {
    guard case .jobs(let jobs) = try await store.jobs(.list(limit: 100, states: nil)) else { return [] }
    return jobs
  }

  @Test func `what is rolled back was never there, and what is committed is claimed`() async throws {
    try await Self.with { database, store in
      let application = database.application
      try await application.run("START TRANSACTION")
      _ = try await Self.push(application)
      try await application.run("ROLLBACK")
      #expect(try await Self.jobs(store).isEmpty)
      guard case .nothing = try await Self.claim(store) else { throw TestFailure("there is work") }
      try await application.run("START TRANSACTION")
      let id = try await Self.push(application)
      #expect(try await Self.jobs(store).isEmpty)
      try await application.run("COMMIT")
      #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
      #expect(try await Self.jobs(store).map(\.id) == [JobID(id)])
      guard case .batch(let batch) = try await Self.claim(store) else { throw TestFailure("no batch") }
      #expect(batch.job.id == JobID(id))
      #expect(batch.recipients.count == 3)
      // Both times are the server's.
      #expect(abs(batch.now - batch.job.dueAt) < 600_000)
    }
  }

  @Test func `one key with one request is one job, and is refused with another`() async throws {
    try await Self.with { database, store in
      let application = database.application
      let id = try await Self.push(application, key: "monday")
      #expect(try await Self.push(application, key: "monday") == id)
      let clash = await #expect(throws: TestFailure.self) { _ = try await Self.push(application, "{}", key: "monday") }
      #expect(clash?.description.contains("the idempotency key belongs to a job that says something else") == true)
      #expect(try await Self.jobs(store).map(\.id) == [JobID(id)])
      #expect(try await Self.push(application) != Self.push(application))
    }
  }

  private static func request(_ app: String) -> String {
    #"{"app": \#(app), "message": {"title": "news"}, "audience": {"table": "devices", "token": "token"}}"#
  }

  @Test func `a request is its app's, each app has keys of its own, and a bad name is refused`() async throws {
    try await Self.with { database, store in
      let application = database.application
      let usual = try await Self.push(application, key: "monday")
      let shop = try await Self.push(application, Self.request(#""shop""#), key: "monday")
      #expect(shop != usual)
      #expect(try await Self.push(application, Self.request(#""shop""#), key: "monday") == shop)
      #expect(try await Self.push(application, Self.request("null")) != usual)
      for app in [
        "5", #""a b""#, #""-a""#, #""é""#, #""\#u{212A}""#, #"["shop"]"#, #""a\n""#,
        "\"\(String(repeating: "a", count: 65))\"",
      ] {
        let refused = await #expect(throws: TestFailure.self) {
          _ = try await Self.push(application, Self.request(app))
        }
        #expect(refused?.description.contains("zonai_push wants as app at most 64 letters") == true)
      }
      #expect(try await Self.jobs(store).count == 3)
      let claimed = try await store.claim(
        ClaimRequest(worker: WorkerID(rawValue: "anna"), app: "shop", lanes: [.scripted(.fcm)]))
      guard case .batch(let batch) = claimed else { throw TestFailure("no batch but \(claimed)") }
      #expect(batch.job.id == JobID(shop))
    }
  }

  @Test func `what is no object of JSON is refused at once, and what says nothing sensible fails its own job`()
    async throws
  {
    try await Self.with { database, store in
      let application = database.application
      for request in ["{", "[]", "null", "7"] {
        let refused = await #expect(throws: TestFailure.self) { _ = try await Self.push(application, request) }
        #expect(refused?.description.contains("zonai_push wants a JSON object as request") == true)
      }
      let bad = try await Self.push(application, #"{"message": {"titel": "x"}}"#)
      let good = try await Self.push(application)
      guard case .ended(let job) = try await Self.claim(store) else { throw TestFailure("the bad job goes on") }
      #expect(job.id == JobID(bad))
      #expect(job.state == .failed)
      #expect(job.error?.detail.contains("titel") == true)
      guard case .batch(let batch) = try await Self.claim(store) else { throw TestFailure("no batch") }
      #expect(batch.job.id == JobID(good))
    }
  }

  @Test func `who may execute the procedure can enqueue and do nothing else`() async throws {
    try await Self.with { database, store in
      let name = "push_\(UInt32.random(in: 0 ... .max))"
      try await database.application.run(
        "CREATE USER \(name) IDENTIFIED BY 'secret'",
        "GRANT EXECUTE ON PROCEDURE zonai_push TO \(name)")
      let server = try ServerURL(database.server.url(database: "", user: name, password: "secret"))
      let other = try Application(server, database: database.name)
      let id = try await Self.push(other)
      await #expect(throws: TestFailure.self) { try await other.run("SELECT * FROM zonai_jobs") }
      await #expect(throws: TestFailure.self) { try await other.run("SELECT * FROM devices") }
      #expect(try await Self.jobs(store).map(\.id) == [JobID(id)])
      try await database.application.run("DROP USER \(name)")
    }
  }
}
