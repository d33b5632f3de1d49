import Testing
import ZonaiCore

@Suite struct BatchMachineTests {
  private let phones = Array(repeating: "android", count: 30) + Array(repeating: "ios", count: 30)

  @Test func `a batch that is delivered is settled at once, without asking for witnesses`() {
    let ending = BatchScript(phones).run()
    #expect(ending.delivered == 60)
    #expect(ending.askedWitnesses == 0)
    #expect(ending.sends.map(\.selection.count) == [30, 30])
    #expect(ending.prunes == nil)
  }

  @Test func `a whole batch of dead tokens is pruned`() {
    var script = BatchScript(phones)
    script.answer = { _, _ in .dead }
    let ending = script.run()
    #expect(ending.rejected == 60)
    #expect(ending.failure == nil)
    #expect(ending.prunes?.decisions.count == 60)
  }

  @Test(arguments: [Verdict.tokenNamed, .namesNothing, .badDeviceToken])
  func `a whole group of circumstantial answers fails the job and prunes nothing`(_ verdict: Verdict) {
    var script = BatchScript(phones)
    script.answer = { index, _ in index < 30 ? .delivered : verdict }
    let ending = script.run()
    #expect(ending.rejected == 0)
    #expect(ending.delivered == 30)
    #expect(ending.failure?.code == .suspects)
    #expect(ending.owed.count == 30)
    #expect(ending.owed.allSatisfy { $0.suspectOf == BatchScript.group(.apns, "ios") })
  }

  @Test func `mixed wordings and one odd answer among them do not hide a suspect group`() {
    var script = BatchScript(Array(repeating: "android", count: 40) + Array(repeating: "ios", count: 10))
    script.job.definition.routes = Routes(apple: .fcm, android: .fcm, unknown: .fcm)
    script.answer = { index, _ in
      switch index {
      case 0..<40: .delivered
      case 40: .dead
      case 41: .unheardOf
      case 42..<46: .tokenNamed
      default: .namesNothing
      }
    }
    let ending = script.run()
    #expect(ending.failure?.code == .suspects)
    #expect(ending.rejected == 1)
    #expect(ending.owed.count == 8)
  }

  @Test func `circumstantial answers beside deliveries prune, up to a fifth of the group`() {
    for (bad, isPruned) in [(6, true), (7, false)] {
      var script = BatchScript(Array(repeating: "ios", count: 30))
      script.answer = { index, _ in index < bad ? .badDeviceToken : .delivered }
      let ending = script.run()
      #expect(ending.rejected == (isPruned ? bad : 0))
      #expect(ending.failed == (isPruned ? 0 : bad))
      #expect(ending.failure == nil)
    }
  }

  @Test func `the ceiling also counts what the job pruned before`() {
    var script = BatchScript(Array(repeating: "ios", count: 10))
    script.answer = { index, _ in index == 0 ? .badDeviceToken : .delivered }
    let group = BatchScript.group(.apns, "ios")
    script.accounts[group] = GroupCounts(delivered: 8, answered: 12, circumstantialRejections: 4)
    #expect(script.run().failed == 1)
    script.accounts[group] = GroupCounts(delivered: 38, answered: 42, circumstantialRejections: 4)
    #expect(script.run().rejected == 1)
  }

  @Test func `one circumstantial answer without a witness is kept, with a witness elsewhere in the job it prunes`() {
    var script = BatchScript(["ios"])
    script.answer = { _, _ in .badDeviceToken }
    #expect(script.run().failed == 1)
    script.accounts[BatchScript.group(.apns, "ios")] = GroupCounts(delivered: 1, answered: 9)
    #expect(script.run().rejected == 1)
  }

  @Test func `the guard counts the circumstantial answers of the whole job`() {
    let ios = BatchScript.group(.apns, "ios")
    var script = BatchScript(["ios"])
    script.answer = { _, _ in .badDeviceToken }
    script.accounts[ios] = GroupCounts(answered: 9, circumstantial: 1)
    let guarded = script.run()
    #expect(guarded.rejected == 0)
    #expect(guarded.failure?.code == .suspects)
    #expect(guarded.owed.map(\.suspectOf) == [ios])
    script.accounts[ios] = GroupCounts(delivered: 1000, answered: 1002, circumstantial: 1)
    #expect(script.run().rejected == 1)
  }

  @Test func `a rejection without evidence, or about anything but the recipient, prunes nothing`() {
    let unproven = [
      Verdict(.permanentlyRejected, fault: .recipient, reason: "gone"),
      Verdict(.permanentlyRejected, fault: nil, evidence: .conclusive, reason: "gone"),
      Verdict(.permanentlyRejected, fault: .configuration, evidence: .conclusive, reason: "gone"),
      Verdict(.permanentlyRejected, fault: .service, evidence: .tokenNamed, reason: "gone"),
    ]
    for verdict in unproven {
      var script = BatchScript(Array(repeating: "android", count: 20))
      script.answer = { index, _ in index < 2 ? verdict : .delivered }
      let ending = script.run()
      #expect(ending.rejected == 0, "\(verdict)")
      #expect(ending.failed == 2, "\(verdict)")
      #expect(ending.delivered == 18)
      #expect(ending.sends.dropFirst().flatMap(\.selection).sorted() == [0, 1], "an unknown answer is tried once more")
    }
  }

