import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiTestServers

/// Keys of PostgreSQL's own types: each row is handed out once, comes back by its key, and is found again when it is pruned.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct KeyTests {
  struct Kind: Sendable, CustomTestStringConvertible {
    let type: String
    /// The keys as SQL writes them, in their order.
    let keys: [String]
    var before: [String] = []
    var testDescription: String { type }
  }

  static let kinds = [
    Kind(type: "smallint", keys: ["-32768", "-1", "0", "9", "10", "32767"]),
    Kind(type: "integer", keys: ["-2147483648", "0", "9", "10", "99", "2147483647"]),
    Kind(type: "varchar(20)", keys: ["''", "'A'", "'a'", "'a '", "'b'", "'ä'", "'12345678901234567890'"]),
    Kind(type: "text COLLATE \"en-x-icu\"", keys: ["'a'", "'A'", "'ä'", "'Ä'", "'b'", "'z'", "'Z'"]),
    Kind(type: "text COLLATE \"de-x-icu\"", keys: ["'.a'", "'a'", "'a.b'", "'ab'", "'é'", "'E'", "'ß'", "'ss'"]),
    Kind(type: "char(4)", keys: ["''", "'A'", "'a'", "'ab'", "'abcd'"]),
    Kind(type: "name", keys: ["'A'", "'a'", "'b'"]),
    Kind(type: "\"char\"", keys: ["'A'", "'a'", "'b'"]),
    Kind(type: "boolean", keys: ["false", "true"]),
    Kind(
      type: "mood", keys: ["'sad'", "'ok'", "'happy'", "'a \"b\"'"],
      before: ["CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'a \"b\"')"]),
    Kind(
      type: "\"odd Mood\"", keys: ["'z'", "'a'"], before: ["CREATE TYPE \"odd Mood\" AS ENUM ('z', 'a')"]),
    Kind(
      type: "short", keys: ["'a'", "'ab'", "'b'"],
      before: ["CREATE DOMAIN longer AS varchar(8)", "CREATE DOMAIN short AS longer CHECK (length(VALUE) < 3)"]),
    Kind(type: "numeric", keys: ["'-Infinity'", "-1.5", "0", "0.1", "0.10000000000000000000000001", "1e40", "'NaN'"]),
    Kind(type: "numeric(30,4)", keys: ["-1.0001", "0", "9007199254740993.0001", "9007199254740993.0002"]),
    Kind(
      type: "double precision",
      keys: ["'-Infinity'", "-1e300", "0", "0.1", "0.30000000000000004", "'Infinity'", "'NaN'"]),
    Kind(type: "real", keys: ["-0.1", "0", "0.1", "16777216", "'NaN'"]),
    Kind(type: "date", keys: ["'-infinity'", "'0044-03-15 BC'", "'1582-10-15'", "'2026-02-28'", "'infinity'"]),
    Kind(
      type: "timestamptz",
      keys: [
        "'-infinity'", "'2026-03-29 01:30:00.000001+02'", "'2026-03-29 01:30:00+00'", "'294276-01-01+00'", "'infinity'",
      ]),
    Kind(type: "time", keys: ["'00:00'", "'12:00:00.000001'", "'24:00'"]),
    Kind(type: "interval", keys: ["'-1 day'", "'1 second'", "'1 mon'", "'1 year 2 mons 3 days 04:05:06.789'"]),
    Kind(type: "inet", keys: ["'10.0.0.1'", "'10.0.0.2/8'", "'::1'"]),
    Kind(type: "macaddr", keys: ["'08:00:2b:01:02:03'", "'08:00:2b:01:02:04'"]),
    Kind(type: "oid", keys: ["0", "9", "10", "4294967295"]),
    Kind(type: "bit varying", keys: ["B''", "B'0'", "B'01'", "B'1'"]),
    Kind(type: "money", keys: ["'-1.00'::money", "'0'::money", "'1234567.89'::money"]),
    Kind(type: "jsonb", keys: ["'1'", "'\"a\"'", "'{\"a\": \"b,\\\"c\\\"\"}'"]),
    Kind(type: "int4range", keys: ["'empty'", "'[1,3)'", "'[2,)'"]),
  ]

  @Test(arguments: kinds)
  func `every key is paged, owed and pruned by its own type`(_ kind: Kind) async throws {
    try await PostgresScene.run { scene in
      try await scene.application.runAll(kind.before)
      try await scene.application.run("CREATE TABLE keyed (k \(kind.type) PRIMARY KEY, token text)")
      for (number, key) in kind.keys.enumerated().reversed() {
        try await scene.application.run("INSERT INTO keyed VALUES (\(key), 'token-\(number)')")
      }
      let job = try await scene.enqueue(Audience("keyed", token: "token"))
      var handed: [String] = []
      while handed.count < kind.keys.count {
        let batch = try await scene.claim(size: 2)
        _ = try await scene.store.settle(.answers(batch.givenBack()))
        let again = try await scene.claim(size: 2)
        #expect(again.tokens.sorted() == batch.tokens.sorted())
        let committed = try await scene.prune(again)
        #expect(committed.outcomes.allSatisfy { $0 == .pruned })
        handed += batch.tokens
      }
      let ordered = try await scene.application.run("SELECT k FROM keyed ORDER BY k")
      #expect(ordered.count == kind.keys.count)
      #expect(Set(handed).count == kind.keys.count && handed.count == kind.keys.count)
      #expect(try await scene.job(job).state == .completed)
      #expect(try await scene.application.run("SELECT 1 FROM keyed WHERE token IS NOT NULL").isEmpty)
    }
  }

  @Test(arguments: [
    ("citext", "citext"), ("text COLLATE anycase", "anycase"), ("integer[]", "array"), ("nocase", "citext"),
  ])
  func `a key that holds different values equal, or cannot be listed, is refused`(
    _ type: String, _ reason: String
  ) async throws {
    try await PostgresScene.run(
      "CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
      "CREATE DOMAIN nocase AS citext"
    ) { scene in
      try await scene.application.run("CREATE TABLE keyed (k \(type) PRIMARY KEY, token text)")
      let error = await failure { try await scene.enqueue(Audience("keyed", token: "token")) }
      #expect(error?.code == .noUsableKey)
      #expect(error?.sentence.contains(reason) == true)
    }
  }

  @Test func `a composite key of several types goes column by column`() async throws {
    try await PostgresScene.run(
      """
      CREATE TABLE keyed (c "char" NOT NULL, n smallint, u uuid, t timestamptz, token text,
      PRIMARY KEY (u, n, t))
      """
    ) { scene in
      try await scene.application.run(
        """
        INSERT INTO keyed SELECT 'x', n, ('00000000-0000-4000-8000-00000000000' || u)::uuid, to_timestamp(t / 7.0), u * 100 + n * 10 + t
        FROM generate_series(1, 3) u, generate_series(1, 3) n, generate_series(1, 3) t
        """)
      _ = try await scene.enqueue(Audience("keyed", token: "token"))
      let expected = (1...3).flatMap { u in (1...3).flatMap { n in (1...3).map { "\(u * 100 + n * 10 + $0)" } } }
      #expect(try await scene.drain(size: 4) == expected)
    }
  }
}
