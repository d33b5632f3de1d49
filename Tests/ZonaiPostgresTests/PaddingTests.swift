import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiTestKit
import ZonaiTestServers

/// Columns of `character(n)`, which PostgreSQL fills up with blanks.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct PaddingTests {
  @Test(arguments: ["char(200)", "padded", "varchar(200)"])
  func `a whole job sends the tokens that were stored, and clears the dead one alone`(_ type: String) async throws {
    try await PostgresScene.run("CREATE DOMAIN padded AS char(200)") { scene in
      try await scene.application.runAll([
        "CREATE TABLE devices (id char(10) PRIMARY KEY, token \(type), platform char(10))",
        "INSERT INTO devices SELECT lpad(i::text, 4, '0'), 'token-' || i, 'android' FROM generate_series(1, 30) AS i",
        // Blanks that the application stored.
        "UPDATE devices SET token = token || '  ' WHERE id = '0005'",
      ])
      let fcm = ScriptedTransport(Lane(transport: .fcm, fingerprint: "project"), clock: TurnableClock(now: 0))
      // The service knows no token with blanks behind it, except the one that has them.
      fcm.answerEverybody(with: .suspect(.tokenNamed))
      let blanks = type == "varchar(200)" ? "  " : ""
      for id in 1...30 {
        fcm.answer("token-\(id)" + (id == 5 ? blanks : ""), with: id == 3 ? .dead : .delivered, times: .max)
      }
      let zonai = try Zonai(store: scene.store, transports: [fcm])
      let job = try await zonai.push(
        PushMessage(title: "news"), to: Audience("devices", token: "token", platform: .column("platform")))
      let done = try await zonai.run(only: job.id)
      #expect(done.counts.delivered == 29)
      #expect(done.counts.pruned == 1)
      let cleared = try await scene.application.run("SELECT trim(id) FROM devices WHERE token IS NULL")
      #expect(cleared.compactMap { $0[0] } == ["0003"])
      #expect(fcm.sent.count == 30)
    }
  }

  @Test(
    arguments: [
      ("varchar(100)", .characters(100)), ("char(64)", .characters(64)), ("token_domain", .characters(99)),
      ("domain_of_domain", .characters(99)), ("name", .bytes(63)), ("text", nil), ("varchar", nil), ("bpchar", nil),
      ("integer", nil), ("citext", nil), ("bytea", nil),
    ] as [(String, ColumnCapacity?)])
  func `the description tells how much a column holds`(_ type: String, _ capacity: ColumnCapacity?) async throws {
    try await PostgresScene.run(
      "CREATE DOMAIN token_domain AS varchar(99)", "CREATE DOMAIN domain_of_domain AS token_domain"
    ) { scene in
      try await scene.application.run("CREATE TABLE devices (id integer PRIMARY KEY, token \(type))")
      #expect(try await scene.store.describe("devices").column("token")?.capacity == capacity)
    }
  }
}
