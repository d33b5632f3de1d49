import Testing
import ZonaiCore
import ZonaiSQL
import ZonaiSQLite

/// SQLite enters the application's table by the key's index, whatever else could tempt it.
@Suite struct PlanTests {
  struct Layout: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let table: String
    let key: [String]
    let keys: [RowKey]
    /// How the plan names the entry, for a page and for single keys.
    let page: String
    let single: String
  }

  static let layouts = [
    Layout(
      testDescription: "integer key", table: "CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT, app TEXT, seen)",
      key: [], keys: [RowKey(1), RowKey(2)], page: "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
      single: "INTEGER PRIMARY KEY (rowid=?)"),
    Layout(
      testDescription: "text key", table: "CREATE TABLE t (id TEXT PRIMARY KEY, token TEXT, app TEXT, seen)",
      key: [], keys: [RowKey("a"), RowKey("b")], page: "USING INDEX sqlite_autoindex_t_1 (id>? AND id<?)",
      single: "INDEX sqlite_autoindex_t_1 (id=?)"),
    Layout(
      testDescription: "composite key",
      table: "CREATE TABLE t (a INTEGER, b TEXT, token TEXT, app TEXT, seen, PRIMARY KEY (a, b))",
      key: [], keys: [RowKey(1, "a"), RowKey(1, "b")],
      page: "USING INDEX sqlite_autoindex_t_1 ((a,b)>(?,?) AND (a,b)<(?,?))",
      single: "INDEX sqlite_autoindex_t_1 (a=? AND b=?)"),
    Layout(
      testDescription: "without rowid",
      table: "CREATE TABLE t (a BLOB, b TEXT, token TEXT, app TEXT, seen, PRIMARY KEY (a, b)) WITHOUT ROWID",
      key: [], keys: [RowKey(.bytes([1]), "a"), RowKey(.bytes([1]), "b")],
      page: "USING PRIMARY KEY ((a,b)>(?,?) AND (a,b)<(?,?))", single: "PRIMARY KEY (a=? AND b=?)"),
    Layout(
      testDescription: "named unique key",
      table: "CREATE TABLE t (id INTEGER PRIMARY KEY, mail TEXT NOT NULL UNIQUE, token TEXT, app TEXT, seen)",
      key: ["mail"], keys: [RowKey("a"), RowKey("b")], page: "USING INDEX sqlite_autoindex_t_1 (mail>? AND mail<?)",
      single: "INDEX sqlite_autoindex_t_1 (mail=?)"),
  ]

  /// A predicate with an index of its own, and an index on the token.
  private func plan(
    _ layout: Layout, _ statement: (SQLiteStore, JobDefinition, TableDescription) throws -> SQLStatement
  ) async throws -> String {
    let scene = try await SQLiteScene(
      layout.table, "CREATE INDEX by_app ON t (app)", "CREATE INDEX by_token ON t (token)",
      "CREATE INDEX by_both ON t (app, token)")
    let audience = Audience(
      "t", key: layout.key, token: "token", lastSeen: "seen", where: Column("app") == "news" && Column("token") > "")
    let table = try await scene.store.describe("t")
    let definition = try AudienceRules.resolve(EnqueueRequest(definition: .news(audience)), against: table)
    let made = try statement(scene.store, definition, table)
    let rows = try scene.application.rows("EXPLAIN QUERY PLAN " + made.text, made.values)
    return rows.compactMap { row in if case .text(let line) = row["detail"] { line } else { nil } }
      .joined(separator: "\n")
  }

  @Test func `the open jobs of an app are found by an index`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    let rows = try scene.application.rows(
      """
      EXPLAIN QUERY PLAN SELECT id, definition FROM zonai_jobs WHERE state IN ('pending', 'running')
      AND app IN ('shop', '?') ORDER BY turn, id
      """)
    let plan = rows.compactMap { row in if case .text(let line) = row["detail"] { line } else { nil } }
    #expect(plan.contains("SEARCH zonai_jobs USING INDEX zonai_jobs_order (state=? AND app=?)"), "\(plan)")
  }

  @Test(arguments: layouts)
  func `a page goes by the key and sorts nothing`(_ layout: Layout) async throws {
    let plan = try await plan(layout) { store, definition, table in
      try store.pageStatement(definition, in: table, after: layout.keys[0], upTo: layout.keys[1], limit: 500)
    }
    #expect(plan == "SEARCH t \(layout.page)")
  }

  @Test(arguments: layouts)
  func `owed rows are found by the key`(_ layout: Layout) async throws {
    let plan = try await plan(layout) { store, definition, table in
      try store.rowsStatement(definition, in: table, keys: layout.keys)
    }
    #expect(plan.contains("SEARCH zonai_t USING \(layout.single)"), "\(plan)")
    #expect(!plan.contains("SCAN zonai_t"), "\(plan)")
  }

  @Test(arguments: layouts, [Policy.clearColumn, .deleteRow])
  func `rows to prune are found by the key`(_ layout: Layout, _ policy: Policy) async throws {
    let plan = try await plan(layout) { _, definition, table in
      let target = try target(definition, table)
      return try #require(SQLiteDialect().pruneStatement(target, pairs(layout), policy: policy))
    }
    let columns = layout.single
    #expect(plan.contains(columns), "\(plan)")
    for scan in ["SCAN zonai_t", "SCAN t"] { #expect(!plan.contains(scan), "\(plan)") }
  }

  @Test(arguments: layouts)
  func `rows for hooks are found by the key`(_ layout: Layout) async throws {
    let plan = try await plan(layout) { _, definition, table in
      SQLiteDialect().selectPairs(try target(definition, table), pairs(layout))
    }
    #expect(plan.contains("SEARCH zonai_t USING \(layout.single)"), "\(plan)")
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
