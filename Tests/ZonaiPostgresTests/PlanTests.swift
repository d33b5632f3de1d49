import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiSQL
import ZonaiTestServers

@testable import ZonaiPostgres

/// PostgreSQL enters the application's table by the key's index, whatever else could tempt it, with the plans that it makes for
/// the values at hand and those for any.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct PlanTests {
  struct Layout: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let key: String
    let keys: [RowKey]
  }

  static let layouts = [
    Layout(testDescription: "bigint", key: "id", keys: [RowKey(100), RowKey(19_000)]),
    Layout(testDescription: "integer", key: "small", keys: [RowKey(100), RowKey(19_000)]),
    Layout(testDescription: "text", key: "word", keys: [RowKey("w100"), RowKey("w99")]),
    Layout(testDescription: "varchar", key: "mail", keys: [RowKey("m100"), RowKey("m99")]),
    Layout(
      testDescription: "uuid", key: "uid",
      keys: [RowKey("10000000-0000-0000-0000-000000000000"), RowKey("e0000000-0000-0000-0000-000000000000")]),
    Layout(
      testDescription: "timestamptz", key: "at",
      keys: [RowKey("2001-01-01 00:00:00+00"), RowKey("2020-01-01 00:00:00+00")]),
    Layout(testDescription: "composite", key: "small, word", keys: [RowKey(100, "w100"), RowKey(19_000, "w9")]),
  ]

  private static let table = [
    """
    CREATE TABLE t (id bigint NOT NULL, small int NOT NULL, word text NOT NULL, mail varchar(40) NOT NULL,
    uid uuid NOT NULL, at timestamptz NOT NULL, token text, app text, seen timestamptz)
    """,
    """
    INSERT INTO t SELECT i, i, 'w' || i, 'm' || i, md5(i::text)::uuid, '2000-01-01'::timestamptz + i * interval '9 hours',
    'token-' || i, CASE WHEN i % 50 = 0 THEN 'news' ELSE 'other' || i % 7 END, now() FROM generate_series(1, 20000) i
    """,
    "CREATE INDEX by_app ON t (app)", "CREATE INDEX by_token ON t (token)", "CREATE INDEX by_both ON t (app, token)",
  ]

  /// Gives the body what tells a statement's plan, as the store's own connections make it. Each layout's key has an index.
  private func withPlans(
    _ mode: String, isAnalyzed: Bool = true,
    _ body: (PostgresStore, TableDescription, (SQLStatement) async throws -> String) async throws -> Void
  ) async throws {
    try await PostgresScene.run { scene in
      try await scene.application.runAll(PlanTests.table)
      for (number, layout) in PlanTests.layouts.enumerated() {
        try await scene.application.run("CREATE UNIQUE INDEX key_\(number) ON t (\(layout.key))")
      }
      if isAnalyzed { try await scene.application.run("ANALYZE t") }
      let driver = try PostgresDriver(address: scene.fixture.url, options: PostgresOptions())
      try await body(scene.store, try await scene.store.describe("t")) { statement in
        try await driver.transaction(.write, deadline: .max / 2) { connection throws(StoreError) in
          let values = statement.values.map { ParameterText.text($0).map { literal($0) } ?? "NULL" }
          for text in ["SET LOCAL plan_cache_mode = \(mode)", "PREPARE made AS \(statement.text)"] {
            try connection.run(SQLStatement(text: text, values: [], isReused: false))
          }
          let explain = "EXPLAIN (COSTS OFF) EXECUTE made(\(values.joined(separator: ", ")))"
          let lines = try connection.all(SQLStatement(text: explain, values: [], isReused: false)) {
            row throws(StoreError) in String(row.text(0).prefix(300))
          }
          try connection.run(SQLStatement(text: "DEALLOCATE made", values: [], isReused: false))
          return lines.joined(separator: "\n")
        }
      }
      await driver.close()
    }
  }

  private func definition(
    _ layout: Layout, _ table: TableDescription, where predicate: Predicate = Column("app") == "news"
  ) throws -> JobDefinition {
    let audience = Audience(
      "t", key: layout.key.split(separator: ",").map { $0.filter { $0 != " " } }, token: "token", lastSeen: "seen",
      where: predicate && Column("token") > "")
    return try AudienceRules.resolve(EnqueueRequest(definition: .news(audience)), against: table)
  }

  private static let modes = ["force_custom_plan", "force_generic_plan"]

  @Test(arguments: modes, [true, false])
  func `a page goes by the key and sorts nothing`(_ mode: String, _ isAnalyzed: Bool) async throws {
    try await withPlans(mode, isAnalyzed: isAnalyzed) { store, table, plan in
      for (number, layout) in PlanTests.layouts.enumerated() {
        let plan = try await plan(
          try store.pageStatement(
            try definition(layout, table), in: table, after: layout.keys[0], upTo: layout.keys[1], limit: 500))
        // An index that goes on behind the key has its order too.
        let isEntered =
          plan.contains("Index Scan using key_\(number) on t") || (number == 1 && plan.contains("key_6 on t"))
        #expect(isEntered && plan.contains("Index Cond: "), "\(layout.key): \(plan)")
        for way in ["Sort", "Bitmap", "Seq Scan"] { #expect(!plan.contains(way), "\(layout.key): \(plan)") }
      }
    }
  }

  @Test(arguments: modes)
  func `a long list is hashed once, not searched for every row`(_ mode: String) async throws {
    try await withPlans(mode) { store, table, plan in
      let values = (0..<100_000).map { Value.text("somebody.number.\($0)@example.com") }
      for list in [Column("mail").in(values), !Column("mail").in(values)] {
        let layout = PlanTests.layouts[0]
        let plan = try await plan(
          try store.pageStatement(
            try definition(layout, table, where: list), in: table, after: layout.keys[0], upTo: layout.keys[1],
            limit: 500))
        #expect(plan.contains("Index Scan using key_0 on t") && plan.contains("hashed SubPlan"), "\(plan)")
      }
    }
  }

  @Test(arguments: modes)
  func `rows that are owed, to be shown or to be pruned are found by the key`(_ mode: String) async throws {
    let dialect = PostgresDialect()
    try await withPlans(mode) { store, table, plan in
      for (number, layout) in PlanTests.layouts.enumerated() {
        let definition = try definition(layout, table)
        let target = try target(definition, table)
        for statement in [
          try store.rowsStatement(definition, in: table, keys: layout.keys), dialect.selectPairs(target, pairs(layout)),
          try #require(dialect.pruneStatement(target, pairs(layout), policy: .clearColumn)),
          try #require(dialect.pruneStatement(target, pairs(layout), policy: .deleteRow)),
        ] {
          let plan = try await plan(statement)
          let isEntered =
            plan.contains("Index Scan using key_\(number) on t") || (number == 1 && plan.contains("key_6 on t"))
            || (number == 6 && (plan.contains("key_1 on t") || plan.contains("key_2 on t")))
          #expect(isEntered, "\(layout.key): \(plan)")
          for way in ["Bitmap", "Seq Scan", "Merge Join", "Hash Join"] {
            #expect(!plan.contains(way), "\(layout.key): \(plan)")
          }
        }
      }
    }
  }

  private func target(_ definition: JobDefinition, _ table: TableDescription) throws -> PruneTarget {
    PruneTarget(
      table: "t", key: try definition.audience.key.map { try #require(table.column($0)) },
      token: try #require(table.column("token")), lastSeen: table.column("seen"))
  }

  private func pairs(_ layout: Layout) -> [Rejection] {
    layout.keys.map { key in
      Rejection(
        eventID: "e", key: key, token: DeviceToken("token"), lastSeen: .null, group: ClaimedBatch.group,
        evidence: .conclusive, reason: "UNREGISTERED", status: 404, words: nil, deadSince: nil)
    }
  }
}
