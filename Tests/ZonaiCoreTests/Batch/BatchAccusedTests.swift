import Testing
import ZonaiCore

/// One odd row fails no job; a revoked key does.
@Suite struct BatchAccusedTests {
  private let phones = Array(repeating: "android", count: 20)

  @Test func `one odd refusal among deliveries is its own row's fault`() {
    for odd in [0, 7, 18] {
      var script = BatchScript(phones)
      script.answer = { index, _ in index == odd ? .refusedKey : .delivered }
      let ending = script.run()
      #expect(ending.failure == nil)
      #expect(ending.delivered == 19)
      #expect(ending.failed == 1)
    }
  }

  @Test func `when the odd one is the last, an earlier acceptance speaks`() {
    var script = BatchScript(phones)
    script.answer = { index, _ in index == 19 ? .refusedKey : .delivered }
    #expect(script.run().failure == nil)
    var alone = BatchScript(["android"])
    alone.answer = { _, _ in .refusedKey }
    #expect(alone.run().failure?.code == .credentials)
    alone.accounts[BatchScript.group(.fcm, "android")] = GroupCounts(delivered: 3, answered: 3)
    #expect(alone.run().failure == nil)
  }

  @Test func `a key revoked in the middle fails the job although earlier sends were accepted`() {
    var script = BatchScript(phones)
    script.answer = { index, _ in index < 8 ? .delivered : .refusedKey }
    let ending = script.run()
    #expect(ending.failure?.code == .credentials)
    #expect(ending.delivered == 8)
    #expect(ending.owed.count == 12)
    #expect(ending.rejected == 0)
    // One probe was enough.
    #expect(ending.sends.map(\.selection.count) == [20, 1])
  }

  @Test func `a refusal that was in flight with others refused needs no probe`() {
    var script = BatchScript(phones)
    script.stops = { _ in false }
    script.answer = { index, _ in index < 8 ? .delivered : .refusedKey }
    let ending = script.run()
    #expect(ending.failure?.code == .credentials)
    #expect(ending.sends.count == 1)
    #expect(ending.owed.count == 12)
  }

  @Test func `a dead token vouches for the credential`() {
    var script = BatchScript(phones)
    script.answer = { index, _ in index == 0 ? .refusedKey : .dead }
    let ending = script.run()
    #expect(ending.failure == nil)
    #expect(ending.rejected == 19)
  }

  @Test func `a message that was accepted for the group is one row's fault, another group's acceptance says nothing`() {
    var script = BatchScript(phones + Array(repeating: "ios", count: 5))
    script.answer = { index, _ in index == 3 ? .refusedMessage : .delivered }
    #expect(script.run().failure == nil)
    script.answer = { index, _ in index >= 20 ? .refusedMessage : .delivered }
    let ending = script.run()
    #expect(ending.failure?.code == .message)
    #expect(ending.delivered == 20)
    #expect(ending.owed.count == 5)
  }

  @Test func `a message accepted earlier in the job speaks for itself`() {
    var script = BatchScript(["android", "android"])
    script.answer = { _, _ in .refusedMessage }
    #expect(script.run().failure?.code == .message)
    script.accounts[BatchScript.group(.fcm, "android")] = GroupCounts(delivered: 1, answered: 1)
    let ending = script.run()
    #expect(ending.failure == nil)
    #expect(ending.failed == 2)
  }

  @Test func `a credential that cannot be had fails the job with everybody owed, the other lane's answers kept`() {
    var script = BatchScript(phones + Array(repeating: "ios", count: 5))
    script.laneFault = { transport, _ in transport == .fcm ? .refusedKey : nil }
    let ending = script.run()
    #expect(ending.failure?.code == .credentials)
    #expect(ending.owed.count + ending.delivered == 25)
    #expect(ending.owed.count >= 20)
    #expect(ending.owed.allSatisfy { $0.attempts == 0 })
  }

  @Test func `when the others are owed and not gone, the odd one is judged with them later`() {
    var script = BatchScript(phones)
    script.answer = { index, _ in
      var throttled = Verdict.unavailable
      throttled.retryAfterMilliseconds = 90_000
      return index == 0 ? .refusedKey : throttled
    }
    script.stops = { _ in false }
    let ending = script.run()
    #expect(ending.failure == nil)
    #expect(ending.owed.count == 20)
    #expect(ending.owed.allSatisfy { $0.notBefore >= 80_000 })
  }

  @Test func `a probe is not sent before its time`() {
    var script = BatchScript(["android", "android"])
    script.answer = { index, attempt in
      var throttled = Verdict.unavailable
      throttled.retryAfterMilliseconds = 50_000
      return index == 1 ? .refusedKey : attempt == 1 ? throttled : .delivered
    }
    let ending = script.run()
    #expect(ending.failure == nil)
    #expect(ending.delivered == 1)
    #expect(ending.clock - BatchScript.start >= 50_000)
  }
}
