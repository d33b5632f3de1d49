import Testing
import ZonaiCore
import ZonaiSQLite

/// Prunes that the application's own rules refuse are undone alone.
@Suite struct RefusalTests {
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
      testDescription: "RAISE(ABORT)",
      statements: [trigger("RAISE(ABORT, 'not this one')")], words: "not this one"),
    Rule(
      testDescription: "RAISE(FAIL)",
      statements: [trigger("RAISE(FAIL, 'not this one')")], words: "not this one"),
    Rule(
      testDescription: "RAISE(ROLLBACK)",
      statements: [trigger("RAISE(ROLLBACK, 'not this one')")], words: "not this one"),
    Rule(testDescription: "RAISE(IGNORE)", statements: [trigger("RAISE(IGNORE)")], words: "", isSilent: true),
    Rule(
      testDescription: "a function that is the application's",
      statements: [trigger("no_such_function(1)")], words: "no such function"),
    Rule(
      testDescription: "foreign key",
      statements: [
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices (id))",
        "INSERT INTO orders (device) VALUES (7), (13)",
      ], policy: .deleteRow, words: "FOREIGN KEY constraint failed"),
    Rule(
      testDescription: "deferred foreign key",
      statements: [
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices (id) DEFERRABLE INITIALLY DEFERRED)",
        "INSERT INTO orders (device) VALUES (7), (13)",
      ], policy: .deleteRow, words: "FOREIGN KEY constraint failed"),
  ]

  private static func trigger(_ action: String) -> String {
    "CREATE TRIGGER guard BEFORE UPDATE ON devices WHEN OLD.id IN (7, 13) BEGIN SELECT \(action); END"
  }

  @Test(arguments: rules, SQLiteFixture.Journal.allCases)
  func `what the database refuses is spared, and nothing else`(
    _ rule: Rule, _ journal: SQLiteFixture.Journal
  ) async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices, journal: journal)
    try scene.addDevices(20)
    for statement in rule.statements { try scene.application.run(statement) }
    let job = try await scene.enqueue(
      Audience("devices", token: "token"), policy: rule.policy, isMeant: true)
    let batch = try await scene.claim()
    let committed = try await scene.prune(batch)
    let refused: Set<Int64> = [7, 13]
    if rule.words == "no such function" {
      // SQLite takes no statement at all that would fire this trigger.
      #expect(committed.outcomes.allSatisfy { $0 == .spared })
      #expect(committed.refusals.count == 20)
    } else {
      #expect(committed.outcomes == (1...20).map { refused.contains($0) ? .spared : .pruned })
      #expect(committed.refusals.count == (rule.isSilent ? 0 : 2))
    }
    #expect(committed.refusals.allSatisfy { $0.contains(rule.words) }, "\(committed.refusals)")
    let done = try await scene.job(job)
    #expect(done.state == .completed)
    #expect(done.counts.permanentlyRejected == 20)
    #expect(done.counts.addsUp)
    let details = done.tally.filter { $0.outcome == .spared }.map(\.detail)
    #expect(details.allSatisfy { $0.contains(rule.words) })
    let left = try scene.application.rows("SELECT id FROM devices WHERE token IS NOT NULL").count
    #expect(left == done.counts.spared)
  }

  @Test func `a CHECK refuses as a trigger does`() async throws {
    let scene = try await SQLiteScene(
      "CREATE TABLE devices (id INTEGER PRIMARY KEY, token TEXT, CHECK (token IS NOT NULL OR id <> 3))",
      "INSERT INTO devices VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    let committed = try await scene.prune(scene.claim())
    #expect(committed.outcomes == [.pruned, .pruned, .spared, .pruned])
    #expect(committed.refusals.count == 1)
  }

  @Test func `foreign keys hold for us although the application's file cannot say so`() async throws {
    let scene = try await SQLiteScene(
      SQLiteScene.devices,
      "CREATE TABLE orders (id INTEGER PRIMARY KEY, device INTEGER REFERENCES devices (id) ON DELETE CASCADE)")
    try scene.addDevices(2)
    try scene.application.run("INSERT INTO orders (device) VALUES (1), (2)")
    _ = try await scene.enqueue(Audience("devices", token: "token"), policy: .deleteRow, isMeant: true)
    #expect(try await scene.prune(scene.claim()).outcomes == [.pruned, .pruned])
    #expect(try scene.application.rows("SELECT * FROM orders").isEmpty)
  }

  @Test func `no error shows a token or another bound value`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.application.run("INSERT INTO devices (id, token) VALUES (1, 'very-secret-token')")
    try scene.application.run(
      "CREATE TRIGGER guard BEFORE UPDATE ON devices BEGIN SELECT RAISE(ABORT, 'no'); END")
    _ = try await scene.enqueue(
      Audience("devices", token: "token", where: Column("token") == "very-secret-token"))
    let committed = try await scene.prune(scene.claim())
    #expect(committed.refusals.count == 1)
    #expect(!"\(committed.refusals) \(try await scene.job(committed.job.id).tally)".contains("very-secret"))
    let wrong = Audience("devices", token: "token", where: .like("token", String(repeating: "secret", count: 20_000)))
    _ = try await scene.enqueue(wrong)
    let result = try await scene.claimResult()
    guard case .ended(let job) = result, let error = job.error else { throw TestFailure("no error but \(result)") }
    #expect(!error.detail.contains("secret"), "\(error)")
  }
}
