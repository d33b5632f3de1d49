import Testing
import ZonaiCore

@Suite struct BatchRetryTests {
  private let phones = Array(repeating: "android", count: 20)
  private let group = BatchScript.group(.fcm, "android")

  @Test func `a passing service fault is retried and delivered, after the floor that FCM asks for`() {
    var script = BatchScript(phones)
    script.answer = { index, attempt in index == 4 && attempt == 1 ? .unavailable : .delivered }
    let ending = script.run()
    #expect(ending.delivered == 20)
    #expect(ending.clock - BatchScript.start >= 10_000)
    #expect(ending.sends.map(\.selection.count) == [20, 1])
  }

  @Test func `an answer that nobody knows is tried once more`() {
    var script = BatchScript(["ios", "ios"])
    script.answer = { index, _ in index == 0 ? .unheardOf : .delivered }
    let ending = script.run()
    #expect(ending.failed == 1)
    #expect(ending.sends.map(\.selection.count) == [2, 1])
  }

  @Test func `a wait above a minute is not slept`() {
    var script = BatchScript(phones)
    script.answer = { index, _ in
      var throttled = Verdict.unavailable
      throttled.retryAfterMilliseconds = 90_000
      return index == 2 ? throttled : .delivered
    }
    let ending = script.run()
    #expect(ending.delivered == 19)
    #expect(ending.owed.count == 1)
    #expect(ending.owed.first?.attempts == 1)
    #expect((80_000...100_000).contains(ending.owed.first?.notBefore ?? 0))
    #expect(ending.clock - BatchScript.start < 1000)
  }

  @Test func `a service that is away for longer than all attempts owes everybody, with no attempt used up`() {
    var script = BatchScript(phones)
    script.answer = { _, _ in .unavailable }
    let ending = script.run()
    #expect(ending.owed.count == 20)
    #expect(ending.failed == 0)
    #expect(ending.owed.allSatisfy { $0.attempts == 0 && $0.outageRounds == 1 && $0.notBefore >= 30_000 })
    #expect(ending.failure == nil)
  }

  @Test func `an outage grows its wait to ten minutes and fails the job after a day`() {
    var script = BatchScript(phones)
    script.answer = { _, _ in .unavailable }
    for index in phones.indices {
      script.owed[index] = OwedRecipient(
        key: RowKey(.integer(Int64(index))), outageRounds: 8, outageSince: BatchScript.start - 80_000_000)
    }
    var ending = script.run()
    #expect(ending.failure == nil)
    #expect(ending.owed.allSatisfy { (600_000...660_000).contains($0.notBefore) && $0.outageRounds == 9 })
    for index in phones.indices { script.owed[index]?.outageSince = BatchScript.start - 86_400_000 }
    ending = script.run()
    #expect(ending.failure?.code == .outage)
    #expect(ending.owed.count == 20)
  }

  @Test func `a few who are never answered on a lane that delivers count at the third round`() {
    var script = BatchScript(Array(repeating: "android", count: 3))
    script.answer = { _, _ in .lost }
    script.accounts[group] = GroupCounts(delivered: 100, answered: 100, deliveredOnLane: 100)
    #expect(script.run().owed.count == 3)
    for index in 0..<3 { script.owed[index] = OwedRecipient(key: RowKey(.integer(Int64(index))), outageRounds: 2) }
    #expect(script.run().failed == 3)
  }

  @Test func `attempts used up while others are delivered to count as not reached`() {
    var script = BatchScript(phones)
    script.answer = { index, attempt in
      if index == 0 { return .unavailable }
      // Delivered in the same send as the last attempt.
      return index == 1 && attempt < 3 ? .unavailable : .delivered
    }
    let ending = script.run()
    #expect(ending.failed == 1)
    #expect(ending.delivered == 19)
    #expect(ending.owed.isEmpty)
  }

  @Test func `recipients whose answer was lost and who are tried again are counted`() {
    var script = BatchScript(phones)
    script.answer = { index, attempt in index < 3 && attempt == 1 ? .lost : .delivered }
    #expect(script.run().answers?.repeatedAfterLostAnswer == 3)
  }

  @Test func `a time to live that runs out makes the rest expired, zero expires nobody`() {
    var script = BatchScript(phones, ttl: 15)
    script.answer = { index, _ in index < 5 ? .delivered : .unavailable }
    var ending = script.run()
    #expect(ending.delivered == 5)
    #expect(ending.expired == 15)
    script = BatchScript(phones, ttl: 0)
    ending = script.run()
    #expect(ending.delivered == 20)
  }

  @Test func `those who rest come back with what is left of their wait`() {
    var script = BatchScript(phones)
    script.resting = [OwedRecipient(key: RowKey(99), attempts: 1, notBefore: BatchScript.start + 50_000)]
    let ending = script.run()
    #expect(ending.delivered == 20)
    #expect(ending.owed.map(\.key) == [RowKey(99)])
    #expect(ending.owed.first?.notBefore == 49_990)
  }

