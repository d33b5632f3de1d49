import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiSQL
import ZonaiTestKit
import ZonaiTestServers

@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"))
struct PrunePlanTests {
  @Test(arguments: [Policy.clearColumn, .deleteRow])
  func `a few rows to prune are found by their keys, though they are locked in key order`(_ policy: Policy) async throws
  {
    let fixture = try await PostgresFixture.make()
    let application = fixture.application
    try await application.runAll([
      "CREATE TABLE t (id BIGINT PRIMARY KEY, token TEXT)",
      "INSERT INTO t SELECT n, 'token ' || n FROM generate_series(1, 20000) AS n", "ANALYZE t",
      // As in the store's own sessions, where nothing is sorted if an index has the order.
      "SET enable_seqscan TO off", "SET enable_bitmapscan TO off", "SET enable_sort TO off",
    ])
    let target = PruneTarget(
      table: "t", key: [ColumnDescription(name: "id", type: "bigint", kind: .integer(), isNullable: false)],
      token: ColumnDescription(name: "token", type: "text", kind: .text(), isNullable: true), lastSeen: nil)
    let statement = try #require(PostgresDialect().pruneStatement(target, [pair(300), pair(7)], policy: policy))
    let values = statement.values.map { value -> String? in if case .text(let text) = value { text } else { nil } }
    let plan = try await application.run("EXPLAIN " + statement.text, values).compactMap { $0[0] }
    #expect(plan.contains { $0.contains("Index Cond: (id = zonai_v.zonai_k0)") }, "\(plan)")
    #expect(!plan.contains { $0.contains("Join Filter") }, "\(plan)")
    try await fixture.remove()
  }

  private func pair(_ key: Int64) -> Rejection {
    Rejection(
      eventID: "e\(key)", key: RowKey(.integer(key)), token: DeviceToken("token \(key)"), lastSeen: nil,
      group: Group(transport: .fcm, fingerprint: "f", platform: Platform("android")), evidence: .conclusive,
      reason: "UNREGISTERED", status: 404, words: nil, deadSince: nil)
  }
}
