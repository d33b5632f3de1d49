import Testing
import ZonaiCore
import ZonaiSQLite

/// Tables as people make them in SQLite.
@Suite struct TableTests {
  // MARK: What is described

  @Test func `a row number is a key although nobody declared it NOT NULL`() async throws {
    let scene = try await SQLiteScene("CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT)")
    let table = try await scene.store.describe("t")
    #expect(table.primaryKey == ["id"])
    #expect(table.column("id")?.isNullable == false)
  }

  @Test func `a primary key that lacks NOT NULL is taken only while no row is NULL`() async throws {
    let scene = try await SQLiteScene(
      "CREATE TABLE t (id TEXT PRIMARY KEY, token TEXT)", "INSERT INTO t VALUES ('a', 'token')")
    let audience = Audience("t", token: "token")
    _ = try await scene.enqueue(audience)
    try scene.application.run("INSERT INTO t VALUES (NULL, 'lost')")
    let error = await #expect(throws: StoreError.self) { _ = try await scene.enqueue(audience) }
    #expect(error?.code == .noUsableKey)
    // And the job that was enqueued before says so before its first send.
    guard case .ended(let job) = try await scene.claimResult() else { throw TestFailure("it was claimed") }
    #expect(job.state == .failed)
    #expect(job.error?.code == .store)
    #expect(job.error?.detail.contains("NULL in the key column id") == true)
  }

