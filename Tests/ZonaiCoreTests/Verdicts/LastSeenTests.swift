import Testing

@testable import ZonaiCore

struct LastSeenTests {
  static let moment: Int64 = 1_767_323_045_000  // 2026-01-02 03:04:05 UTC

  private static let second: Int64 = moment + 999
  private static let minute: Int64 = moment - 5000 + 59_999
  private static let day: Int64 = 1_767_398_399_999

  @Test(
    arguments: [
      // Whole seconds: what rounds and what cuts off both end by then.
      (.integer(1_767_323_045), second), (.text("1767323045"), second), (.real(1_767_323_045), second),
      (.integer(moment), second), (.real(Double(moment)), second), (.text("\(moment)"), second),
      (.text("2026-01-02T03:04:05Z"), second), (.text("2026-01-02 03:04:05"), second),
      (.text("2026-01-02 03:04:05.000"), second), (.text("2026-01-02 03:04:05.000000"), second),
      (.text("2026-01-02T05:04:05+02:00"), second), (.text("2026-01-02 03:04:05+00"), second),
      (.text("2026-01-01T21:34:05-0530"), second), (.text("2026-01-02t03:04:05z"), second),
      (.text(" 2026-01-02 03:04:05 UTC "), second), (.text("2026-01-02 05:04:05 GMT+02:00"), second),
      // Fractions, as far as they are written.
      (.integer(moment + 123), moment + 123), (.real(Double(moment) + 123), moment + 123),
      (.real(1_767_323_045.25), moment + 250), (.text("1767323045.25"), moment + 259),
      (.text("2026-01-02T03:04:05.123456Z"), moment + 123), (.text("2026-01-02 03:04:05,5"), moment + 599),
      (.text("2026-01-02 03:04:05.12"), moment + 129), (.text("2026-01-02 03:04:05.1230"), moment + 123),
      (.text("2026-01-02 03:04:05.1239999999999999999999"), moment + 123),
      // Microseconds and nanoseconds since 1970.
      (.integer(1_767_323_045_123_456), moment + 123), (.integer(1_767_323_045_000_001), moment),
      (.text("2026-01-02 03:04:05.000001"), moment), (.integer(1_767_323_045_123_456_789), moment + 123),
      (.text("1767323045123456"), moment + 123), (.integer(1_767_323_045_000_000), second),
      // Minutes and days.
      (.text("2026-01-02T03:04Z"), minute), (.text("2026-01-02"), day), (.text("2026-01-02 00:00:00"), day),
      (.text("2026-01-02T02:00:00+02:00"), 1_767_312_000_999), (.text("2026-01-02T00:00:00+02:00"), day - 7_200_000),
      (.integer(1_767_312_000), day), (.integer(0), 0), (.text("0"), 0),
      // Dates in words: JavaScript's Date, mail, C.
      (.text("Fri Jan 02 2026 05:04:05 GMT+0200 (Central African Time)"), second),
      (.text("Fri, 02 Jan 2026 03:04:05 GMT"), second), (.text("Fri, 2 Jan 2026 05:04:05 +0200"), second),
      (.text("Fri Jan  2 03:04:05 2026"), second),
    ] as [(Value, Int64)])
  func `a registration time is the latest moment that it can mean`(value: Value, expected: Int64) {
    #expect(LastSeen.milliseconds(value) == expected)
  }

