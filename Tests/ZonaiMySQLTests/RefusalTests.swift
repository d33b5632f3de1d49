import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestServers

/// Prunes that the application's own rules refuse are undone alone, and no error shows what was bound.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(15)))
struct RefusalTests {
  struct Rule: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let statements: [String]
    var policy = Policy.clearColumn
    let words: String
    /// Whether the database says nothing and simply leaves the row.
    var isSilent = false
  }

  static let rules = [
    Rule(
      testDescription: "SIGNAL",
      statements: [trigger("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not this one'")], words: "not this one"),
    Rule(
      testDescription: "a trigger that puts the token back", statements: [trigger("SET NEW.token = OLD.token")],
      words: "",
      isSilent: true),
    Rule(
      testDescription: "a function that is the application's", statements: [trigger("DO no_such_function(1)")],
      words: "no_such_function"),
    Rule(
      testDescription: "CHECK", statements: ["ALTER TABLE devices ADD CHECK (token IS NOT NULL OR id NOT IN (7, 13))"],
      words: "CONSTRAINT"),
    Rule(
      testDescription: "foreign key",
      statements: [
        "CREATE TABLE orders (device BIGINT PRIMARY KEY, FOREIGN KEY (device) REFERENCES devices (id))",
        "INSERT INTO orders VALUES (7), (13)",
      ], policy: .deleteRow, words: "foreign key constraint fails"),
    Rule(
      testDescription: "a trigger on deletes",
      statements: [
        """
        CREATE TRIGGER keeper BEFORE DELETE ON devices FOR EACH ROW
        IF OLD.id IN (7, 13) THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'keep it'; END IF
        """
      ], policy: .deleteRow, words: "keep it"),
  ]

  private static func trigger(_ action: String) -> String {
    "CREATE TRIGGER keeper BEFORE UPDATE ON devices FOR EACH ROW IF OLD.id IN (7, 13) THEN \(action); END IF"
  }

  @Test(arguments: rules)
  func `what the database refuses is spared, and nothing else`(_ rule: Rule) async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    try await scene.addDevices(20)
    for statement in rule.statements { try await scene.application.run(statement) }
    let job = try await scene.enqueue(Audience("devices", token: "token"), policy: rule.policy, isMeant: true)
    let committed = try await scene.prune(scene.claim())
    let refused: Set<Int64> = [7, 13]
    #expect(committed.outcomes == (1...20).map { refused.contains($0) ? .spared : .pruned })
    #expect(committed.refusals.count == (rule.isSilent ? 0 : 2))
    #expect(committed.refusals.allSatisfy { $0.contains(rule.words) }, "\(committed.refusals)")
    let done = try await scene.job(job)
    #expect(done.state == .completed)
    #expect(done.counts.addsUp)
    let left = try await scene.application.first("SELECT GROUP_CONCAT(id) FROM devices WHERE token IS NOT NULL")
    #expect(left == "7,13")
  }

  @Test func `rows that go with a pruned one go with it`() async throws {
    let scene = try await MySQLScene(
      MySQLScene.devices,
      "CREATE TABLE orders (device BIGINT PRIMARY KEY, FOREIGN KEY (device) REFERENCES devices (id) ON DELETE CASCADE)")
    try await scene.addDevices(2)
    try await scene.application.run("INSERT INTO orders VALUES (1), (2)")
    _ = try await scene.enqueue(Audience("devices", token: "token"), policy: .deleteRow, isMeant: true)
    #expect(try await scene.prune(scene.claim()).outcomes == [.pruned, .pruned])
    #expect(try await scene.application.first("SELECT COUNT(*) FROM orders") == "0")
  }

  @Test func `no error shows a token or another bound value`() async throws {
    let scene = try await MySQLScene(
      MySQLScene.devices,
      "INSERT INTO devices (id, token) VALUES (1, 'very-secret-token'), (2, 'very-secret''s for key x')",
      "CREATE TABLE log (token VARCHAR(300) PRIMARY KEY)", "INSERT INTO log SELECT token FROM devices",
      "CREATE TRIGGER keeper BEFORE UPDATE ON devices FOR EACH ROW INSERT INTO log VALUES (OLD.token)")
    _ = try await scene.enqueue(Audience("devices", token: "token", where: Column("token").like("very-secret%")))
    let committed = try await scene.prune(scene.claim())
    #expect(committed.refusals.count == 2)
    // The second token holds words of the server's, which are cut out with it.
    #expect(committed.refusals.allSatisfy { $0.hasPrefix("Duplicate entry '…") }, "\(committed.refusals)")
    #expect(!"\(committed.refusals) \(try await scene.job(committed.job.id).tally)".contains("secret"))
  }

  // MARK: Rights

  private func stranger(_ scene: MySQLScene, _ grants: String...) async throws -> MySQLStore {
    let name = "stranger_\(scene.database.name.suffix(10))"
    let user = "'\(name)'@'127.0.0.1'"
    try await scene.application.run("CREATE USER \(user) IDENTIFIED BY 'hush'")
    for grant in grants {
      let named = grant.split(separator: "@db").joined(separator: scene.database.name)
      try await scene.application.run("GRANT \(named) TO \(user)")
    }
    return try MySQLStore(
      url: scene.database.server.url(database: scene.database.name, user: name, password: "hush"),
      clock: { [clock = scene.clock] in clock.now })
  }

  private func dropStranger(_ scene: MySQLScene) async throws {
    try await scene.application.run("DROP USER 'stranger_\(scene.database.name.suffix(10))'@'127.0.0.1'")
  }

  @Test func `a user without rights on the table reads which GRANT is lacking`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    try await scene.addDevices(3)
    let rights = "SELECT, INSERT, UPDATE, DELETE"
    let tables = ["meta", "jobs", "batches", "tally", "lanes", "workers", "secrets", "apps"]
    let store = try await stranger(scene, "SELECT ON @db.devices")
    // Nothing of Zonai's own.
    let jobs = try await scene.refusal { _ = try await store.jobs(.list(limit: 1, states: nil)) }
    #expect(jobs.code == .denied)
    #expect(jobs.sentence.contains("GRANT SELECT ON `\(scene.database.name)`.`zonai_meta` TO 'stranger_"), "\(jobs)")
    let user = "'stranger_\(scene.database.name.suffix(10))'@'127.0.0.1'"
    for table in tables { try await scene.application.run("GRANT \(rights) ON zonai_\(table) TO \(user)") }
    let migration = try await scene.refusal {
      try await scene.application.run("UPDATE zonai_meta SET version = 0")
      _ = try await store.migrate()
    }
    #expect(migration.code == .denied)
    #expect(migration.sentence.contains("GRANT CREATE"), "\(migration)")
    _ = try await scene.store.migrate()
    // May read devices, not change them: the prunes are refused, and everything else is done.
    let enqueued = try await store.enqueue(
      EnqueueRequest(definition: .news(Audience("devices", token: "token"))))
    guard case .batch(let batch) = try await store.claim(.from("anna")) else { throw TestFailure("nothing claimed") }
    let rejections = (0..<3).map { batch.rejection($0) }
    _ = try await store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
    let prunes = BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) })
    guard case .committed(let committed) = try await store.settle(.prunes(prunes)) else { throw TestFailure("lost") }
    #expect(committed.outcomes == [.spared, .spared, .spared])
    #expect(committed.refusals.first?.contains("command denied to user") == true, "\(committed.refusals)")
    #expect(try await scene.job(enqueued.job.id).state == .completed)
    try await scene.application.run("REVOKE SELECT ON devices FROM \(user)")
    let hidden = try await scene.refusal { _ = try await store.describe("devices") }
    #expect(hidden.code == .noSuchTable)
    #expect(hidden.sentence.contains("that this user may see"), "\(hidden)")
    await store.close()
    try await dropStranger(scene)
  }

  @Test func `the rights that are documented are enough`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    try await scene.addDevices(3)
    let store = try await stranger(scene, "SELECT, UPDATE, DELETE ON @db.devices")
    let user = "'stranger_\(scene.database.name.suffix(10))'@'127.0.0.1'"
    for table in ["meta", "jobs", "batches", "tally", "lanes", "workers", "secrets", "apps"] {
      try await scene.application.run("GRANT SELECT, INSERT, UPDATE, DELETE ON zonai_\(table) TO \(user)")
    }
    for policy in [Policy.clearColumn, .deleteRow] {
      try await scene.application.run("UPDATE devices SET token = CONCAT('new-', id)")
      _ = try await store.enqueue(
        EnqueueRequest(definition: .news(Audience("devices", token: "token"), policy: policy)))
      guard case .batch(let batch) = try await store.claim(.from("anna")) else { throw TestFailure("nothing claimed") }
      let rejections = (0..<3).map { batch.rejection($0) }
      _ = try await store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
      let prunes = BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) })
      guard case .committed(let committed) = try await store.settle(.prunes(prunes)) else { throw TestFailure("lost") }
      #expect(committed.outcomes == [.pruned, .pruned, .pruned])
    }
    await store.close()
    try await dropStranger(scene)
  }
}
