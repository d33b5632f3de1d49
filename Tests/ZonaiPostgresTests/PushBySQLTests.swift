import CZonaiPostgres
import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiSQL
import ZonaiTestKit
import ZonaiTestServers

/// Pushes that the application enqueues by `zonai_push`, in its own transactions.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct PushBySQLTests {
  /// A migrated schema with three devices, and a store that goes by the server's clock, as the rows do.
  private struct Stage {
    let fixture: PostgresFixture
    let store: PostgresStore
    var application: Application { fixture.application }

    static let request = #"{"message": {"title": "news"}, "audience": {"table": "devices", "token": "token"}}"#

    static func with(_ body: (Stage) async throws -> Void) async throws {
      try await Turns.shared.take {
        let fixture = try await PostgresFixture.make()
        let stage = Stage(fixture: fixture, store: try PostgresStore(url: fixture.url))
        do {
          _ = try await stage.store.migrate()
          try await fixture.application.runAll([
            "CREATE TABLE devices (id bigint PRIMARY KEY, token text, platform text)",
            "INSERT INTO devices SELECT i, 'token-' || i, 'android' FROM generate_series(1, 3) AS i",
          ])
          try await body(stage)
        } catch {
          await stage.end()
          throw error
        }
        await stage.end()
      }
    }

    private func end() async {
      await store.close()
      try? await fixture.remove()
    }

    @discardableResult
    func push(_ request: String = Stage.request, key: String? = nil) async throws -> JobID {
      JobID(try await application.run("SELECT zonai_push($1::jsonb, $2)", [request, key])[0][0] ?? "")
    }

    func claim() async throws -> ClaimResult {
      try await store.claim(ClaimRequest(worker: WorkerID(rawValue: "anna"), transports: [.fcm]))
    }

    func jobs() async throws -> [Job] {
      guard case .jobs(let jobs) = try await store.jobs(.list(limit: 100, states: nil)) else { return [] }
      return jobs
    }
  }

  @Test func `what is rolled back was never there, and what is committed is claimed`() async throws {
    try await Stage.with { stage in
      try await stage.application.run("BEGIN")
      try await stage.push()
      try await stage.application.run("ROLLBACK")
      #expect(try await stage.jobs().isEmpty)
      guard case .nothing = try await stage.claim() else { throw TestFailure("there is work") }
      try await stage.application.run("BEGIN")
      try await stage.application.run("UPDATE devices SET platform = 'ios' WHERE id = 1")
      let id = try await stage.push()
      #expect(try await stage.jobs().isEmpty)
      try await stage.application.run("COMMIT")
      #expect(try await stage.jobs().map(\.id) == [id])
      #expect(id.rawValue.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
      guard case .batch(let batch) = try await stage.claim() else { throw TestFailure("no batch") }
      #expect(batch.job.id == id)
      #expect(batch.recipients.count == 3)
      #expect(abs(batch.now - batch.job.dueAt) < 600_000)
    }
  }

  @Test func `a commit wakes a worker that waits in another process`() async throws {
    try await Stage.with { stage in
      // Looks once, so that the wait is for what comes after it.
      _ = try await stage.claim()
      try await stage.store.waitForWork(milliseconds: 1000)
      guard case .nothing = try await stage.claim() else { throw TestFailure("there is work") }
      async let woken: Void = stage.store.waitForWork(milliseconds: 120_000)
      try await stage.push()
      try await woken
      guard case .batch = try await stage.claim() else { throw TestFailure("no batch") }
    }
  }

  @Test func `one key with one request is one job, and is refused with another`() async throws {
    try await Stage.with { stage in
      let id = try await stage.push(key: "monday")
      #expect(try await stage.push(key: "monday") == id)
      #expect(
        try await stage.push(
          #"{"audience": {"token": "token", "table": "devices"}, "message": {"title":"news"}}"#, key: "monday") == id)
      let other = await #expect(throws: TestFailure.self) { try await stage.push("{}", key: "monday") }
      #expect(other?.number == "23505")
      #expect(other?.description.contains("the idempotency key belongs to a job that says something else") == true)
      #expect(try await stage.jobs().map(\.id) == [id])
      #expect(try await stage.push() != stage.push())
      // Two transactions at once: the second waits for the first and finds its job.
      let rival = try await stage.fixture.anotherApplication()
      try await stage.application.run("BEGIN")
      let first = try await stage.push(key: "tuesday")
      async let second = rival.run("SELECT zonai_push($1::jsonb, $2)", [Stage.request, "tuesday"])
      try await stage.application.run("COMMIT")
      #expect(try await second[0][0] == first.rawValue)
    }
  }

  private static func request(_ app: String) -> String {
    #"{"app": \#(app), "message": {"title": "news"}, "audience": {"table": "devices", "token": "token"}}"#
  }

  @Test func `a request is its app's, each app has keys of its own, and a bad name is refused`() async throws {
    try await Stage.with { stage in
      let usual = try await stage.push(key: "monday")
      let shop = try await stage.push(Self.request(#""shop""#), key: "monday")
      #expect(shop != usual)
      #expect(try await stage.push(Self.request(#""shop""#), key: "monday") == shop)
      #expect(try await stage.push(Self.request("null")) != usual)
      for app in [
        "5", #""a b""#, #""-a""#, #""é""#, #"["shop"]"#, #""a\n""#, "\"\(String(repeating: "a", count: 65))\"",
      ] {
        let refused = await #expect(throws: TestFailure.self) { try await stage.push(Self.request(app)) }
        #expect(refused?.number == "22023", "\(app)")
      }
      #expect(try await stage.jobs().count == 3)
      let claimed = try await stage.store.claim(
        ClaimRequest(worker: WorkerID(rawValue: "anna"), app: "shop", lanes: [.scripted(.fcm)]))
      guard case .batch(let batch) = claimed else { throw TestFailure("no batch but \(claimed)") }
      #expect(batch.job.id == shop)
    }
  }

  @Test func `what is no object of JSON is refused at once, and what says nothing sensible fails its own job`()
    async throws
  {
    try await Stage.with { stage in
      for (request, number) in [("{", "22P02"), ("[]", "22023"), ("null", "22023")] {
        let error = await #expect(throws: TestFailure.self) { try await stage.push(request) }
        #expect(error?.number == number)
      }
      let bad = try await stage.push(#"{"message": {"titel": "x"}}"#)
      let misfit = try await stage.push(
        #"{"message": {"title": "x"}, "audience": {"table": "devices", "token": "token", "where": "platform = 5 and id = 'x'"}}"#
      )
      let good = try await stage.push()
      var ended: [JobID: Job] = [:]
      for _ in 1...2 {
        guard case .ended(let job) = try await stage.claim() else { throw TestFailure("no end") }
        ended[job.id] = job
      }
      #expect(ended[bad]?.error?.code == .request)
      #expect(ended[bad]?.error?.detail.contains("did you mean title?") == true)
      #expect(ended[misfit]?.error?.code == .store)
      #expect(ended[misfit]?.error?.detail.hasPrefix("platform is text: compare it with text") == true)
      guard case .batch(let batch) = try await stage.claim() else { throw TestFailure("no batch") }
      #expect(batch.job.id == good)
    }
  }

  @Test func `a role with the right to enqueue has no other`() async throws {
    try await Stage.with { stage in
      let (schema, role) = (stage.fixture.schema, "\(stage.fixture.schema)_app")
      let guest = try await stage.fixture.anotherApplication()
      try await stage.application.run("CREATE ROLE \(role)")
      try await stage.application.run("GRANT USAGE ON SCHEMA \(schema) TO \(role)")
      try await guest.run("SET ROLE \(role)")
      let push = "SELECT zonai_push('\(Stage.request)')"
      // Nobody may enqueue who was not told so.
      #expect(await number { try await guest.run(push) } == "42501")
      try await stage.application.run("GRANT EXECUTE ON FUNCTION zonai_push(jsonb, text) TO \(role)")
      // A table of the guest's own does not stand for Zonai's.
      try await guest.run("CREATE TEMPORARY TABLE zonai_jobs (id text, request text, idempotency_key text)")
      let id = try await guest.run(push)[0][0]
      #expect(try await stage.jobs().map(\.id.rawValue) == [id])
      for statement in [
        "SELECT * FROM \(schema).zonai_jobs", "INSERT INTO \(schema).zonai_jobs (request) VALUES ('{}')",
        "UPDATE \(schema).zonai_jobs SET state = 'cancelled'", "DELETE FROM \(schema).zonai_jobs",
        "SELECT * FROM \(schema).zonai_secrets", "SELECT * FROM devices",
      ] {
        #expect(await number { try await guest.run(statement) } == "42501", "\(statement)")
      }
      // A later migration takes the right from nobody.
      #expect(try await stage.store.migrate().notes.isEmpty)
      try await guest.run(push)
      try await guest.run("RESET ROLE")
      try await stage.application.runAll(["DROP OWNED BY \(role)", "DROP ROLE \(role)"])
    }
  }

  private func number(_ body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? TestFailure)?.number ?? "\(error)"
    }
  }

  @Test func `the function is made anew when it is another, and keeps whom it was granted to`() async throws {
    try await Stage.with { stage in
      let asked = "SELECT prosrc, proacl::text FROM pg_proc WHERE oid = 'zonai_push(jsonb, text)'::regprocedure"
      let wanted = try await stage.application.run(asked)
      try await stage.application.run(
        """
        CREATE OR REPLACE FUNCTION zonai_push(request jsonb, idempotency_key text DEFAULT NULL) RETURNS text
        LANGUAGE sql AS 'SELECT NULL::text'
        """)
      _ = try await stage.store.migrate()
      #expect(try await stage.application.run(asked) == wanted)
      try await stage.push()
      #expect(try await stage.jobs().count == 1)
    }
  }

  @Test func `a statement runs on the application's connection, and dies with its transaction`() async throws {
    try await Stage.with { stage in
      let lane = Lane(transport: .fcm, fingerprint: "fcm")
      let zonai = try Zonai(
        store: stage.store, transports: [ScriptedTransport(lane, clock: TurnableClock(now: 0))])
      func statement(_ title: String = "news", key: String? = nil) throws -> EnqueueStatement {
        try zonai.enqueueStatement(
          PushMessage(title: title), to: Audience("devices", token: "token"), for: .postgres, idempotencyKey: key)
      }
      try await stage.application.run("BEGIN")
      try await stage.application.enqueue(try statement())
      try await stage.application.run("ROLLBACK")
      #expect(try await zonai.jobs().isEmpty)
      let id = try await stage.application.enqueue(try statement(key: "monday"))
      #expect(try await stage.application.enqueue(try statement(key: "monday")) == id)
      let clash = try statement("other", key: "monday")
      let error = await #expect(throws: StoreError.self) { try await stage.application.enqueue(clash) }
      #expect(error?.code == .idempotencyClash)
      #expect(
        try await zonai.push(
          PushMessage(title: "news"), to: Audience("devices", token: "token"), idempotencyKey: "monday"
        ).id == id)
      let job = try await zonai.run(only: id)
      #expect(job.state == .completed)
      #expect(job.counts.delivered == 3)
    }
  }
}