  @Test(
    arguments: [
      .null, .boolean(true), .bytes([1]), .text(""), .text(" "), .text("yesterday"), .text("2026-02-30"),
      .text("02.01.2026"), .text("2026-01-02T25:00:00Z"), .text("2026-01-02T03:04:05 CET"),
      .text("2026-01-02T03:04:05."), .text("2026-01-02T"), .text("0000-00-00 00:00:00"), .text("infinity"),
      .text("Fri Jan 32 2026 03:04:05 GMT"), .text("Fri Jan 02 2026 03:04:05 CET"),
      .text("nan"), .text("inf"), .real(.nan), .real(.infinity), .real(2_460_000.5), .integer(20_260_102), .integer(-1),
      .integer(639_030_000_000_000_000), .integer(.min), .real(-1e300),
    ] as [Value])
  func `what cannot be read is nil`(value: Value) { #expect(LastSeen.milliseconds(value) == nil) }

  @Test(
    arguments: [
      // Registered 0.8 s after a full second, stored to the second; Apple saw the death 0.5 s
      // before.
      (.integer(1_767_323_045), moment + 300, false), (.text("2026-01-02 03:04:05"), moment + 999, true),
      (.text("2026-01-02 03:04:05"), moment + 998, false), (.text("2026-01-02"), moment, false),
      (.text("2026-01-02 03:04"), moment, false), (.text("2026-01-02 03:04"), minute, true),
    ] as [(Value, Int64, Bool)])
  func `a death within the second, minute or day of the registration spares the row`(
    seen: Value, death: Int64, rejects: Bool
  ) {
    let dead = APNsVerdicts.verdict(
      for: APNsAnswer(status: 410, body: .service, reason: "Unregistered", timestamp: death))
    #expect((dead.considering(lastSeen: seen).outcome == .permanentlyRejected) == rejects)
  }

  static let dead = APNsVerdicts.verdict(
    for: APNsAnswer(status: 410, body: .service, reason: "Unregistered", timestamp: moment))

  @Test(
    arguments: [
      (moment - 1, true), (moment, true), (moment + 1, false), (nil, false),
    ] as [(Int64?, Bool)])
  func `a death older than the registration spares the row`(lastSeen: Int64?, rejects: Bool) {
    let verdict = Self.dead.consideringLastSeen(lastSeen)
    #expect((verdict.outcome == .permanentlyRejected) == rejects)
    #expect(verdict.inShort == (rejects ? Kind.dead : "transientlyFailed recipient - never"))
    #expect(verdict.reason == "Unregistered")
    #expect(verdict.deadSince == Self.moment)
  }

  @Test func `a column that says nothing spares nobody, one that cannot be read does`() {
    #expect(Self.dead.considering(lastSeen: nil).outcome == .permanentlyRejected)
    #expect(Self.dead.considering(lastSeen: .null).outcome == .permanentlyRejected)
    #expect(Self.dead.considering(lastSeen: "2025-01-01").outcome == .permanentlyRejected)
    #expect(Self.dead.considering(lastSeen: "2027-01-01").outcome == .transientlyFailed)
    #expect(Self.dead.considering(lastSeen: "yesterday").outcome == .transientlyFailed)
  }

  @Test(
    arguments: [
      (1, "less than a minute"), (59_999, "less than a minute"), (60_000, "less than an hour"),
      (5_400_000, "less than a day"), (86_400_000, "less than 30 days"), (2_592_000_000, "30 days or more"),
      (Int64.max - moment, "30 days or more"),
    ] as [(Int64, String)])
  func `a row that is kept says by how much its last-seen is later, in a handful of steps`(later: Int64, word: String) {
    let kept = Self.dead.consideringLastSeen(Self.moment + later)
    #expect(kept.detail == "kept: its last-seen is later than the time of death that APNs names, by \(word)")
    #expect(kept.reason == "Unregistered")
  }

  @Test func `a row that is kept since its last-seen cannot be read says so`() {
    #expect(
      Self.dead.considering(lastSeen: "yesterday").detail
        == "kept: its last-seen cannot be read as a time, so it may be later than the death that APNs names")
  }

  @Test func `without a time of death the last-seen time says nothing`() {
    let unregistered = FCMVerdicts.verdict(for: FCMBodies.json(404, "NOT_FOUND", nil, code: "UNREGISTERED"))
    #expect(unregistered.considering(lastSeen: "2099-01-01") == unregistered)
    #expect(unregistered.consideringLastSeen(nil) == unregistered)
    #expect(Verdict.delivered.consideringLastSeen(nil) == .delivered)
  }
}
