import Foundation
import Testing
import ZonaiCore
import ZonaiTestServers

/// What PostgreSQL's own types make of predicates and tokens.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(5)))
struct PredicateTests {
  @Test(arguments: ["text[]", "varchar(200)[]", "json", "jsonb"])
  func `a column that holds many tokens is refused with what to do`(_ type: String) async throws {
    try await PostgresScene.run("CREATE TABLE t (id bigint PRIMARY KEY, tokens \(type))") {
      (scene: PostgresScene) async throws in
      for policy in [Policy.clearColumn, .deleteRow, .none] {
        let error = await #expect(throws: StoreError.self) {
          try await scene.enqueue(Audience("t", token: "tokens"), policy: policy)
        }
        #expect(error?.code == .noSingleToken)
        #expect(error?.sentence.contains("with one token a row") == true)
        #expect(error?.wasFoundBeforeWriting == true)
      }
      let jobs = try await scene.application.run("SELECT count(*) FROM zonai_jobs")
      #expect(jobs == [["0"]])
    }
  }

  @Test func `the statement that the refusal shows makes a table that can be pushed to`() async throws {
    try await PostgresScene.run(
      "CREATE TABLE users (id bigint PRIMARY KEY, tokens text[] DEFAULT '{}')",
      "INSERT INTO users VALUES (1, '{a,b}'), (2, '{c}'), (3, '{}'), (4, NULL)"
    ) { (scene: PostgresScene) async throws in
      let error = await #expect(throws: StoreError.self) {
        try await scene.enqueue(Audience("users", token: "tokens"))
      }
      let sentence = try #require(error?.sentence)
      let made = try #require(
        sentence.range(of: "CREATE TABLE [^,]*, unnest\\(tokens\\) AS token FROM users", options: .regularExpression))
      let key = try #require(sentence.range(of: "ALTER TABLE .*", options: .regularExpression))
      try await scene.application.runAll([String(sentence[made]), String(sentence[key])])
      try await scene.enqueue(Audience("device_tokens", token: "token"))
      let sent = try await scene.drain(size: 10)
      #expect(sent.sorted() == ["a", "b", "c"])
    }
  }

  @Test func `a generated token column is refused as such`() async throws {
    try await PostgresScene.run(
      "CREATE TABLE t (id bigint PRIMARY KEY, raw text, token text GENERATED ALWAYS AS (lower(raw)) STORED)"
    ) { (scene: PostgresScene) async throws in
      let error = await #expect(throws: StoreError.self) { try await scene.enqueue(Audience("t", token: "token")) }
      #expect(error?.code == .tokenNotNullable)
      #expect(error?.sentence.contains("generated from other columns") == true)
      try await scene.enqueue(Audience("t", token: "token"), policy: .none)
    }
  }
}
