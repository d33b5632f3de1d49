import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestKit
import ZonaiTestServers

/// Tokens that a column was too short for, as a server without strict mode keeps them.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(10)))
struct CutOffTests {
  @Test func `tokens that the column cut off are kept and named, the dead ones are cleared`() async throws {
    let scene = try await MySQLScene(
      "CREATE TABLE devices (id INT PRIMARY KEY, token VARCHAR(100), platform VARCHAR(10))",
      // As an application's session does.
      "SET SESSION sql_mode = ''")
    let fcm = ScriptedTransport(Lane(transport: .fcm, fingerprint: "project"), clock: TurnableClock(now: 0))
    let letters = "abcdefghij".map { String($0) }
    for id in 1...300 {
      let isLong = id.isMultiple(of: 10)
      let token = "token-\(id)-" + String(repeating: letters[id % 7], count: 140)
      let given = String(token.prefix(isLong ? 140 : 90))
      try await scene.application.run("INSERT INTO devices VALUES (\(id), '\(given)', 'android')")
      if isLong { fcm.answer(String(given.prefix(100)), with: .suspect(.tokenNamed), times: .max) }
      if id == 7 { fcm.answer(given, with: .dead, times: .max) }
      // Malformed, and not as long as the column: circumstantial evidence with a witness.
      if id == 8 { fcm.answer(given, with: .suspect(.tokenNamed), times: .max) }
    }
    let zonai = try Zonai(store: scene.store, transports: [fcm])
    let audience = Audience("devices", token: "token", platform: .column("platform"))
    let estimate = try await zonai.count(PushMessage(title: "news"), to: audience)
    #expect(estimate.recipients == 300)
    #expect(estimate.notes.map(\.code) == [.tokensCutOff])
    #expect(
      estimate.notes[0].sentence.hasPrefix(
        "30 of the tokens have exactly the 100 characters that devices.token of type varchar(100) holds"))
    let job = try await zonai.push(PushMessage(title: "news"), to: audience)
    _ = try await zonai.run(only: job.id)
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect([done.counts.delivered, done.counts.pruned, done.counts.transientlyFailed] == [268, 2, 30])
    let kept = done.tally.filter { $0.outcome == .transientlyFailed }
    #expect(kept.map(\.reason) == [.tokenCutOff])
    #expect(kept.first?.detail.hasPrefix("devices.token: the column of type varchar(100) holds 100 characters") == true)
    #expect(
      try await scene.application.rows("SELECT id FROM devices WHERE token IS NULL ORDER BY id") == [["7"], ["8"]])
  }
}
