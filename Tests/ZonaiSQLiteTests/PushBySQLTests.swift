import Testing
import ZonaiCore
import ZonaiSQL
import ZonaiSQLite
import ZonaiTestKit

/// Jobs that the application enqueues with an INSERT of its own.
@Suite(.timeLimit(.minutes(2))) struct PushBySQLTests {
  /// A migrated file with a table of devices, its application, and a store that goes by the database's clock, as the rows do.
  struct Stage {
    let scene: SQLiteScene
    let store: SQLiteStore
    var application: Application { scene.application }

    init(_ statements: String...) async throws {
      scene = try await SQLiteScene(SQLiteScene.devices)
      for statement in statements { try scene.application.run(statement) }
      try scene.addDevices(3)
      store = try SQLiteStore(path: scene.fixture.path)
    }

    static let request = #"{"message": {"title": "news"}, "audience": {"table": "devices", "token": "token"}}"#

    @discardableResult
    func insert(_ request: String?, key: String? = nil) throws -> JobID {
      let rows = try application.rows(
        "INSERT INTO zonai_jobs (request, idempotency_key) VALUES (?, ?) RETURNING id",
        [request.map(Value.text) ?? .null, key.map(Value.text) ?? .null])
      guard case .text(let id) = rows.first?["id"] else { throw TestFailure("nothing was inserted") }
      return JobID(id)
    }

    func claim(_ transports: Set<TransportName> = [.fcm]) async throws -> ClaimResult {
      try await store.claim(ClaimRequest(worker: WorkerID(rawValue: "anna"), transports: transports))
    }

    func job(_ id: JobID) async throws -> Job {
      guard case .job(let job?) = try await store.jobs(.one(id)) else { throw TestFailure("no job \(id)") }
      return job
    }

    func jobs() async throws -> [Job] {
      guard case .jobs(let jobs) = try await store.jobs(.list(limit: 100, states: nil)) else { return [] }
      return jobs
    }

    /// The job's end, which the claim brings.
    func ending() async throws -> Job {
      let result = try await claim()
      guard case .ended(let job) = result else { throw TestFailure("no end but \(result)") }
      return job
    }
  }

  @Test func `an inserted request is a job at once, and is claimed like any other`() async throws {
    let stage = try await Stage()
    let id = try stage.insert(Stage.request)
    #expect(id.rawValue.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
    let before = try await stage.job(id)
    #expect(before.state == .pending)
    #expect(before.definition.message.title == "news")
    #expect(try await stage.jobs().map(\.id) == [id])
    guard case .batch(let batch) = try await stage.claim() else { throw TestFailure("no batch") }
    #expect(batch.job.id == id)
    #expect(batch.job.definition.audience.key == ["id"])
    #expect(batch.keys == [1, 2, 3].map { RowKey($0) })
    // The row's clock is the store's, and the time to live counts from there.
    #expect(abs(batch.now - batch.job.dueAt) < 600_000)
    #expect(batch.job.createdAt == batch.job.dueAt)
    _ = try await stage.store.settle(.answers(batch.delivered()))
    #expect(try await stage.job(id).state == .completed)
  }

  @Test func `ids rise with the time, and a job of Zonai's own comes behind`() async throws {
    let stage = try await Stage()
    let first = try stage.insert(Stage.request)
    try stage.application.run(
      """
      WITH RECURSIVE later(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM later
      WHERE strftime('%f', 'now') = strftime('%f', 'now') AND n < 1000) SELECT max(n) FROM later
      """)
    let own = try await stage.store.enqueue(EnqueueRequest(definition: .news(Audience("devices", token: "token"))))
    #expect(own.job.id.rawValue > first.rawValue)
    #expect(Set(try (1...100).map { _ in try stage.insert(Stage.request) }).count == 100)
  }

  @Test func `what is rolled back was never there`() async throws {
    let stage = try await Stage()
    try stage.application.run("BEGIN")
    try stage.insert(Stage.request)
    try stage.application.run("ROLLBACK")
    #expect(try await stage.jobs().isEmpty)
    guard case .nothing = try await stage.claim() else { throw TestFailure("there is work") }
  }

  @Test func `more requests than one step takes all become jobs`() async throws {
    let stage = try await Stage()
    let ids = try Set((1...40).map { _ in try stage.insert(Stage.request) })
    var claimed: Set<JobID> = []
    for _ in ids {
      guard case .batch(let batch) = try await stage.claim() else { throw TestFailure("no batch") }
      claimed.insert(batch.job.id)
    }
    #expect(claimed == ids)
  }

  // MARK: Idempotency

  @Test func `one key with one request is one job, and is refused with another`() async throws {
    let stage = try await Stage()
    let id = try stage.insert(Stage.request, key: "monday")
    try stage.application.run(
      "INSERT INTO zonai_jobs (request, idempotency_key) VALUES (?, 'monday')", [.text(Stage.request)])
    #expect(try await stage.jobs().map(\.id) == [id])
    #expect(throws: TestFailure.self) { try stage.insert(Stage.request + " ", key: "monday") }
    // The same when the job has begun.
    _ = try await stage.claim()
    try stage.application.run(
      "INSERT INTO zonai_jobs (request, idempotency_key) VALUES (?, 'monday')", [.text(Stage.request)])
    #expect(throws: TestFailure.self) { try stage.insert("{}", key: "monday") }
    #expect(try stage.application.first("SELECT count(*) FROM zonai_jobs") == 1)
    // Without a key every request is a push of its own.
    try stage.insert(Stage.request)
    #expect(try stage.application.first("SELECT count(*) FROM zonai_jobs") == 2)
  }

  @Test(arguments: [false, true])
  func `the key belongs to one push, whoever enqueues it`(isClaimed: Bool) async throws {
    let stage = try await Stage()
    let id = try stage.insert(
      #"{"message": {"title": "news"}, "audience": {"table": "devices", "token": "token"}, "routes": {"apple": "fcm", "android": "fcm"}}"#,
      key: "monday")
    if isClaimed { _ = try await stage.claim() }
    for key in [[], ["id"]] {
      let again = try await stage.store.enqueue(
        EnqueueRequest(definition: .news(Audience("devices", key: key, token: "token")), idempotencyKey: "monday"))
      #expect(again.wasThere)
      #expect(again.job.id == id)
    }
    let other = await #expect(throws: StoreError.self) {
      try await stage.store.enqueue(
        EnqueueRequest(
          definition: .news(Audience("devices", token: "token"), policy: .none), idempotencyKey: "monday"))
    }
    #expect(other?.code == .idempotencyClash)
    // SQL cannot tell what an enqueue of Zonai's own says.
    _ = try await stage.store.enqueue(
      EnqueueRequest(definition: .news(Audience("devices", token: "token")), idempotencyKey: "tuesday"))
    #expect(throws: TestFailure.self) { try stage.insert(Stage.request, key: "tuesday") }
  }

  // MARK: Apps

  private static func request(_ app: String, title: String = "news") -> String {
    #"{"app": \#(app), "message": {"title": "\#(title)"}, "audience": {"table": "devices", "token": "token"}}"#
  }

  @Test func `a request is its app's from the start, and each app has keys of its own`() async throws {
    let stage = try await Stage()
    let usual = try stage.insert(Stage.request, key: "monday")
    let shop = try stage.insert(Self.request(#""shop""#, title: "other"), key: "monday")
    #expect(try await stage.job(shop).app == "shop")
    #expect(try await stage.job(usual).app == .standard)
    #expect(throws: TestFailure.self) { try stage.insert(Self.request(#""shop""#), key: "monday") }
    try stage.application.run(
      "INSERT INTO zonai_jobs (request, idempotency_key) VALUES (?, 'monday')",
      [.text(Self.request(#""shop""#, title: "other"))])
    #expect(try await stage.jobs().count == 2)
    #expect(try await stage.job(try stage.insert(Self.request("null"))).app == .standard)
    let claimed = try await stage.store.claim(
      ClaimRequest(worker: WorkerID(rawValue: "anna"), app: "shop", lanes: [.scripted(.fcm)]))
    guard case .batch(let batch) = claimed else { throw TestFailure("no batch but \(claimed)") }
    #expect(batch.job.id == shop)
    #expect(batch.job.identities == [.scripted(.fcm)])
    #expect(try await stage.job(usual).identities == [])
  }

  @Test(arguments: ["5", #""a b""#, #""-a""#, #""é""#, #"["shop"]"#, #""\#(String(repeating: "a", count: 65))""#])
  func `what cannot be the name of an app is refused at once`(_ app: String) async throws {
    let stage = try await Stage()
    #expect(throws: TestFailure.self) { try stage.insert(Self.request(app)) }
    #expect(try await stage.jobs().isEmpty)
  }

  @Test func `a request that no trigger has read is read by the first worker of any app`() async throws {
    let stage = try await Stage("DROP TRIGGER zonai_push", "DROP TRIGGER zonai_push_app")
    let shop = try stage.insert(Self.request(#""shop""#))
    guard case .nothing = try await stage.claim() else { throw TestFailure("the default app serves another's job") }
    #expect(try await stage.job(shop).app == "shop")
    let twice = try stage.insert(Self.request(#""shop""#), key: "monday")
    _ = try await stage.claim()
    let again = try stage.insert(Self.request(#""shop""#), key: "monday")
    let ended = try await stage.ending()
    #expect(ended.id == again)
    #expect(ended.error?.detail.contains("belongs to job \(twice)") == true)
  }

  @Test func `an open job fails at its claim if its app is bound to another identity by now`() async throws {
    let stage = try await Stage()
    let id = try stage.insert(Stage.request)
    try stage.application.run(#"UPDATE zonai_jobs SET identities = '[{"host":"elsewhere","transport":"fcm"}]'"#)
    let ended = try await stage.ending()
    #expect(ended.id == id)
    #expect(ended.error?.code == .rebound)
    #expect(ended.error?.detail.contains("the job belongs to FCM at elsewhere") == true, "\(ended.error?.detail ?? "")")
  }

  // MARK: What is wrong with it

  @Test(
    arguments: [
      (nil, JobFailure.Code.request, "the request is missing"),
      ("{", .request, "the request is not JSON: line 1, column 2"),
      ("{}", .request, "the request: 'message' is missing"),
      (#"{"message": {}, "audience": {"table": "devices", "tokn": "c"}}"#, .request, "no field 'audience.tokn'"),
      (message("{}"), .message, "The message is empty"),
      (message(#"{"title": "x", "data": {"from": "me"}}"#), .message, "The data key \"from\" is reserved by FCM"),
      (message(#"{"title": "x", "isBackground": true}"#), .message, "A background push shows nothing: leave title out"),
      (
        message(#"{"title": "x", "collapseKey": "\#(String(repeating: "k", count: 65))"}"#), .message,
        "collapseKey has 65 bytes"
      ),
      (message(#"{"title": "x", "timeToLive": 9999999}"#), .request, "'message.timeToLive' must be a whole number"),
    ] as [(String?, JobFailure.Code, String)])
  func `a request that says nothing sensible fails its own job, and no other`(
    _ request: String?, _ code: JobFailure.Code, _ sentence: String
  ) async throws {
    let stage = try await Stage()
    let tokens = try stage.scene.tokens()
    let good = try stage.insert(Stage.request)
    let bad = try stage.insert(request)
    let other = try stage.insert(Stage.request)
    let listed = try await stage.jobs()
    #expect(Set(listed.map(\.id)) == [good, bad, other])
    #expect(listed.allSatisfy { $0.state == .pending })
    let ended = try await stage.ending()
    #expect(ended.id == bad)
    #expect(ended.state == .failed)
    #expect(ended.error?.code == code)
    #expect(ended.error?.detail.contains(sentence) == true, "\(ended.error?.detail ?? "")")
    var served: Set<JobID> = []
    for _ in 1...2 {
      guard case .batch(let batch) = try await stage.claim() else { throw TestFailure("no batch") }
      served.insert(batch.job.id)
      _ = try await stage.store.settle(.answers(batch.delivered()))
    }
    #expect(served == [good, other])
    #expect(try await stage.job(bad).error == ended.error)
    #expect(try stage.scene.tokens() == tokens)
    // A resume finds the same again.
    _ = try await stage.store.change(.resume(bad, suspects: .ask))
    #expect(try await stage.ending().error == ended.error)
  }

  private static func message(_ message: String) -> String {
    #"{"message": \#(message), "audience": {"table": "devices", "token": "token"}}"#
  }

  @Test func `an empty idempotency key is refused at the claim`() async throws {
    let stage = try await Stage()
    try stage.insert(Stage.request, key: "")
    #expect(try await stage.ending().error?.detail.contains("the idempotency key is empty") == true)
  }

  static let audiences: [(Audience, Policy)] = [
    (Audience("device", token: "token"), .clearColumn),
    (Audience("devices", token: "tokn"), .clearColumn),
    (Audience("devices", key: ["platform"], token: "token"), .clearColumn),
    (Audience("devices", token: "token", platform: .column("os")), .clearColumn),
    (Audience("devices", token: "token", lastSeen: "last"), .clearColumn),
    (Audience("keyless", token: "token"), .clearColumn),
    (Audience("strict", token: "token"), .clearColumn),
    (Audience("owners", token: "token"), .deleteRow),
    (Audience("seen", token: "token"), .clearColumn),
    (Audience("devices", token: "token", where: Column("nobody") == 1), .clearColumn),
  ]

  /// What a table must be is one question, whoever enqueues: the sentence is the one that `enqueue` throws.
  @Test(arguments: audiences)
  func `what only the table can tell fails the job in the words of an enqueue`(
    _ audience: Audience, _ policy: Policy
  ) async throws {
    let stage = try await Stage(
      "CREATE TABLE keyless (id INTEGER, token TEXT)",
      "CREATE TABLE strict (id INTEGER PRIMARY KEY, token TEXT NOT NULL)",
      "CREATE TABLE owners (id INTEGER PRIMARY KEY, token TEXT)",
      "CREATE TABLE phones (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owners (id))",
      "CREATE VIEW seen AS SELECT * FROM devices")
    let definition = JobDefinition.news(audience, policy: policy)
    let refused = await #expect(throws: StoreError.self) {
      try await stage.store.enqueue(EnqueueRequest(definition: definition))
    }
    let zonai = try Zonai(store: stage.store)
    let statement = try zonai.enqueueStatement(
      definition.message, to: audience, for: .sqlite, policy: policy, routes: definition.routes)
    try stage.application.run(statement.text, statement.values.map { $0.map(Value.text) ?? .null })
    let ended = try await stage.ending()
    #expect(ended.state == .failed)
    #expect(ended.error?.code == .store)
    let words = refused?.databaseWords.map { " (\($0))" } ?? ""
    #expect(ended.error?.detail == (refused?.sentence ?? "") + words)
    #expect(ended.counts.settled == 0)
  }

  @Test func `the job goes on after the table was mended`() async throws {
    let stage = try await Stage()
    let id = try stage.insert(
      #"{"message": {"title": "x"}, "audience": {"table": "phones", "token": "token", "key": "id"}}"#)
    #expect(try await stage.ending().error?.detail.contains("there is no table phones") == true)
    try stage.application.run("CREATE TABLE phones AS SELECT * FROM devices")
    try stage.application.run("CREATE UNIQUE INDEX phones_id ON phones (id)")
    _ = try await stage.store.change(.resume(id, suspects: .ask))
    #expect(try await stage.ending().error?.detail.contains("the key column id of phones may be NULL") == true)
    try stage.application.run("DROP TABLE phones")
    try stage.application.run("CREATE TABLE phones (id INTEGER PRIMARY KEY, token TEXT)")
    try stage.application.run("INSERT INTO phones SELECT id, token FROM devices")
    _ = try await stage.store.change(.resume(id, suspects: .ask))
    guard case .batch(let batch) = try await stage.claim() else { throw TestFailure("no batch") }
    #expect(batch.recipients.count == 3)
  }

  // MARK: Lanes

  @Test func `a worker without the lanes leaves the job alone and names it`() async throws {
    let stage = try await Stage()
    let id = try stage.insert(
      #"{"message": {"title": "x"}, "audience": {"table": "devices", "token": "token", "platform": {"column": "platform"}}}"#
    )
    guard case .nothing(let idle) = try await stage.claim([.fcm]) else { throw TestFailure("there is work") }
    #expect(idle.unservable == [id])
    #expect(try await stage.job(id).state == .pending)
    #expect(try await stage.job(id).definition.routes == Routes(apple: .apns, android: .fcm, unknown: .fcm))
    guard case .batch = try await stage.claim([.fcm, .apns]) else { throw TestFailure("no batch") }
  }

  // MARK: Migration

  @Test func `the trigger is made anew when it is another or gone, and left when it is there`() async throws {
    let stage = try await Stage()
    let made = "SELECT sql FROM sqlite_master WHERE name = 'zonai_push'"
    let wanted = try stage.application.first(made)
    for other in [nil, "CREATE TRIGGER zonai_push BEFORE INSERT ON zonai_jobs BEGIN SELECT 1; END"] {
      try stage.application.run("DROP TRIGGER zonai_push")
      if let other { try stage.application.run(other) }
      _ = try await stage.store.migrate()
      #expect(try stage.application.first(made) == wanted)
    }
    let version = try stage.application.first("PRAGMA schema_version")
    _ = try await stage.store.migrate()
    #expect(try stage.application.first("PRAGMA schema_version") == version)
  }
}