  @Test func `in a job of one recipient the record may speak, for a day and for fewer than twenty answers`() {
    var script = BatchScript(["ios"])
    script.isSole = true
    script.answer = { _, _ in .badDeviceToken }
    let group = BatchScript.group(.apns, "ios")
    let yesterday = BatchScript.start - 86_000_000
    for (last, since, isPruned) in [
      (yesterday, 0, true), (yesterday, 19, true), (yesterday, 20, false), (yesterday - 1_000_000, 0, false),
    ] {
      script.accounts[group] = GroupCounts(recordLastDeliveredAt: last, recordCircumstantialSince: since)
      #expect(script.run().rejected == (isPruned ? 1 : 0))
    }
    script.accounts[group] = GroupCounts(recordLastDeliveredAt: yesterday)
    script.answer = { _, _ in .namesNothing }
    #expect(script.run().rejected == 0)
  }

  @Test func `an answer that names nothing never prunes a row without a platform`() {
    var script = BatchScript(Array(repeating: "", count: 30))
    script.answer = { index, _ in index == 0 ? .namesNothing : index == 1 ? .tokenNamed : .delivered }
    let ending = script.run()
    #expect(ending.rejected == 1)
    #expect(ending.failed == 1)
  }

  @Test func `a resume with prune accepts the suspects, and only them`() {
    var script = BatchScript(Array(repeating: "ios", count: 4))
    script.job.suspects = .prune
    let group = BatchScript.group(.apns, "ios")
    for index in 0..<2 {
      script.owed[index] = OwedRecipient(
        key: RowKey(.integer(Int64(index))), suspectOf: group,
        tokenDigest: DeviceToken.digest("token-\(index)".utf8))
    }
    script.answer = { _, _ in .badDeviceToken }
    var ending = script.run()
    #expect(ending.rejected == 2)
    #expect(ending.failure?.code == .suspects)
    #expect(ending.owed.count == 2)
    #expect(ending.owed.first?.tokenDigest == DeviceToken.digest("token-2".utf8))
    // The row has another token by now: the word was not about that one.
    script.owed[1]?.tokenDigest = DeviceToken.digest("an older token".utf8)
    ending = script.run()
    #expect(ending.rejected == 1)
  }

  @Test func `a resume with keep counts the group's like as not reached`() {
    var script = BatchScript(Array(repeating: "ios", count: 4))
    script.keptGroups = [BatchScript.group(.apns, "ios")]
    script.answer = { _, _ in .badDeviceToken }
    let ending = script.run()
    #expect(ending.failed == 4)
    #expect(ending.failure == nil)
  }

  @Test func `rows of a platform that no lane serves are kept and counted once`() {
    var script = BatchScript(["android", "ios"], routes: Routes(apple: nil, android: .fcm, unknown: .fcm))
    script.answer = { _, _ in .delivered }
    let ending = script.run()
    #expect(ending.delivered == 1)
    #expect(ending.failed == 1)
    #expect(ending.answers?.tally.first { $0.outcome == .transientlyFailed }?.reason == .noLane)
  }

  @Test func `a wrong topic keeps every row and names the setting`() {
    var script = BatchScript(phones)
    script.answer = { index, _ in index < 30 ? .delivered : .wrongTopic }
    let ending = script.run()
    #expect(ending.failed == 30)
    #expect(ending.failure == nil)
    #expect(ending.sends.count == 2)
    #expect(ending.details.contains { $0.contains("apns.bundleId") })
  }

  @Test func `a token that was registered again after its death is kept without a hook`() {
    let dead = Verdict(
      .permanentlyRejected, fault: .recipient, evidence: .conclusive, reason: "Unregistered", status: 410,
      deadSince: BatchScript.start - 1000)
    for (seen, isRejected) in [
      (Value.integer(BatchScript.start - 2000), true), (.integer(BatchScript.start - 500), false),
      (.text("yesterday"), false), (.null, true),
    ] {
      var script = BatchScript([])
      script.recipients.append(key: RowKey(1), token: "aa", platform: Platform("ios"), lastSeen: seen)
      script.answer = { _, _ in dead }
      let ending = script.run()
      #expect(ending.rejected == (isRejected ? 1 : 0), "last seen \(seen)")
      #expect(ending.failed == (isRejected ? 0 : 1), "last seen \(seen)")
    }
  }

  @Test func `two keys that only look alike are two recipients, suspects too`() {
    var script = BatchScript([])
    for key in ["\u{e9}", "e\u{301}", "x"] {
      script.recipients.append(key: RowKey(.text(key)), token: "t", platform: Platform("ios"))
    }
    script.answer = { index, _ in index == 1 ? .unavailable : .badDeviceToken }
    script.stops = { _ in false }
    let ending = script.run()
    #expect(ending.failure?.code == .suspects)
    #expect(ending.owed.count + ending.failed == 3)
  }
}