  @Test func `a 429 asks for the lane to be left alone`() {
    var script = BatchScript(["android"])
    script.answer = { _, attempt in
      var throttled = Verdict.unavailable
      throttled.slowsLane = true
      throttled.retryAfterMilliseconds = 5000
      return attempt == 1 ? throttled : .delivered
    }
    var machine = BatchMachine(
      batch: script.claimed(), lanes: [.fcm: BatchScript.fcm], retry: RetryPolicy(), seed: 1)
    guard case .go(let dispatches, _) = machine.handle(.started(now: BatchScript.start)) else {
      Issue.record("nothing was sent")
      return
    }
    let result = PushBatchResult(answers: [.answered(script.answer(0, 1), .init(order: 1, credential: 1))])
    _ = machine.handle(.answered(dispatch: dispatches[0].id, result, now: BatchScript.start))
    #expect(machine.takeSlowed() == [.fcm: 5000])
    #expect(machine.takeSlowed().isEmpty)
  }

  @Test func `what the service says replaces its floor, never the lane's`() {
    let soon = Verdict(
      .transientlyFailed, fault: .service, retry: .attempts, reason: "UNAVAILABLE", status: 503,
      retryAfterMilliseconds: 500, retryFloorMilliseconds: 60_000)
    let policy = RetryPolicy()
    #expect((10_000...11_000).contains(policy.delay(afterAttempt: 1, verdict: soon, laneFloor: 10_000, random: 0.5)))
    #expect((500...1500).contains(policy.delay(afterAttempt: 1, verdict: soon, laneFloor: 0, random: 0.5)))
    let set = RetryPolicy(baseMilliseconds: 100)
    #expect((500...700).contains(set.delay(afterAttempt: 1, verdict: soon, laneFloor: 10_000, random: 0.5)))
  }

  @Test func `nobody counts as a possible repeat when nothing was sent`() {
    var script = BatchScript(phones)
    script.laneFault = { _, send in
      send == 1
        ? Verdict(.transientlyFailed, fault: .service, retry: .attempts, reason: .timedOut, answerMayBeLost: true) : nil
    }
    let ending = script.run()
    #expect(ending.delivered == 20)
    #expect(ending.answers?.repeatedAfterLostAnswer == 0)
  }

  @Test func `an outage is not shorter than what the service asked for`() {
    var script = BatchScript(phones)
    script.retry.longestSleepMilliseconds = 10_000_000
    script.answer = { _, _ in
      Verdict(
        .transientlyFailed, fault: .service, retry: .attempts, reason: "QUOTA_EXCEEDED", status: 429,
        retryAfterMilliseconds: 3_600_000, slowsLane: true)
    }
    let ending = script.run()
    #expect(ending.owed.count == 20)
    #expect(ending.owed.allSatisfy { $0.outageRounds == 1 && $0.notBefore >= 3_600_000 })
  }

  @Test func `a token that was refused by its shape is no sign of life`() {
    var script = BatchScript(phones)
    script.retry.maxAttempts = 1
    script.answer = { index, _ in
      index == 0
        ? Verdict(.transientlyFailed, fault: .configuration, reason: .tokenNotForLane, names: "shape") : .unavailable
    }
    let ending = script.run()
    #expect(ending.failed == 1)
    #expect(ending.owed.count == 19)
  }

  @Test func `an answer that nobody knows is tried once over all claims`() {
    var script = BatchScript(["ios", "ios"])
    script.owed[0] = OwedRecipient(key: RowKey(0), wasUnknown: true)
    script.answer = { index, _ in index == 0 ? .unheardOf : .delivered }
    #expect(script.run().sends.count == 1)
  }

  @Test func `when a transport stops at a 429, the rest waits as long with no attempt used up`() {
    var script = BatchScript(phones)
    script.stops = { $0.slowsLane }
    script.answer = { index, attempt in
      guard index == 0, attempt == 1 else { return .delivered }
      return Verdict(
        .transientlyFailed, fault: .service, retry: .attempts, reason: "QUOTA_EXCEEDED", status: 429,
        retryAfterMilliseconds: 20_000, slowsLane: true)
    }
    let ending = script.run()
    #expect(ending.delivered == 20)
    #expect(ending.clock - BatchScript.start >= 20_000)
    #expect(ending.sends.map(\.selection.count).reduce(0, +) == 40)
  }

  @Test func `a base of the caller's own also replaces the pause of a lane`() {
    for (base, pause) in [(nil, 60_000), (100, 100)] as [(Int64?, Int64)] {
      var script = BatchScript(["android"])
      script.retry.baseMilliseconds = base
      var machine = BatchMachine(
        batch: script.claimed(), lanes: [.fcm: BatchScript.fcm], retry: script.retry, seed: 1)
      guard case .go(let dispatches, _) = machine.handle(.started(now: BatchScript.start)) else { continue }
      let throttled = Verdict(
        .transientlyFailed, fault: .service, retry: .attempts, reason: "QUOTA_EXCEEDED", status: 429,
        retryFloorMilliseconds: 60_000, slowsLane: true)
      let result = PushBatchResult(answers: [.answered(throttled, .init(order: 1, credential: 1))])
      _ = machine.handle(.answered(dispatch: dispatches[0].id, result, now: BatchScript.start))
      #expect(machine.takeSlowed() == [.fcm: pause])
    }
  }
}
