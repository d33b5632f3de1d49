import Testing

@testable import ZonaiCore

struct LastSeenTests {
  static let moment: Int64 = 1_767_323_045_000  // 2026-01-02 03:04:05 UTC

  @Test(
    arguments: [
      (.integer(1_767_323_045), moment), (.integer(moment), moment), (.real(1_767_323_045.25), moment + 250),
      (.real(Double(moment)), moment), (.integer(0), 0), (.text("1767323045"), moment), (.text("\(moment)"), moment),
      (.text("2026-01-02T03:04:05Z"), moment), (.text("2026-01-02 03:04:05"), moment),
      (.text("2026-01-02T03:04:05.123456Z"), moment + 123), (.text("2026-01-02 03:04:05,5"), moment + 500),
      (.text("2026-01-02 03:04:05.1239999999999999999999"), moment + 123),
      (.text("2026-01-02T05:04:05+02:00"), moment), (.text("2026-01-02 03:04:05+00"), moment),
      (.text("2026-01-01T21:34:05-0530"), moment), (.text("2026-01-02t03:04:05z"), moment),
      (.text(" 2026-01-02 03:04:05 UTC "), moment), (.text("2026-01-02T03:04Z"), moment - 5000),
      (.text("2026-01-02"), 1_767_398_399_999),
    ] as [(Value, Int64)])
  func `a registration time is read as applications write it`(value: Value, expected: Int64) {
    #expect(LastSeen.milliseconds(value) == expected)
  }

  @Test(
    arguments: [
      .null, .boolean(true), .bytes([1]), .text(""), .text("yesterday"), .text("2026-02-30"), .text("02.01.2026"),
      .text("2026-01-02T25:00:00Z"), .text("2026-01-02T03:04:05 CET"), .text("2026-01-02T03:04:05."),
      .text("2026-01-02T"),
      .text("nan"), .text("inf"), .real(.nan), .real(.infinity), .real(2_460_000.5), .integer(20_260_102), .integer(-1),
      .integer(1_767_323_045_000_000), .integer(.max), .integer(.min), .real(-1e300),
    ] as [Value])
  func `what cannot be read is nil`(value: Value) { #expect(LastSeen.milliseconds(value) == nil) }

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

  @Test func `without a time of death the last-seen time says nothing`() {
    let unregistered = FCMVerdicts.verdict(for: FCMBodies.json(404, "NOT_FOUND", nil, code: "UNREGISTERED"))
    #expect(unregistered.considering(lastSeen: "2099-01-01") == unregistered)
    #expect(unregistered.consideringLastSeen(nil) == unregistered)
    #expect(Verdict.delivered.consideringLastSeen(nil) == .delivered)
  }
}
