import Testing
import ZonaiCore
import ZonaiJSON

@testable import ZonaiSQL

/// What Zonai's tables keep as JSON comes back as it was.
@Suite struct CodingTests {
  @Test(arguments: [
    RowKey(.integer(.min), .integer(.max)), RowKey(.text("")), RowKey(.text("a\"\\\n\u{0}\u{1F600}é")),
    RowKey(.text("e\u{301}"), .text("\u{e9}")), RowKey(.bytes([])), RowKey(.bytes([0, 255])), RowKey(.real(0.1)),
    RowKey(.real(1)), RowKey(.real(.infinity)), RowKey(.real(.leastNonzeroMagnitude)), RowKey(.boolean(true)),
    RowKey(.null),
  ])
  func `a key comes back with its types and its bytes`(_ key: RowKey) throws {
    let again = try RowKey(stored: key.stored)
    #expect(again == key)
    #expect(again.identity == key.identity)
  }

  @Test func `two spellings of one text are two keys`() {
    #expect(RowKey(.text("e\u{301}")) == RowKey(.text("\u{e9}")))
    #expect(RowKey(.text("e\u{301}")).identity != RowKey(.text("\u{e9}")).identity)
    #expect(RowKey(.integer(1)).identity != RowKey(.real(1)).identity)
    #expect(RowKey(.text("1")).identity != RowKey(.integer(1)).identity)
  }

  static let group = Group(transport: .apns, fingerprint: "api.push.apple.com TEAM KEY", platform: Platform("iOS"))

  @Test func `an owed recipient comes back`() throws {
    let owed = [
      OwedRecipient(key: RowKey(7)),
      OwedRecipient(
        key: RowKey("a", 1), attempts: 2, freeRepeats: 3, notBefore: 4, outageRounds: 5, outageSince: 6,
        suspectOf: Self.group),
    ]
    #expect(try [OwedRecipient](stored: owed.stored) == owed)
  }

  @Test(arguments: [nil, Value.null, .text("2026-01-01"), .real(1.5), .integer(3)])
  func `a rejection comes back, and a last-seen that was NULL stays apart from none`(_ lastSeen: Value?) throws {
    let rejection = Rejection(
      eventID: "event", key: RowKey(1), token: DeviceToken([0, 39, 255]), lastSeen: lastSeen, group: Self.group,
      evidence: .aboutLane, reason: "BadDeviceToken", status: 400, words: "words", deadSince: 5)
    let again = try Rejection(stored: rejection.stored)
    #expect(again == rejection)
    #expect((again.lastSeen == nil) == (lastSeen == nil))
  }

  @Test func `a definition comes back, its predicate included`() throws {
    let predicate =
      (Column("a") == "x" && !(Column("b") > 3 || Column("c").isNotNull)) && Column("d").in([1, "x", .bytes([1]), 0.5])
      && Column("e").like("a%") && .or([]) && .and([])
    let definition = JobDefinition(
      message: PushMessage(title: "é", data: ["b": "1", "a": "2"]),
      audience: Audience(
        TableName("t", schema: "s"), key: ["id"], token: "token", platform: .fixed(Platform("ios")), lastSeen: "seen",
        where: predicate),
      policy: .deleteRow, routes: Routes(apple: .apns, android: nil, unknown: .fcm), attribution: ["campaign": "x/y"])
    let stored = try StoredDefinition(definition)
    #expect(try stored.decoded() == definition)
    #expect(try StoredDefinition(stored.decoded()) == stored)
  }

  @Test(arguments: ["", "{", "7", "[{}]", "[{\"key\": 7}]"])
  func `what somebody else wrote is an error with a sentence`(_ text: String) {
    let error = #expect(throws: StoreError.self) { try [OwedRecipient](stored: text) }
    #expect(error?.code == .corrupt)
  }

  @Test(arguments: [
    "\u{0}", "[", "[]", "[\"and\", 7]", "[\"not\"]", "[\"~\", \"a\", 1]", "[\"in\", \"a\"]",
  ])
  func `a predicate that nobody knows is refused`(_ text: String) {
    #expect(throws: StoreError.self) { try Predicate(stored: text) }
  }
}

@Suite struct TimedIDTests {
  @Test func `ids rise, also when the clock stands still or goes back`() {
    var last: String?
    for now: Int64 in [1_700_000_000_000, 1_700_000_000_000, 1_600_000_000_000, 1_700_000_000_001, 0] {
      for _ in 0..<5000 {
        let id = TimedID.after(last, now: now).rawValue
        #expect(id > last ?? "")
        last = id
      }
    }
  }

  @Test func `an id is a UUID of version 7 with the time in front`() {
    let id = TimedID.after(nil, now: 0x0123_4567_89AB).rawValue
    #expect(id.wholeMatch(of: /01234567-89ab-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil, "\(id)")
  }
}
