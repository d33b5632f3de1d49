import Testing
import ZonaiCore

/// No text that a value makes of itself shows a whole token, wherever in it the token stands.
struct HiddenTokenTests {
  private static let token = String(repeating: "0a1b2c3d", count: 8)
  private static let key = RowKey("news", .text(token))

  private static var recipients: Recipients {
    var recipients = Recipients()
    recipients.append(key: key, token: token, lastSeen: .text(token))
    return recipients
  }

  private static let rejection = Rejection(
    eventID: "event", key: key, token: DeviceToken(token), lastSeen: .text(token),
    group: Group(transport: .fcm, fingerprint: "project", platform: Platform("android")), evidence: .conclusive,
    reason: "UNREGISTERED", status: 404, words: nil, deadSince: nil)

  private static let holders: [any Sendable] = [
    key, Value.text(token), Value.bytes([UInt8](hex: token) ?? []), rejection, OwedRecipient(key: key),
    TokenList([token]), DeviceToken(token), recipients, recipients.keys, [key: rejection],
    BatchAnswers(
      lease: BatchLease(job: JobID(rawValue: "job"), batch: 1, fence: 1), rejections: [rejection],
      owed: [OwedRecipient(key: key)]),
  ]

  @Test(arguments: holders.indices)
  func `a whole token is in no description, no debug description and no dump`(_ index: Int) {
    let holder = HiddenTokenTests.holders[index]
    var dumped = ""
    dump(holder, to: &dumped)
    for text in ["\(holder)", String(reflecting: holder), dumped] {
      #expect(!text.contains(HiddenTokenTests.token))
      #expect(!text.contains(HiddenTokenTests.token.prefix(20)))
    }
  }

  @Test(arguments: [
    (Value.text("news"), "news"), (.integer(7), "7"), (.null, "NULL"),
    (.text("3f2504e0-4f89-11d3-9a0c-0305e82c3301"), "3f2504e0-4f89-11d3-9a0c-0305e82c3301"),
    (.bytes([1, 255]), "01ff"), (.text("abcdefghijklmnopqrstuvwxy"), "abcdef…(25 characters)"),
    (.bytes(Array(repeating: 7, count: 32)), "070707…(32 bytes)"),
  ])
  func `a value is shown short`(_ value: Value, _ text: String) {
    #expect(RowKey(value).description == text)
  }

  @Test func `a short token is hidden too where it is known to be one`() {
    var short = HiddenTokenTests.rejection
    short.token = DeviceToken("android-3")
    short.key = RowKey("android-3")
    #expect(!"\(short)".contains("android-3"))
  }
}
