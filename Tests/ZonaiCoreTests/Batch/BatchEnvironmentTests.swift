import Testing
import ZonaiCore

/// A token that APNs calls bad may be alive in its other environment.
@Suite struct BatchEnvironmentTests {
  private static func lanes(_ other: OtherEnvironment) -> [TransportName: LanePlan] {
    [
      .fcm: BatchScript.fcm,
      .apns: LanePlan(lane: BatchScript.apns.lane, fingerprint: "apns", otherEnvironment: other),
    ]
  }

  private static let alive = EnvironmentAnswer.aliveThere(
    Verdict(
      .transientlyFailed, fault: .configuration, reason: "TokenOfOtherEnvironment", words: "alive in the sandbox",
      names: "apns.useSandbox"))

  @Test func `a bad token is pruned only when the other environment does not know it either`() {
    var script = BatchScript(Array(repeating: "ios", count: 30))
    script.answer = { index, _ in index < 4 ? .badDeviceToken : .delivered }
    script.checks = [
      0: .unknownThere, 1: Self.alive, 2: .undecided("the sandbox environment answers 410"), 3: .notAsked,
    ]
    let ending = script.run(lanes: Self.lanes(.canBeAsked))
    #expect(ending.checked == [0, 1, 2, 3])
    #expect(ending.answers?.rejections.map(\.key) == [RowKey(0)])
    #expect(ending.failed == 3)
    #expect(ending.details.contains { $0.contains("apns.useSandbox") && $0.contains("alive in the sandbox") })
    #expect(ending.details.contains { $0.contains("410") })
    #expect(ending.failure == nil)
  }

  @Test func `a token that no answer decides about is kept`() {
    var script = BatchScript(Array(repeating: "ios", count: 30))
    script.answer = { index, _ in index < 2 ? .badDeviceToken : .delivered }
    let ending = script.run(lanes: Self.lanes(.canBeAsked))
    #expect(ending.checked == [0, 1])
    #expect(ending.rejected == 0)
    #expect(ending.failed == 2)
  }

  @Test func `where it cannot be asked, a bad token is kept and the reason is told`() {
    var script = BatchScript(Array(repeating: "ios", count: 30))
    script.answer = { index, _ in index < 2 ? .badDeviceToken : .delivered }
    let ending = script.run(lanes: Self.lanes(.cannotBeAsked("tokens of the push type voip cannot be asked about")))
    #expect(ending.checked == [])
    #expect(ending.rejected == 0)
    #expect(ending.details.contains { $0.contains("voip") })
  }

  @Test func `where all tokens are known to be of this environment, a witness suffices`() {
    var script = BatchScript(Array(repeating: "ios", count: 30))
    script.answer = { index, _ in index < 2 ? .badDeviceToken : .delivered }
    let ending = script.run(lanes: Self.lanes(.none))
    #expect(ending.checked == [])
    #expect(ending.rejected == 2)
  }

  @Test func `nothing is asked about a group without a delivery, which the guard holds back`() {
    var script = BatchScript(Array(repeating: "ios", count: 5))
    script.answer = { _, _ in .badDeviceToken }
    let ending = script.run(lanes: Self.lanes(.canBeAsked))
    #expect(ending.checked == [])
    #expect(ending.rejected == 0)
    #expect(ending.failure?.code == .suspects)
    #expect(ending.owed.count == 5)
  }

  @Test func `in a job of one recipient the record asks for a check, and does not replace it`() {
    let group = BatchScript.group(.apns, "ios")
    for (answer, isRejected) in [(EnvironmentAnswer.unknownThere, true), (Self.alive, false)] {
      var script = BatchScript(["ios"])
      script.isSole = true
      script.answer = { _, _ in .badDeviceToken }
      script.accounts[group] = GroupCounts(recordLastDeliveredAt: BatchScript.start - 1000)
      script.checks = [0: answer]
      let ending = script.run(lanes: Self.lanes(.canBeAsked))
      #expect(ending.checked == [0])
      #expect(ending.rejected == (isRejected ? 1 : 0))
    }
  }

  @Test func `other circumstantial answers are never asked about`() {
    var script = BatchScript(Array(repeating: "ios", count: 30))
    script.answer = { index, _ in index == 0 ? .tokenNamed : index == 1 ? .dead : .delivered }
    let ending = script.run(lanes: Self.lanes(.canBeAsked))
    #expect(ending.checked == [])
    #expect(ending.rejected == 2)
  }

  @Test func `a stop during a check leaves the recipient owed`() throws {
    var script = BatchScript(Array(repeating: "ios", count: 3))
    script.answer = { index, _ in index == 0 ? .badDeviceToken : .delivered }
    var machine = BatchMachine(
      batch: script.claimed(), lanes: Self.lanes(.canBeAsked), retry: RetryPolicy(), seed: 7)
    var now = BatchScript.start
    guard case .go(let dispatches, _) = machine.handle(.started(now: now)) else {
      Issue.record("nothing is sent")
      return
    }
    let dispatch = try #require(dispatches.first)
    let answers = dispatch.selection.map { index in
      let sent = PushAnswer.Sent(order: UInt64(index + 1), credential: 1)
      return index == 0 ? PushAnswer.answered(.badDeviceToken, sent) : .delivered(sent)
    }
    now += 10
    guard
      case .checkEnvironment = machine.handle(
        .answered(dispatch: dispatch.id, PushBatchResult(answers: answers), now: now))
    else {
      Issue.record("the other environment is not asked")
      return
    }
    guard case .revoke = machine.handle(.stopped(.shutdown, now: now)) else {
      Issue.record("the permit is not taken back")
      return
    }
    guard case .settle(.answers(let settled)) = machine.handle(.checked([0: .notAsked], now: now + 10)) else {
      Issue.record("the rest is not settled")
      return
    }
    #expect(settled.owed.map(\.key) == [RowKey(0)])
    #expect(settled.circumstantial.isEmpty)
    #expect(settled.tally.reduce(0) { $0 + $1.count } == 2)
  }
}
