import Testing
import ZonaiCore

@Suite struct BatchSettlingTests {
  private let now = BatchScript.start

  private func machine(_ script: BatchScript) -> BatchMachine {
    BatchMachine(
      batch: script.claimed(), lanes: [.fcm: BatchScript.fcm, .apns: BatchScript.apns], retry: RetryPolicy(), seed: 3)
  }

  private var dead: Rejection {
    Rejection(
      eventID: "e1", key: RowKey(1), token: DeviceToken("gone"), lastSeen: nil,
      group: BatchScript.group(.fcm, "android"), evidence: .conclusive, reason: "UNREGISTERED", status: 404,
      words: nil, deadSince: nil)
  }

  @Test func `rejections of an earlier claim go to their hooks without a send`() {
    var script = BatchScript([])
    script.rejections = [dead]
    let ending = script.run()
    #expect(ending.sends.isEmpty)
    #expect(ending.answers == nil)
    #expect(ending.prunes?.decisions.map(\.rejection.eventID) == ["e1"])
  }

  @Test func `a row that no longer matches is spared without a hook`() {
    var script = BatchScript([])
    script.rejections = [dead]
    var batch = machine(script)
    guard case .askRows = batch.handle(.started(now: now)),
      case .settle(.prunes(let prunes)) = batch.handle(.rows([nil]))
    else {
      Issue.record("a hook was asked")
      return
    }
    #expect(prunes.decisions.map(\.decision) == [.spare])
  }

  @Test func `a hook that was not asked leaves its rejection recorded`() {
    var script = BatchScript([])
    var second = dead
    second.eventID = "e2"
    script.rejections = [dead, second]
    var batch = machine(script)
    _ = batch.handle(.started(now: now))
    let row = Row(columns: [], values: [])
    _ = batch.handle(.rows([row, row]))
    guard case .settle(.prunes(let prunes)) = batch.handle(.hooked([.keep, nil], failed: 1)) else {
      Issue.record("nothing was settled")
      return
    }
    #expect(prunes.decisions.map(\.rejection.eventID) == ["e1"])
    #expect(prunes.decisions.map(\.decision) == [.keep])
    #expect(prunes.hooksFailed == 1)
  }

  @Test func `a lost lease abandons at every stage`() {
    var sending = machine(BatchScript(["android"]))
    _ = sending.handle(.started(now: now))
    guard case .abandoned = sending.handle(.stopped(.leaseLost, now: now)) else {
      Issue.record("went on without a lease")
      return
    }
    var script = BatchScript([])
    script.rejections = [dead]
    var hooking = machine(script)
    _ = hooking.handle(.started(now: now))
    _ = hooking.handle(.rows([Row(columns: [], values: [])]))
    guard case .abandoned = hooking.handle(.stopped(.leaseLost, now: now)) else {
      Issue.record("went on without a lease")
      return
    }
    guard case .go = hooking.handle(.hooked([.followPolicy], failed: 0)) else {
      Issue.record("a late event did something")
      return
    }
  }

  @Test func `a shutdown reads what is in flight and gives the rest back`() {
    var batch = machine(BatchScript(["android", "android", "android"]))
    guard case .go(let dispatches, _) = batch.handle(.started(now: now)), let dispatch = dispatches.first else {
      Issue.record("nothing was sent")
      return
    }
    guard case .revoke = batch.handle(.stopped(.shutdown, now: now)) else {
      Issue.record("the permit was left")
      return
    }
    let sent = PushAnswer.Sent(order: 1, credential: 1)
    let result = PushBatchResult(answers: [.delivered(sent), nil, nil])
    guard case .settle(.answers(let answers)) = batch.handle(.answered(dispatch: dispatch.id, result, now: now))
    else {
      Issue.record("nothing was settled")
      return
    }
    #expect(answers.owed.map(\.notBefore) == [0, 0], "who follows need not wait")
    #expect(answers.failure == nil)
    guard case .abandoned = batch.handle(.settled(.leaseLost)) else {
      Issue.record("went on without a lease")
      return
    }
  }

  @Test func `a permit that lapsed by itself gives the rest back for a moment later`() {
    var batch = machine(BatchScript(["android", "android"]))
    guard case .go(let dispatches, _) = batch.handle(.started(now: now)), let dispatch = dispatches.first,
      case .settle(.answers(let answers)) = batch.handle(
        .answered(dispatch: dispatch.id, .nothingSent(2, because: nil), now: now))
    else {
      Issue.record("nothing was settled")
      return
    }
    #expect(answers.owed.map(\.notBefore) == [1000, 1000], "or it would be claimed and given back without end")
  }

  @Test func `whom a failure of the other lane kept from being sent is owed at once`() {
    var script = BatchScript(["android", "ios", "ios"])
    script.laneFault = { transport, _ in transport == .apns ? .refusedKey : nil }
    let ending = script.run()
    #expect(ending.failure?.code == .credentials)
    #expect(ending.owed.map(\.notBefore) == [0, 0, 0])
  }
}
