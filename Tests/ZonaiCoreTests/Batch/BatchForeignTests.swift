import Testing

@testable import ZonaiCore

/// Answers of other servers, and faults of a lane before anything was sent.
@Suite struct BatchForeignTests {
  private let phones = Array(repeating: "android", count: 20)
  private let group = BatchScript.group(.fcm, "android")
  private static let page = Verdict.foreign(names: "FCM endpoint")

  @Test func `pages that come and go among good answers are tried again and delivered`() {
    var script = BatchScript(phones)
    script.answer = { index, attempt in index % 3 == 0 && attempt < 3 ? Self.page : .delivered }
    let ending = script.run()
    #expect(ending.delivered == 20)
    #expect(ending.failure == nil)
    #expect(ending.clock - BatchScript.start >= 20_000, "with the waits that FCM asks for")
  }

  @Test
  func `a recipient that gets nothing but pages while later ones are delivered to is given up after its attempts`() {
    var script = BatchScript(Array(repeating: "android", count: 60))
    script.answer = { index, _ in index < 30 ? Self.page : .delivered }
    let ending = script.run()
    #expect(ending.delivered == 30)
    #expect(ending.failed == 30)
    #expect(ending.owed.isEmpty)
    #expect(ending.failure == nil)
    #expect(ending.details == ["", "FCM endpoint"])
  }

  @Test func `pages from some moment on, after deliveries, are an outage and count no recipient out`() {
    var script = BatchScript(Array(repeating: "android", count: 60))
    script.answer = { index, _ in index < 30 ? .delivered : Self.page }
    let ending = script.run()
    #expect(ending.delivered == 30)
    #expect(ending.failed == 0)
    #expect(ending.owed.count == 30)
    #expect(ending.owed.allSatisfy { $0.outageRounds == 1 && $0.attempts == 0 })
    #expect(ending.failure == nil)
  }

  @Test func `a few at the end that get nothing but pages count at the third round`() {
    var script = BatchScript(phones)
    script.answer = { index, _ in index < 19 ? .delivered : Self.page }
    #expect(script.run().owed.count == 1)
    script.owed[19] = OwedRecipient(key: RowKey(19), outageRounds: 2)
    let ending = script.run()
    #expect(ending.owed.isEmpty)
    #expect(ending.failed == 1)
  }

  @Test func `pages and nothing else fail the job, naming the setting, with all recipients owed`() {
    var script = BatchScript(phones)
    script.answer = { _, _ in Self.page }
    let ending = script.run()
    #expect(ending.failure?.code == .configuration)
    #expect(ending.failure?.detail.contains("FCM endpoint") == true)
    #expect(ending.owed.count == 20)
    #expect(ending.owed.allSatisfy { $0.attempts == 0 && $0.outageRounds == 0 })
    #expect(ending.sends.count >= 3, "not before all attempts were made")
  }

  @Test func `one answer of the service's own among the pages makes them an outage`() {
    var script = BatchScript(phones)
    script.answer = { index, _ in index == 4 ? .unavailable : Self.page }
    let ending = script.run()
    #expect(ending.failure == nil)
    #expect(ending.owed.count == 20)
  }

  @Test func `a lane that delivered in this job before is known to work`() {
    var script = BatchScript(phones)
    script.answer = { _, _ in Self.page }
    script.accounts[group] = GroupCounts(delivered: 5, answered: 5, deliveredOnLane: 5)
    let ending = script.run()
    #expect(ending.failure == nil)
    #expect(ending.owed.allSatisfy { $0.outageRounds == 1 })
  }

  @Test func `for a job of one recipient the record says that the lane works`() {
    var script = BatchScript(["android"])
    script.isSole = true
    script.answer = { _, _ in Self.page }
    #expect(script.run().failure?.code == .configuration)
    script.accounts[group] = GroupCounts(recordLastDeliveredAt: BatchScript.start - 3_600_000)
    #expect(script.run().failure == nil)
    script.owed[0] = OwedRecipient(key: RowKey(0), outageRounds: 2)
    #expect(script.run().failed == 1)
    script.accounts[group] = GroupCounts(recordLastDeliveredAt: BatchScript.start - 90_000_000)
    #expect(script.run().failure?.code == .configuration)
  }

  static let laneFaults: [Verdict] = [
    .unheardOf, .unavailable, .notHandled, .wrongTopic, .dead, .lost, .delivered,
    Verdict(.transientlyFailed, fault: .service, retry: .never, reason: "odd"),
  ]

