import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiTestServers

/// Token and last-seen columns of PostgreSQL's own types: a prune meets the token that was sent, byte by byte.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct TokenTests {
  static let types = [
    "text", "varchar(200)", "char(40)", "citext", "text COLLATE anycase", "text COLLATE \"en-x-icu\"", "bytea",
    "token_domain", "name",
  ]

  private static let anycase =
    "CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"

  @Test(arguments: types)
  func `a token of this type is read, pruned, and spared when it was replaced by one that differs in case alone`(
    _ type: String
  ) async throws {
    try await PostgresScene.run(TokenTests.anycase, "CREATE DOMAIN token_domain AS varchar(99)") { scene in
      func value(_ token: String) -> String { "'\(token)'" }
      try await scene.application.run("CREATE TABLE devices (id integer PRIMARY KEY, token \(type))")
      for (id, token) in ["abcDEF-1", "abcDEF-2", "it''s-3"].enumerated() {
        try await scene.application.run("INSERT INTO devices VALUES (\(id + 1), \(value(token)))")
      }
      try await scene.application.run("INSERT INTO devices VALUES (4, ''), (5, NULL)")
      _ = try await scene.enqueue()
      let batch = try await scene.claim()
      #expect(batch.recipients.count == 3)
      try await scene.application.run("UPDATE devices SET token = \(value("ABCdef-2")) WHERE id = 2")
      let rejections = (0..<3).map { batch.rejection($0) }
      _ = try await scene.store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
      guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
      #expect(rows.map { $0?["id"] } == [1, nil, 3])
      guard
        case .committed(let committed) = try await scene.store.settle(
          .prunes(BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) })))
      else { throw TestFailure("lost") }
      #expect(committed.outcomes == [.pruned, .spared, .pruned])
      let left = try await scene.application.run("SELECT id FROM devices WHERE token IS NOT NULL ORDER BY id")
      #expect(left.compactMap { $0[0] } == ["2", "4"])
    }
  }

  static let moments = [
    ("timestamptz", "'2026-03-29 01:30:00.123456+02'", "'2026-03-29 01:30:00.123457+02'"),
    ("timestamptz", "'infinity'", "'2026-01-01+00'"),
    ("timestamp", "'2026-03-29 02:30:00.000001'", "'2026-03-29 02:30:00'"),
    ("date", "'2026-03-29'", "'2026-03-30'"), ("bigint", "1700000000000", "1700000000001"),
    ("numeric", "1700000000.000001", "1700000000.000002"), ("double precision", "1700000000.1", "1700000000.2"),
    ("real", "0.1", "0.2"), ("text", "'2026-03-29T01:30:00Z'", "'2026-03-29t01:30:00Z'"),
    ("text COLLATE anycase", "'2026-03-29T01:30:00Z'", "'2026-03-29t01:30:00z'"), ("citext", "'a'", "'A'"),
    ("json", "'{\"a\": 1}'", "'{\"a\":1}'"), ("boolean", "true", "false"), ("timetz", "'12:00:00+02'", "'11:00:00+01'"),
  ]

  @Test(arguments: moments)
  func `a last-seen value of this type is compared as it was read`(
    _ type: String, _ value: String, _ other: String
  ) async throws {
    try await PostgresScene.run(TokenTests.anycase) { scene in
      try await scene.application.runAll([
        "CREATE TABLE devices (id integer PRIMARY KEY, token text, seen \(type))",
        "INSERT INTO devices VALUES (1, 'a', \(value)), (2, 'b', \(value)), (3, 'c', NULL), (4, 'd', NULL), (5, 'e', \(value))",
      ])
      _ = try await scene.enqueue(Audience("devices", token: "token", lastSeen: "seen"))
      let batch = try await scene.claim()
      try await scene.application.runAll([
        "UPDATE devices SET seen = \(other) WHERE id = 2", "UPDATE devices SET seen = \(value) WHERE id = 4",
        "UPDATE devices SET seen = NULL WHERE id = 5",
      ])
      #expect(try await scene.prune(batch).outcomes == [.pruned, .spared, .pruned, .spared, .spared])
    }
  }
}
