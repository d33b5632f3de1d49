import Testing
import ZonaiCore
import ZonaiSQL
import ZonaiTestServers
import ZonaiThreads

@testable import ZonaiMySQL

/// The server enters the application's table by the key's index, whatever else could tempt it, in tables of any size.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(15)))
struct PlanTests {
  struct Layout: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let table: String
    var key: [String] = []
    let keys: [RowKey]
    /// What the plan names as the index.
    var index = "PRIMARY"
    /// The row with this number, as SQL.
    let row: String
  }

  static let layouts = [
    Layout(
      testDescription: "integer key", table: "id BIGINT PRIMARY KEY", keys: [RowKey(1), RowKey(2)], row: "seq"),
    Layout(
      testDescription: "unsigned key", table: "id BIGINT UNSIGNED PRIMARY KEY",
      keys: [RowKey(1), RowKey("18446744073709551615")], row: "seq"),
    Layout(
      testDescription: "text key of another character set",
      table: "id VARCHAR(100) CHARACTER SET latin1 PRIMARY KEY", keys: [RowKey("a"), RowKey("b")],
      row: "CONCAT('k', seq)"),
    Layout(
      testDescription: "composite key of two collations",
      table: "a BIGINT, b VARCHAR(50) COLLATE utf8mb4_bin, PRIMARY KEY (a, b)", keys: [RowKey(1, "a"), RowKey(1, "b")],
      row: "seq DIV 10, CONCAT('k', seq)"),
    Layout(
      testDescription: "key of three columns",
      table: "a VARCHAR(20) COLLATE utf8mb4_general_ci, b VARBINARY(16), c DATETIME(6), PRIMARY KEY (a, b, c)",
      keys: [
        RowKey("x", .bytes([1]), "2026-01-01 00:00:00.000001"), RowKey("x", .bytes([1]), "2026-01-01 00:00:00.000002"),
      ], row: "CONCAT('k', seq DIV 100), UNHEX(HEX(seq DIV 10 + 256)), TIMESTAMPADD(MICROSECOND, seq, '2026-01-01')"),
    Layout(
      testDescription: "binary uuid key", table: "id BINARY(16) PRIMARY KEY",
      keys: [RowKey(.bytes(Array(repeating: 1, count: 16))), RowKey(.bytes(Array(repeating: 2, count: 16)))],
      row: "UNHEX(MD5(seq))"),
    Layout(
      testDescription: "decimal key", table: "id DECIMAL(20,4) PRIMARY KEY",
      keys: [RowKey("1.5000"), RowKey("2.5000")],
      row: "seq + 0.5"),
    Layout(
      testDescription: "date key", table: "id DATE PRIMARY KEY", keys: [RowKey("2026-01-01"), RowKey("2026-01-02")],
      row: "DATE_ADD('1000-01-01', INTERVAL seq DAY)"),
    Layout(
      testDescription: "timestamp key", table: "id TIMESTAMP(6) PRIMARY KEY",
      keys: [RowKey("2026-01-01 00:00:00.000001"), RowKey("2026-01-01 00:00:00.000002")],
      row: "TIMESTAMPADD(SECOND, seq, '2026-01-01')"),
    Layout(
      testDescription: "named unique key",
      table: "id BIGINT PRIMARY KEY, mail VARCHAR(100) NOT NULL, UNIQUE by_mail (mail)",
      key: ["mail"], keys: [RowKey("a"), RowKey("b")], index: "by_mail", row: "seq, CONCAT('m', seq)"),
  ]

  /// How the statement would go about it: of each table its access, index and remarks.
  private func plan(
    _ layout: Layout, rows: Int, isSelect: Bool = true,
    _ statement: (MySQLStore, JobDefinition, TableDescription) throws -> SQLStatement
  ) async throws -> [[String: String]] {
    let scene = try await MySQLScene(
      """
      CREATE TABLE t (\(layout.table), token VARCHAR(300) CHARACTER SET ascii, app VARCHAR(20), seen DATETIME(6),
      INDEX by_app (app), INDEX by_token (token), INDEX by_both (app, token))
      """,
      "INSERT INTO t SELECT \(layout.row), CONCAT('token-', seq), IF(seq % 50 = 0, 'news', 'old'), NULL FROM seq_1_to_\(rows)",
      "ANALYZE TABLE t")
    let audience = Audience(
      "t", key: layout.key, token: "token", lastSeen: "seen",
      where: Column("app") == "news" && Column("token") > "")
    let table = try await scene.store.describe("t")
    let definition = try AudienceRules.resolve(EnqueueRequest(definition: .news(audience)), against: table)
    let made = try statement(scene.store, definition, table)
    // By the store's own means: values are bound as they are in earnest.
    let connection = try MySQLConnection(
      try MySQLURL.address(scene.database.url), watch: try SilenceWatch(), until: MonotonicClock.milliseconds() + 20_000
    )
    var explained: [[String: String]] = []
    let explain = SQLStatement(text: "EXPLAIN " + made.text, values: made.values, isReused: false)
    try connection.run(explain) { row throws(StoreError) in
      var named: [String: String] = [:]
      for column in 0..<row.columnCount { named[row.name(column)] = row.text(column) }
      explained.append(named)
    }
    return explained
  }

  @Test(arguments: layouts, [3, 5000])
  func `a page goes by the key and sorts nothing`(_ layout: Layout, _ rows: Int) async throws {
    let plan = try await plan(layout, rows: rows) { store, definition, table in
      try store.pageStatement(definition, in: table, after: layout.keys[0], upTo: layout.keys[1], limit: 500)
    }
    #expect(plan.count == 1)
    #expect(plan[0]["key"] == layout.index)
    #expect(["range", "index"].contains(plan[0]["type"]))
    #expect(plan[0]["Extra"]?.contains("filesort") != true, "\(plan)")
    if rows > 3 { #expect(plan[0]["type"] == "range", "\(plan)") }
  }

  @Test(arguments: layouts, [3, 5000])
  func `owed rows are found by the key`(_ layout: Layout, _ rows: Int) async throws {
    let plan = try await plan(layout, rows: rows) { store, definition, table in
      try store.rowsStatement(definition, in: table, keys: layout.keys)
    }
    try expectSingles(plan, layout)
  }

  @Test(arguments: layouts, [3, 5000])
  func `rows for hooks are found by the key`(_ layout: Layout, _ rows: Int) async throws {
    let plan = try await plan(layout, rows: rows) { _, definition, table in
      MySQLDialect().selectPairs(try target(definition, table), pairs(layout))
    }
    try expectSingles(plan, layout)
  }

  @Test(arguments: layouts, [Policy.clearColumn, .deleteRow])
  func `rows to prune are found by the key`(_ layout: Layout, _ policy: Policy) async throws {
    for rows in [3, 5000] {
      let plan = try await plan(layout, rows: rows) { _, definition, table in
        try #require(MySQLDialect().pruneStatement(try target(definition, table), pairs(layout), policy: policy))
      }
      try expectSingles(plan, layout)
    }
  }

  /// The list of keys first, then the application's table, one row a key.
  private func expectSingles(_ plan: [[String: String]], _ layout: Layout) throws {
    #expect(plan.map { $0["table"] } == ["zonai_v", "zonai_t"], "\(plan)")
    #expect(plan.last?["type"] == "eq_ref", "\(plan)")
    #expect(plan.last?["key"] == layout.index, "\(plan)")
  }

  private func target(_ definition: JobDefinition, _ table: TableDescription) throws -> PruneTarget {
    PruneTarget(
      table: "t", key: try definition.audience.key.map { try #require(table.column($0)) },
      token: try #require(table.column("token")), lastSeen: table.column("seen"),
      index: table.indexNames[definition.audience.key])
  }

  private func pairs(_ layout: Layout) -> [Rejection] {
    layout.keys.map { key in
      Rejection(
        eventID: "e", key: key, token: DeviceToken("token"), lastSeen: .null, group: ClaimedBatch.group,
        evidence: .conclusive, reason: "UNREGISTERED", status: 404, words: nil, deadSince: nil)
    }
  }
}
