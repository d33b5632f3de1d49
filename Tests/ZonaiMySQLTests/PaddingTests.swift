import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestKit
import ZonaiTestServers

/// Columns of CHAR and BINARY, which the server fills up.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(10)))
struct PaddingTests {
  @Test(arguments: ["BINARY(200)", "CHAR(200)", "CHAR(200) CHARACTER SET latin1", "VARBINARY(200)", "VARCHAR(200)"])
  func `a whole job sends the tokens that were stored, and clears the dead one alone`(_ type: String) async throws {
    let scene = try await MySQLScene()
    try await scene.application.run(
      "CREATE TABLE devices (id BINARY(6) PRIMARY KEY, token \(type), platform CHAR(10), seen CHAR(40))")
    let isPadded = !type.hasPrefix("VAR")
    for id in 1...30 {
      let token = "token-\(id)" + (id == 5 && !isPadded ? "  " : "")
      try await scene.application.run("INSERT INTO devices VALUES ('\(id)', '\(token)', 'android', '2026-01-02')")
    }
    // Nothing but padding is not a token; a key may end in a zero.
    if isPadded { try await scene.application.run("INSERT INTO devices VALUES (X'3100000000AA', '', 'android', '')") }
    let optionFile = try OptionFile("[zonai]\ninit-command=SET SESSION sql_mode='PAD_CHAR_TO_FULL_LENGTH'\n")
    let store = try MySQLStore(url: scene.database.url + "?option-file=" + optionFile.path)
    let fcm = ScriptedTransport(Lane(transport: .fcm, fingerprint: "project"), clock: TurnableClock(now: 0))
    fcm.answerEverybody(with: .suspect(.tokenNamed))
    for id in 1...30 {
      let token = "token-\(id)" + (id == 5 && !isPadded ? "  " : "")
      fcm.answer(token, with: id == 3 ? .dead : .delivered, times: .max)
    }
    let zonai = try Zonai(store: store, transports: [fcm])
    let job = try await zonai.push(
      PushMessage(title: "news"),
      to: Audience("devices", token: "token", platform: .column("platform"), lastSeen: "seen"))
    let done = try await zonai.run(only: job.id)
    #expect(done.counts.delivered == 29)
    #expect(done.counts.pruned == 1)
    #expect(fcm.sent.count == 30)
    #expect(
      try await scene.application.rows("SELECT TRIM(TRAILING '\\0' FROM id) FROM devices WHERE token IS NULL") == [
        ["3"]
      ])
    await store.close()
  }

  @Test func `the hook's row holds the token as it was sent, and other bytes whole`() async throws {
    let scene = try await MySQLScene(
      "CREATE TABLE devices (id BINARY(4) PRIMARY KEY, token BINARY(20), tag BINARY(3))",
      "INSERT INTO devices VALUES (X'01000000', 'abc', X'0100'), (X'0100', 'abd', NULL) ON DUPLICATE KEY UPDATE tag = tag"
    )
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim()
    #expect(batch.keys == [RowKey(.bytes([1, 0, 0, 0]))])
    #expect(batch.tokens == ["abc"])
    let rejections = [batch.rejection(0)]
    _ = try await scene.store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
    guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
    #expect(rows[0]?["token"] == .bytes(Array("abc".utf8)))
    #expect(rows[0]?["tag"] == .bytes([1, 0, 0]))
  }

  @Test(
    arguments: [
      ("VARCHAR(100)", .characters(100)), ("CHAR(64) CHARACTER SET ascii", .characters(64)), ("TINYTEXT", .bytes(255)),
      ("VARBINARY(100)", .bytes(100)), ("BINARY(64)", .bytes(64)), ("TEXT", .bytes(65_535)), ("INT", nil),
      ("ENUM('a', 'b')", nil), ("DATETIME", nil),
    ] as [(String, ColumnCapacity?)])
  func `the description tells how much a column holds`(_ type: String, _ capacity: ColumnCapacity?) async throws {
    let scene = try await MySQLScene("CREATE TABLE devices (id INT PRIMARY KEY, token \(type))")
    #expect(try await scene.store.describe("devices").column("token")?.capacity == capacity)
  }
}