  @Test(arguments: laneFaults)
  func `no recipient is counted out for a fault of the lane before it was sent to`(_ fault: Verdict) {
    var script = BatchScript(phones)
    script.laneFault = { _, _ in fault }
    let ending = script.run()
    #expect(ending.sends.count == 3, "the lane is asked as often as there are attempts")
    #expect(ending.failed == 0)
    #expect(ending.rejected == 0)
    #expect(ending.delivered == 0)
    #expect(ending.owed.count == 20)
    #expect(ending.owed.allSatisfy { $0.attempts == 0 && $0.outageRounds == 1 && $0.notBefore >= 30_000 })
    #expect(ending.answers?.repeatedAfterLostAnswer == 0)
  }

  @Test(arguments: laneFaults)
  func `attempts that were used up before stay as they were through a fault of the lane`(_ fault: Verdict) {
    var script = BatchScript(phones)
    for index in phones.indices { script.owed[index] = OwedRecipient(key: RowKey(.integer(Int64(index))), attempts: 2) }
    script.laneFault = { _, send in send < 3 ? fault : nil }
    let ending = script.run()
    #expect(ending.delivered == 20)
  }

  @Test func `a lane fault counts no recipient out while others of the job are delivered to`() {
    var script = BatchScript(phones)
    script.laneFault = { _, _ in .unheardOf }
    script.accounts[group] = GroupCounts(
      delivered: 9, answered: 9, deliveredOnLane: 9, laneLastDeliveredAt: BatchScript.start + 1_000_000)
    #expect(script.run().owed.count == 20)
  }

  @Test func `a lane fault for a day fails the job as an outage`() {
    var script = BatchScript(phones)
    script.laneFault = { _, _ in .unheardOf }
    for index in phones.indices {
      script.owed[index] = OwedRecipient(
        key: RowKey(.integer(Int64(index))), outageRounds: 8, outageSince: BatchScript.start - 86_400_000)
    }
    #expect(script.run().failure?.code == .outage)
  }

  @Test func `another server in the token endpoint's place fails the job only if it is all that is heard`() {
    var script = BatchScript(phones)
    script.laneFault = { _, send in send < 3 ? .foreign(names: "OAuth endpoint") : nil }
    #expect(script.run().delivered == 20)
    script.laneFault = { _, _ in .foreign(names: "OAuth endpoint") }
    let ending = script.run()
    #expect(ending.failure?.detail.contains("OAuth endpoint") == true)
    #expect(ending.owed.count == 20)
  }

  @Test(arguments: [Int64.max, 31_536_000_000, 3_600_001, 3_600_000])
  func `no wait that a service asks for is longer than an hour`(_ asked: Int64) {
    var tooLong = Verdict.unavailable
    tooLong.retryAfterMilliseconds = asked
    var script = BatchScript(phones)
    script.answer = { index, _ in index == 2 ? tooLong : .delivered }
    var ending = script.run()
    #expect(ending.delivered == 19)
    #expect(ending.owed.count == 1)
    #expect((3_590_000...3_660_000).contains(ending.owed.first?.notBefore ?? 0))
    #expect(ending.owed.first?.outageRounds == 0, "a wait is not an outage")

    // A lane-wide one holds up the unsent recipients for as long, and no longer.
    tooLong.slowsLane = true
    script.answer = { _, _ in tooLong }
    script.stops = { $0.slowsLane }
    ending = script.run()
    #expect(ending.owed.count == 20)
    #expect(ending.owed.allSatisfy { (3_590_000...3_660_000).contains($0.notBefore) && $0.outageRounds == 0 })

    // From the token endpoint.
    script.laneFault = { _, _ in tooLong }
    ending = script.run()
    #expect(ending.owed.count == 20)
    #expect(ending.owed.allSatisfy { (3_590_000...3_660_000).contains($0.notBefore) && $0.attempts == 0 })
  }

  @Test(arguments: [Int64.min, -31_536_000_000, -1, 0])
  func `a wait that is over before it begins is none`(_ asked: Int64) {
    var odd = Verdict.unavailable
    odd.retryAfterMilliseconds = asked
    var script = BatchScript(phones)
    script.answer = { index, attempt in index == 2 && attempt == 1 ? odd : .delivered }
    let ending = script.run()
    #expect(ending.delivered == 20)
    #expect((10_000...12_000).contains(ending.clock - BatchScript.start), "FCM's floor all the same")
  }
}