  @Test func `only indexes that pages can go by are keys`() async throws {
    let scene = try await SQLiteScene(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT NOT NULL, c TEXT NOT NULL COLLATE NOCASE,
      d TEXT NOT NULL, e TEXT NOT NULL, token TEXT, UNIQUE (a, b))
      """,
      "CREATE UNIQUE INDEX other_collation ON t (c COLLATE BINARY)",
      "CREATE UNIQUE INDEX ignoring_case ON t (d COLLATE NOCASE)",
      "CREATE UNIQUE INDEX partial ON t (e) WHERE e <> ''",
      "CREATE UNIQUE INDEX expression ON t (lower(e))",
      "CREATE UNIQUE INDEX mixed ON t (d, e DESC)",
      "CREATE INDEX plain ON t (b)",
      "CREATE UNIQUE INDEX downwards ON t (e DESC)")
    #expect(try await scene.store.describe("t").uniqueKeys == [["a", "b"], ["e"]])
  }

  @Test func `a view is refused`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices, "CREATE VIEW v AS SELECT * FROM devices")
    let error = await #expect(throws: StoreError.self) { _ = try await scene.store.describe("v") }
    #expect(error?.code == .noSuchTable)
    #expect(error?.sentence.contains("is a view") == true)
  }

  @Test func `a table that is not there is refused with those that are, and without ours`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    let error = await #expect(throws: StoreError.self) { _ = try await scene.store.describe("device") }
    #expect(error?.sentence == "there is no table device in this file: it has devices")
  }

  @Test func `a generated token column cannot be cleared`() async throws {
    let scene = try await SQLiteScene(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, raw TEXT, token TEXT GENERATED ALWAYS AS (lower(raw)) STORED)")
    let error = await #expect(throws: StoreError.self) { _ = try await scene.enqueue(Audience("t", token: "token")) }
    #expect(error?.code == .tokenNotNullable)
  }

  @Test func `a schema's name may stand before the table's`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(2)
    _ = try await scene.enqueue(Audience(TableName("devices", schema: "main"), token: "token"))
    #expect(try await scene.prune(scene.claim()).outcomes == [.pruned, .pruned])
    let error = await #expect(throws: StoreError.self) {
      _ = try await scene.enqueue(Audience(TableName("devices", schema: "public"), token: "token"))
    }
    #expect(error?.code == .noSuchTable)
    #expect(error?.sentence.contains("it has main") == true)
  }

  // MARK: Keys

  @Test func `a table without rowid is paged and pruned`() async throws {
    let scene = try await SQLiteScene(
      "CREATE TABLE \"odd `table`\" (\"key \"\"1\"\"\" TEXT, \"order\" INTEGER, \"the token\" TEXT, "
        + "PRIMARY KEY (\"key \"\"1\"\"\", \"order\")) WITHOUT ROWID",
      "INSERT INTO \"odd `table`\" VALUES ('b', 1, 't1'), ('a', 10, 't2'), ('a', 9, 't3')")
    for policy in [Policy.clearColumn, .deleteRow] {
      try scene.application.run("UPDATE \"odd `table`\" SET \"the token\" = 't' || \"order\" || \"key \"\"1\"\"\"")
      _ = try await scene.enqueue(Audience("odd `table`", token: "the token"), policy: policy)
      let batch = try await scene.claim()
      #expect(batch.keys == [RowKey("a", 9), RowKey("a", 10), RowKey("b", 1)])
      #expect(try await scene.prune(batch).outcomes == [.pruned, .pruned, .pruned])
    }
    #expect(try scene.application.rows("SELECT * FROM \"odd `table`\"").isEmpty)
  }

  @Test func `a key without a type holds every type, in SQLite's order`() async throws {
    let scene = try await SQLiteScene(
      "CREATE TABLE t (id PRIMARY KEY NOT NULL, token)",
      "INSERT INTO t VALUES (x'00', 't1'), ('1', 't2'), (1, 't3'), (1.5, 't4'), ('', 't5'), (x'', 't6'), (-1, 't7')")
    _ = try await scene.enqueue(Audience("t", token: "token"))
    var keys: [RowKey] = []
    for _ in 0..<3 {
      guard case .batch(let batch) = try await scene.store.claim(.from("anna", size: 3)) else { break }
      keys += batch.keys
      #expect(try await scene.prune(batch).outcomes.allSatisfy { $0 == .pruned })
    }
    #expect(
      keys == [
        RowKey(-1), RowKey(1), RowKey(1.5), RowKey(""), RowKey("1"), RowKey(.bytes([])), RowKey(.bytes([0])),
      ])
  }

  @Test func `a key that is no UTF-8 stops the job with a sentence`() async throws {
    let scene = try await SQLiteScene(
      "CREATE TABLE t (id TEXT PRIMARY KEY, token TEXT)", "INSERT INTO t VALUES (CAST(x'ff' AS TEXT), 'token')")
    _ = try await scene.enqueue(Audience("t", token: "token"))
    guard case .ended(let job) = try await scene.claimResult() else { throw TestFailure("it was claimed") }
    #expect(job.error?.detail.contains("not UTF-8") == true)
  }

  // MARK: Tokens

  @Test func `a token is bytes, whatever its type and collation`() async throws {
    let scene = try await SQLiteScene(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, token COLLATE NOCASE)",
      """
      INSERT INTO t VALUES (1, 'Text'), (2, x'00ff27'), (3, 12345), (4, CAST(x'ff0041' AS TEXT)), (5, ''), (6, x''),
      (7, NULL), (8, 'changed'), (9, 'blank ')
      """)
    _ = try await scene.enqueue(Audience("t", token: "token"))
    let batch = try await scene.claim()
    let expected: [[UInt8]] = [
      Array("Text".utf8), [0, 255, 39], Array("12345".utf8), [255, 0, 65], Array("changed".utf8), Array("blank ".utf8),
    ]
    #expect((0..<batch.recipients.count).map { Array(batch.recipients.tokens[$0]) } == expected)
    // Equal to the old one under the column's collation, but not byte by byte.
    try scene.application.run("UPDATE t SET token = 'CHANGED' WHERE id = 8")
    let outcomes = try await scene.prune(batch).outcomes
    #expect(outcomes == [.pruned, .pruned, .pruned, .pruned, .spared, .pruned])
    #expect(try scene.application.first("SELECT COUNT(*) FROM t WHERE token IS NOT NULL") == 3)
  }

  @Test(arguments: ["seen", "seen INTEGER", "seen TEXT", "seen REAL"])
  func `last-seen is compared as it was read`(_ declaration: String) async throws {
    let scene = try await SQLiteScene(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT, \(declaration))",
      "INSERT INTO t VALUES (1, 'a', 1600000000), (2, 'b', NULL), (3, 'c', '2026-01-01 00:00:00'), (4, 'd', 0.1), "
        + "(5, 'e', x'00'), (6, 'f', 1), (7, 'g', NULL)")
    _ = try await scene.enqueue(Audience("t", token: "token", lastSeen: "seen"))
    let batch = try await scene.claim()
    try scene.application.run("UPDATE t SET seen = 2 WHERE id >= 6")
    #expect(try await scene.prune(batch).outcomes == [.pruned, .pruned, .pruned, .pruned, .pruned, .spared, .spared])
  }

  // MARK: While the job runs

  @Test func `a column that is gone is no text`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(60)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim()
    try scene.application.run("ALTER TABLE devices RENAME COLUMN token TO tokens")
    let committed = try await scene.prune(batch)
    #expect(committed.outcomes.allSatisfy { $0 == .spared })
    guard case .ended(let job) = try await scene.claimResult() else { throw TestFailure("it was claimed") }
    #expect(job.state == .failed)
    #expect(job.error?.detail.contains("has no column token") == true)
    #expect(job.error?.detail.contains("tokens") == true)
    // What was made for the old table serves again once the column is back.
    try scene.application.run("ALTER TABLE devices RENAME COLUMN tokens TO token")
    _ = try await scene.store.change(.resume(job.id, suspects: .ask))
    #expect(try await scene.claim().recipients.count == 10)
  }

  @Test func `a table that is gone has no rows for hooks`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(2)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim()
    let rejections = [batch.rejection(0), batch.rejection(1)]
    _ = try await scene.store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
    try scene.application.run("DROP TABLE devices")
    guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
    #expect(rows == [nil, nil])
  }

  @Test func `a hook's row is whole, with what is no UTF-8 as bytes`() async throws {
    let scene = try await SQLiteScene(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT, note, amount REAL)",
      "INSERT INTO t VALUES (1, 'a', CAST(x'ff' AS TEXT), 2.5), (2, 'b', x'01', NULL), (3, 'c', 'é', 1)")
    _ = try await scene.enqueue(Audience("t", token: "token"))
    let batch = try await scene.claim()
    try scene.application.run("UPDATE t SET token = 'new' WHERE id = 2")
    let asked = [2, 1, 0].map { batch.rejection($0) }
    guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, asked)) else { return }
    let columns = ["id", "token", "note", "amount"]
    #expect(
      rows == [
        Row(columns: columns, values: [3, "c", "é", 1.0]), nil,
        Row(columns: columns, values: [1, "a", .bytes([255]), 2.5]),
      ])
  }

  @Test func `a list of a hundred thousand values is one value to SQLite`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(500)
    let ids = (0..<100_000).map { Value.integer(Int64($0) * 5) }
    let audience = Audience("devices", token: "token", where: Column("id").in(ids))
    let job = try await scene.enqueue(audience)
    var handed = 0
    while case .batch(let batch) = try await scene.claimResult() {
      handed += batch.recipients.count
      // Owed once, so that the rows are found by key and by the list.
      let owed = batch.keys.map { OwedRecipient(key: $0) }
      _ = try await scene.store.settle(.answers(BatchAnswers(lease: batch.lease, owed: owed)))
      let again = try await scene.claim()
      #expect(again.keys == batch.keys)
      _ = try await scene.store.settle(.answers(again.delivered()))
    }
    #expect(handed == 100)
    #expect(
      try await scene.job(job).definition.audience
        == Audience(
          "devices", key: ["id"], token: "token", where: Column("id").in(ids)))
  }
}
