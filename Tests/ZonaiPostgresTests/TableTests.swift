import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiTestServers

/// Tables as PostgreSQL's applications make them.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct TableTests {
  @Test func `only indexes that pages can go by are keys`() async throws {
    try await PostgresScene.run(
      "CREATE TABLE t (id bigint PRIMARY KEY, a text NOT NULL, b text NOT NULL, c text COLLATE \"C\" NOT NULL, d int, token text)",
      "CREATE UNIQUE INDEX ON t (a)", "CREATE UNIQUE INDEX ON t (b, a) INCLUDE (c)",
      "CREATE UNIQUE INDEX ON t (a DESC, c DESC)", "CREATE UNIQUE INDEX ON t (d)",
      "CREATE UNIQUE INDEX ON t (b) WHERE a > ''", "CREATE UNIQUE INDEX ON t (lower(b))",
      "CREATE UNIQUE INDEX ON t (a, b DESC)", "CREATE UNIQUE INDEX ON t (b text_pattern_ops)",
      "CREATE UNIQUE INDEX ON t (c COLLATE \"en-x-icu\")", "CREATE UNIQUE INDEX ON t (c NULLS FIRST)",
      "CREATE INDEX ON t (c)"
    ) { scene in
      let table = try await scene.store.describe("t")
      #expect(table.primaryKey == ["id"])
      #expect(Set(table.uniqueKeys) == [["a"], ["b", "a"], ["a", "c"], ["d"]])
      #expect(table.column("d")?.isNullable == true && table.column("a")?.isNullable == false)
    }
  }

  @Test func `types are those that values are compared by`() async throws {
    try await PostgresScene.run(
      "CREATE DOMAIN mail AS varchar(99) NOT NULL", "CREATE TYPE \"Odd\" AS ENUM ('x')",
      """
      CREATE TABLE t (id int PRIMARY KEY, a mail, b char(9), c numeric(9,2), d "Odd", e timestamp(3) with time zone,
      f text GENERATED ALWAYS AS ('x') STORED, g bit(3))
      """
    ) { scene in
      let columns = try await scene.store.describe("t").columns
      #expect(
        columns.map(\.type) == [
          "integer", "character varying", "bpchar", "numeric", "\"Odd\"", "timestamp with time zone", "text", "\"bit\"",
        ])
      #expect(columns.map(\.isNullable) == [false, false, true, true, true, true, false, true])
    }
  }

  @Test func `views and foreign tables are refused, each with its reason`() async throws {
    try await PostgresScene.run(
      PostgresScene.devices, "CREATE VIEW v AS SELECT * FROM devices",
      "CREATE MATERIALIZED VIEW m AS SELECT * FROM devices"
    ) { scene in
      for name in ["v", "m"] {
        let error = await failure { _ = try await scene.store.describe(TableName(name)) }
        #expect(error?.code == .noSuchTable)
        #expect(error?.sentence.contains("is a view") == true)
      }
    }
  }

  @Test func `a name that is not there is met with what there is`() async throws {
    try await PostgresScene.run(PostgresScene.devices) { scene in
      let near = await failure { _ = try await scene.store.describe("devicez") }
      #expect(near?.sentence.contains("devices") == true)
      let schema = await failure { _ = try await scene.store.describe(TableName("devices", schema: "pubic")) }
      #expect(schema?.sentence.contains("public") == true)
      let other = "o" + scene.fixture.schema
      try await scene.application.runAll(["CREATE SCHEMA \(other)", "CREATE TABLE \(other).\(other)_things (id int)"])
      let elsewhere = await failure { _ = try await scene.store.describe(TableName("\(other)_things")) }
      #expect(elsewhere?.sentence.contains("name it \(other).\(other)_things") == true)
      try await scene.application.run("DROP SCHEMA \(other) CASCADE")
    }
  }

  @Test(arguments: [Policy.clearColumn, .deleteRow])
  func `partitioned tables are paged and pruned over all partitions`(_ policy: Policy) async throws {
    try await PostgresScene.run(
      "CREATE TABLE devices (id bigint PRIMARY KEY, token text) PARTITION BY HASH (id)",
      "CREATE TABLE d0 PARTITION OF devices FOR VALUES WITH (MODULUS 3, REMAINDER 0)",
      "CREATE TABLE d1 PARTITION OF devices FOR VALUES WITH (MODULUS 3, REMAINDER 1)",
      "CREATE TABLE d2 PARTITION OF devices FOR VALUES WITH (MODULUS 3, REMAINDER 2)",
      "INSERT INTO devices SELECT i, 'token-' || i FROM generate_series(1, 40) i"
    ) { scene in
      _ = try await scene.enqueue(policy: policy)
      #expect(try await scene.drain(size: 7) == (1...40).map { "token-\($0)" })
      _ = try await scene.enqueue(policy: policy)
      #expect(try await scene.prune(try await scene.claim()).outcomes.allSatisfy { $0 == .pruned })
      #expect(try await scene.application.run("SELECT 1 FROM devices WHERE token IS NOT NULL").isEmpty)
    }
  }

  @Test(arguments: ["", "DEFERRABLE INITIALLY DEFERRED"])
  func `a reference that forbids a deletion spares the row and says why`(_ when: String) async throws {
    try await PostgresScene.run(
      PostgresScene.devices, "CREATE TABLE orders (id int PRIMARY KEY, device bigint REFERENCES devices \(when))"
    ) { scene in
      try await scene.addDevices(4)
      try await scene.application.run("INSERT INTO orders VALUES (1, 2)")
      #expect(try await scene.store.describe("devices").referencedBy == ["orders.device"])
      _ = try await scene.store.enqueue(
        EnqueueRequest(
          definition: .news(Audience("devices", token: "token"), policy: .deleteRow), deletesReferencedRows: true))
      let committed = try await scene.prune(try await scene.claim())
      #expect(committed.outcomes == [.pruned, .spared, .pruned, .pruned])
      #expect(committed.refusals.count == 1 && committed.refusals[0].contains("orders_device_fkey"))
    }
  }

  @Test func `a trigger that swallows a change leaves the row and counts it as spared`() async throws {
    try await PostgresScene.run(
      PostgresScene.devices,
      """
      CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF OLD.id = 2 THEN RETURN NULL; END IF; RETURN NEW; END'
      """, "CREATE TRIGGER swallow BEFORE UPDATE ON devices FOR EACH ROW EXECUTE FUNCTION swallow()"
    ) { scene in
      try await scene.addDevices(3)
      _ = try await scene.enqueue()
      #expect(try await scene.prune(try await scene.claim()).outcomes == [.pruned, .spared, .pruned])
    }
  }

  @Test func `words of the database show no token`() async throws {
    try await PostgresScene.run(
      "CREATE TABLE devices (id int PRIMARY KEY, token text UNIQUE, UNIQUE NULLS NOT DISTINCT (token))"
    ) { scene in
      try await scene.application.run(
        "INSERT INTO devices VALUES (1, 'secret-token-of-somebody'), (2, 'another-token-of-somebody'), (3, NULL)")
      _ = try await scene.enqueue()
      let committed = try await scene.prune(try await scene.claim())
      #expect(committed.outcomes == [.spared, .spared])
      #expect(committed.refusals.allSatisfy { !$0.contains("of-somebody") && $0.contains("unique constraint") })
    }
  }
}
