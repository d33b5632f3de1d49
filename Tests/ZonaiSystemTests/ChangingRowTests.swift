import Synchronization
import Testing
import ZonaiCore
import ZonaiJSON

/// Rows that change while the message is on its way, in a table whose names are as odd as its tokens.
@Suite(.timeLimit(.minutes(3)))
struct ChangingRowTests {
  /// When the application changes its rows.
  enum Moment: String, Sendable, CaseIterable {
    /// All answers are there, and none was settled.
    case afterTheSend
    /// The hook holds the row, and the prune is yet to come.
    case inTheHook
  }

  private static let table = #""push ""tokens"", select""#
  private static let audience = Audience(
    TableName(#"push "tokens", select"#), key: ["primary key"], token: "the 'token'", platform: .column("group"),
    lastSeen: "last seen")

  private static let sketch = """
    CREATE TABLE \(table) ("primary key" INTEGER PRIMARY KEY, "the 'token'" TEXT, "group" TEXT, "last seen" INTEGER);
    CREATE TABLE orders (device INTEGER REFERENCES \(table) ("primary key"))
    """

  private enum Tokens {
    static func plain(_ id: Int) -> String { Device.android(id).token }
    static let long = String(repeating: "L", count: 4096)
    /// No service knows these: FCM says that they are malformed.
    static let odd = "it's \"odd\"\nand; DROP TABLE devices --"
  }

  private func fill(_ stage: Stage) throws {
    var rows = (1...60).map { ($0, Tokens.plain($0)) }
    rows[8 - 1].1 = Tokens.plain(7)
    rows[9 - 1].1 = Tokens.long
    rows[10 - 1].1 = Tokens.odd
    let values = rows.map { "(\($0.0), \(quoted($0.1)), 'android', 1000)" }.joined(separator: ",")
    try stage.database.run(
      """
      INSERT INTO \(Self.table) VALUES \(values);
      INSERT INTO \(Self.table) VALUES (61, NULL, 'android', 1000), (62, '', 'android', 1000);
      INSERT INTO orders VALUES (12);
      CREATE TRIGGER guard BEFORE UPDATE ON \(Self.table) WHEN OLD."primary key" = 11 AND NEW."the 'token'" IS NULL
      BEGIN SELECT RAISE(ABORT, 'the application says no'); END;
      CREATE TRIGGER guard2 BEFORE DELETE ON \(Self.table) WHEN OLD."primary key" = 11
      BEGIN SELECT RAISE(ABORT, 'the application says no'); END
      """)
  }

  private static func change(_ stage: Stage) throws {
    func set(_ what: String, of id: Int) -> String { #"UPDATE \#(table) SET \#(what) WHERE "primary key" = \#(id);"# }
    func token(_ text: String) -> String { #""the 'token'" = \#(quoted(text))"# }
    try stage.database.run(
      [
        set(token("anew-2"), of: 2),
        set(#""last seen" = 2000"#, of: 3),
        #"DELETE FROM \#(table) WHERE "primary key" IN (4, 14);"#,
        set(token(Tokens.plain(6)), of: 5),
        set(token(Tokens.plain(5)), of: 6),
        set(token("anew-13"), of: 13),
        "INSERT INTO \(table) VALUES (1000, 'inserted', 'android', 2000);",
      ].joined(separator: "\n"))
  }

  @Test(arguments: Moment.allCases, [Policy.clearColumn, .deleteRow])
  func `only the row that was sent to, as it was sent to, is pruned`(_ moment: Moment, _ policy: Policy) async throws {
    try await Stage.with(table: Self.sketch) { stage in
      try fill(stage)
      for id in [1, 2, 3, 4, 5, 6, 7, 11, 12] {
        try await stage.simulator.control("PUT", "/devices/\(Tokens.plain(id))", ["state": "uninstalled"])
      }
      try await stage.simulator.control("PUT", "/devices/\(Tokens.long)", ["state": "uninstalled"])
      let isChanged = Mutex(false)
      let changed = Mutex<Result<Void, any Error>>(.success(()))
      @Sendable func changeOnce() {
        isChanged.withLock { done in
          guard !done else { return }
          done = true
          let result = Result { try Self.change(stage) }
          changed.withLock { $0 = result }
        }
      }
      let heard = Mutex<[Int64: Row]>([:])
      let zonai = try await stage.zonai(
        [stage.fcm()],
        options: {
          $0.batchSize = 100
          $0.firstBatchSize = 100
        },
        hook: { rejection in
          if moment == .inTheHook { changeOnce() }
          if case .integer(let id)? = rejection.row["primary key"] { heard.withLock { $0[id] = rejection.row } }
          return .followPolicy
        },
        observer: { event in
          if moment == .afterTheSend, case .sent = event { changeOnce() }
        })
      let done = try await zonai.push(to: Self.audience, policy: policy)
      try changed.withLock { try $0.get() }

      #expect(done.state == .completed)
      #expect(done.counts.delivered == 60 - 12)
      #expect(try await stage.inbox.total == 48)
      #expect(!(try await stage.inboxTokens.contains("inserted")))
      // 12 is referenced, which only hinders a deletion.
      let refused = policy == .deleteRow ? 2 : 1
      #expect(done.counts.spared == 5 + refused, "changed, gone, swapped, or refused")
      #expect(done.counts.pruned == 12 - 5 - refused)
      #expect(stage.events.count { if case .pruneRefused = $0 { true } else { false } } == refused)
      #expect(done.details(.spared).contains { $0.contains("the application says no") })

      let hooks = heard.withLock { Set($0.keys) }
      let unchanged: Set<Int64> = [1, 7, 8, 9, 10, 11, 12]
      #expect(hooks.isSuperset(of: unchanged))
      if moment == .afterTheSend { #expect(hooks == unchanged, "of a row that changed nobody is told") }

      let after = try stage.database.rows(#"SELECT "primary key", "the 'token'" FROM \#(Self.table) ORDER BY 1"#)
      let pruned = policy == .deleteRow ? [1, 7, 8, 9, 10] : [1, 7, 8, 9, 10, 12]
      var expected: [[String?]] = (1...60).map { ["\($0)", Tokens.plain($0)] }
      expected[2 - 1][1] = "anew-2"
      expected[5 - 1][1] = Tokens.plain(6)
      expected[6 - 1][1] = Tokens.plain(5)
      expected[13 - 1][1] = "anew-13"
      for id in pruned { expected[id - 1][1] = nil }
      expected += [["61", nil], ["62", ""], ["1000", "inserted"]]
      let gone = [4, 14] + (policy == .deleteRow ? pruned : [])
      expected.removeAll { row in gone.contains { row[0] == "\($0)" } }
      #expect(after == expected)
    }
  }

  @Test func `an empty audience completes and asks no service`() async throws {
    try await Stage.with([.android(1), .ios(2)]) { stage in
      var audience = stage.audience
      audience.predicate = Column("id") > 2
      let done = try await stage.zonai().push(to: audience)
      #expect(done.state == .completed)
      #expect(done.counts.settled == 0)
      #expect(try await stage.requests("fcm") + stage.requests("oauth") + stage.requests("apns") == 0)
    }
  }

  @Test func `rows that come and go between the pages make nobody skipped or sent to twice`() async throws {
    // Every third id is there at first.
    let devices = (1...600).map { Device.android($0 * 3) }
    try await Stage.with(devices) { stage in
      let batches = Mutex(0)
      let broken = Mutex<Result<Void, any Error>>(.success(()))
      let zonai = try await stage.zonai(
        options: {
          $0.batchSize = 50
          $0.batchesInFlight = 2
        },
        observer: { event in
          guard case .sent = event else { return }
          let number = batches.withLock { count in
            count += 1
            return count
          }
          guard number <= 10 else { return }
          // One goes far ahead and far behind; others come in every gap of that stretch.
          let doomed = [3 * (600 - number), 3 * number]
          let born = (0..<20).map { Device.android(number * 150 + $0 * 3 + 1) }
          let rows = born.map { "(\($0.id), \(quoted($0.token)), 'android')" }.joined(separator: ",")
          let result = Result {
            try stage.database.run(
              """
              DELETE FROM devices WHERE id IN (\(doomed[0]), \(doomed[1]));
              INSERT INTO devices (id, token, platform) VALUES \(rows)
              """)
          }
          if case .failure = result { broken.withLock { $0 = result } }
        })
      let done = try await zonai.push(to: stage.audience)
      try broken.withLock { try $0.get() }
      #expect(done.state == .completed)
      let inbox = try await stage.inboxTokens
      #expect(Set(inbox).count == inbox.count, "nobody twice")
      #expect(inbox.count == done.counts.delivered)
      let gone = Set((1...10).flatMap { [3 * (600 - $0), 3 * $0] })
      let owed = Set(devices.filter { !gone.contains($0.id) }.map(\.token))
      #expect(owed.subtracting(inbox).isEmpty, "nobody skipped")
    }
  }
}
