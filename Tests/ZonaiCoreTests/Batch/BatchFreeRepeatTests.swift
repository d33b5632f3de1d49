import Testing
import ZonaiCore

/// What surely was not handled is sent again for nothing while the lane makes progress, and within
/// limits.
@Suite struct BatchFreeRepeatTests {
  private let phones = Array(repeating: "ios", count: 200)

  @Test func `requests that were refused many times over are all delivered while others are answered`() {
    var script = BatchScript(phones)
    script.retry.maxAttempts = 1
    script.answer = { index, attempt in attempt <= index % 20 ? .notHandled : .delivered }
    let ending = script.run()
    #expect(ending.delivered == 200)
    #expect(ending.sends.count == 20)
    #expect(ending.answers?.repeatedAfterLostAnswer == 0)
  }

  @Test func `the first three repeats are made at once, the others after growing waits`() {
    var script = BatchScript(phones)
    script.answer = { index, attempt in attempt <= index % 6 ? .notHandled : .delivered }
    var delays: [Int64] = []
    for count in 0..<20 { delays.append(script.retry.freeRepeatDelay(after: count, random: 0.5)) }
    #expect(delays.prefix(3).allSatisfy { $0 == 0 })
    #expect(delays.dropFirst(3).allSatisfy { (50...30_000).contains($0) })
    #expect(zip(delays.dropFirst(3), delays.dropFirst(4)).allSatisfy { $0 <= $1 })
    #expect(delays.reduce(0, +) < script.retry.freeRepeatLimitMilliseconds)
    let ending = script.run()
    #expect(ending.delivered == 200)
    #expect((150...1000).contains(ending.clock - BatchScript.start - 60), "two waits beside the six sends")
  }

  @Test func `a refusal while nothing is answered uses up an attempt, and a lane that refuses all is away`() {
    var script = BatchScript(phones)
    script.answer = { _, _ in .notHandled }
    let ending = script.run()
    #expect(ending.sends.first?.selection.count == 200)
    #expect(ending.owed.count == 200)
    #expect(ending.failed == 0)
    #expect(ending.owed.allSatisfy { $0.freeRepeats == 0 && $0.outageRounds == 1 && $0.attempts == 0 })
  }

  @Test func `answers of other batches are progress, errors of the service are not`() {
    var script = BatchScript(["ios", "ios"])
    script.retry.maxAttempts = 2
    script.answer = { index, attempt in index == 1 ? .unavailable : attempt <= 4 ? .notHandled : .delivered }
    #expect(script.run().delivered == 0)
    script.laneAnswered = { _ in true }
    #expect(script.run().delivered == 1)
  }

  @Test func `after twenty free repeats, over all claims, attempts are used up`() {
    var script = BatchScript(["ios"])
    script.laneAnswered = { _ in true }
    script.answer = { _, attempt in attempt <= 22 ? .notHandled : .delivered }
    var ending = script.run()
    #expect(ending.sends.count == 23, "the first, twenty for nothing, and two with attempts")
    #expect(ending.delivered == 1)
    script.owed[0] = OwedRecipient(key: RowKey(0), freeRepeats: 20)
    script.answer = { _, _ in .notHandled }
    ending = script.run()
    #expect(ending.sends.count == 3)
  }

  @Test func `after ten minutes of free repeats attempts are used up`() {
    var script = BatchScript(["ios"])
    script.laneAnswered = { _ in true }
    script.sendMilliseconds = 150_000
    script.retry.maxAttempts = 1
    script.answer = { _, _ in .notHandled }
    #expect(script.run().sends.count == 5)
  }
}
