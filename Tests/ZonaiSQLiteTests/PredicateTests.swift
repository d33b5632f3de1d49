import Testing
import ZonaiCore
import ZonaiSQLite

/// What columns whose rows hold what they like make of predicates and tokens.
@Suite struct PredicateTests {
  @Test(arguments: ["JSON", "jsonb"])
  func `a JSON column holds no single token`(_ type: String) async throws {
    let fixture = try SQLiteFixture()
    try fixture.application.run("CREATE TABLE t (id INTEGER PRIMARY KEY, tokens \(type))")
    let store = try fixture.open()
    _ = try await store.migrate()
    let error = await #expect(throws: StoreError.self) {
      try await store.enqueue(EnqueueRequest(definition: .news(Audience("t", token: "tokens"))))
    }
    #expect(error?.code == .noSingleToken)
    #expect(try fixture.application.first("SELECT count(*) FROM zonai_jobs") == 0)
  }

  @Test func `seconds are compared with numbers only, and text is not a number`() async throws {
    let fixture = try SQLiteFixture()
    try fixture.application.run("CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT, seen INTEGER, at DATETIME)")
    try fixture.application.run(
      """
      INSERT INTO t VALUES (1, 'a', 1500000000, '2017-07-14'), (2, 'b', 1700000000, 1700000000), (3, 'c', 'never', 'never'),
      (4, 'd', x'00', x'00'), (5, 'e', NULL, NULL)
      """)
    let store = try fixture.open()
    _ = try await store.migrate()
    let table = try await store.describe("t")
    let cases: [(Predicate, [Int64])] = [
      (Column("seen") > 0, [1, 2]), (!(Column("seen") > 0), []), (Column("seen") < 1_600_000_000, [1]),
      (Column("seen") < "1600000000", [1]), (Column("at") < "2020-01-01", [1]), (Column("at") > 0, [2]),
      (Column("at") != "2017-07-14", [3]), (!Column("at").in(["2017-07-14", 5]), []),
      (Column("at").in(["never", 1_700_000_000]), [2, 3]),
    ]
    for (predicate, ids) in cases {
      let request = EnqueueRequest(definition: .news(Audience("t", token: "token", where: predicate)))
      let keys = try await store.keys(of: request, in: table, limit: 10)
      #expect(keys == ids.map { RowKey(.integer($0)) }, "\(predicate)")
    }
    let error = await #expect(throws: StoreError.self) {
      try await store.enqueue(
        EnqueueRequest(definition: .news(Audience("t", token: "token", where: Column("seen") < "2020-01-01"))))
    }
    #expect(error?.sentence == "seen is INTEGER: compare it with a number, such as seen = 30")
  }

  @Test func `more comparisons than SQLite binds values are refused with what to do`() async throws {
    let fixture = try SQLiteFixture()
    try fixture.application.run("CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT)")
    let store = try fixture.open()
    _ = try await store.migrate()
    let error = await #expect(throws: StoreError.self) {
      try await store.enqueue(
        EnqueueRequest(
          definition: .news(
            Audience("t", token: "token", where: .or((0..<40_000).map { Column("id") == .integer($0) })))))
    }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.sentence.contains("put the values of a column into a list, id in (…)") == true)
  }
}
