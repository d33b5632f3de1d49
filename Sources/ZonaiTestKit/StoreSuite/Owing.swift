import ZonaiCore

extension TokenStoreConformance {
  /// Recipients whom a batch still owes an answer.
  static var owing: [Check<Fixture>] {
    [
      check("owed recipients come back alone, with all that is known of them", law: "section 5, stops early") { scene in
        try await scene.makeDevices(5)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        var answers = batch.delivered(but: [1, 3])
        let owed = [
          OwedRecipient(
            key: batch.recipients.keys[1], attempts: 2, freeRepeats: 3, notBefore: 0, outageRounds: 4,
            outageSince: batch.now - 5000, suspectOf: .ios, tokenDigest: .max - 1, wasUnknown: true),
          OwedRecipient(key: batch.recipients.keys[3]),
        ]
        answers.owed = owed
        try await scene.settle(.answers(answers))
        try expect(try await scene.job(job).owed, is: 2, "the job's owed recipients")
        let again = try await scene.claim("berta")
        try expect(again.lease.batch, is: batch.lease.batch, "the batch")
        try expect(again.ids, is: [2, 4], "the ids that are owed")
        try expect(again.tokens, is: ["token-2", "token-4"], "their tokens")
        for index in 0..<2 {
          var back = again.owed[index]
          back?.notBefore = 0
          // A store that lives by moving moments may have moved this one by what the check took.
          try expectNear(back?.outageSince ?? 0, owed[index].outageSince ?? 0, "when the outage began")
          back?.outageSince = owed[index].outageSince
          try expect(back, is: owed[index], "what is known of owed recipient \(index)")
        }
      },
      check("nobody is sent to before a not-before time", law: "section 3, not-before") { scene in
        try await scene.makeDevices(3)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        var answers = batch.delivered(but: [0, 1, 2])
        answers.owed = [
          OwedRecipient(key: batch.recipients.keys[0], attempts: 1, notBefore: 600_000),
          OwedRecipient(key: batch.recipients.keys[1], attempts: 1, notBefore: 3_600_000),
          OwedRecipient(key: batch.recipients.keys[2], attempts: 1, notBefore: 600_000),
        ]
        try await scene.settle(.answers(answers))
        try expectNear(
          try await scene.job(job).nextDueAt.map { $0 - batch.now }, 600_000, "when the first of them is due")
        try expect(try await scene.claimNothing().owedLater, is: 3, "recipients that are owed later")
        try await scene.fixture.advance(milliseconds: 500_000)
        _ = try await scene.claimNothing()
        try await scene.fixture.advance(milliseconds: 200_000)
        let due = try await scene.claim()
        try expect(due.ids, is: [1, 3], "the ids that are due")
        try expect(due.resting.map(\.key.id), is: [2], "the ids that rest")
        try expectNear(due.resting[0].notBefore - due.now, 2_900_000, "how long the resting one rests")
        var rest = due.delivered()
        rest.owed = due.resting.map { owed in
          var owed = owed
          owed.notBefore -= due.now
          return owed
        }
        try await scene.settle(.answers(rest))
        _ = try await scene.claimNothing()
        try await scene.fixture.advance(milliseconds: 3_000_000)
        let last = try await scene.claim()
        try expect(last.ids, is: [2], "the last id")
        try await scene.deliver(last)
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
        try expect(try await scene.job(job).counts.delivered, is: 3, "deliveries")
      },
      check("an owed recipient is sent to with the token that its row has by then", law: "section 5, stops early") {
        scene in
        try await scene.makeDevices(4)
        try await scene.enqueue(.devicesLastSeen)
        let batch = try await scene.claim()
        try await scene.settle(.answers(batch.givenBack()))
        try await scene.fixture.update(
          "devices", where: "id", is: 2, set: ["token": "new", "seen": .integer(TableSketch.seen + 1000)])
        try await scene.fixture.update("devices", where: "id", is: 3, set: ["token": .null])
        try await scene.fixture.delete(from: "devices", where: "id", is: 4)
        let again = try await scene.claim()
        try expect(again.ids, is: [1, 2], "the ids that are still recipients")
        try expect(again.tokens, is: ["token-1", "new"], "their tokens")
        try expect(
          again.recipients.lastSeen(1) != batch.recipients.lastSeen(1), "the second one's new last-seen value")
        let pruned = try await scene.prune(again)
        try expect(pruned.outcomes, is: [.pruned, .pruned], "what became of them by the new values")
      },
      check("an owed recipient that left the audience is not sent to", law: "section 1, recipient") { scene in
        try await scene.makeDevices(3)
        try await scene.fixture.update("devices", where: "platform", is: "android", set: ["age": 1])
        let job = try await scene.enqueue(.devices(where: Column("age") == 1))
        try await scene.settle(.answers(try await scene.claim().givenBack()))
        try await scene.fixture.update("devices", where: "id", is: 2, set: ["age": 2])
        try expect(try await scene.drain().map(\.key.id), is: [1, 3], "the ids that are still recipients")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("when nobody who is owed is left, the job completes", law: "section 5, complete") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.enqueue()
        try await scene.settle(.answers(try await scene.claim().givenBack()))
        for id in 1...2 { try await scene.fixture.delete(from: "devices", where: "id", is: .integer(Int64(id))) }
        try expect(try await scene.drain().count, is: 0, "recipients that are left")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("who is owed outlives the prunes of the same batch", law: "law 4") { scene in
        try await scene.makeDevices(3)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        var answers = batch.delivered(but: [0, 2])
        answers.rejections = [batch.rejection(0)]
        answers.owed = [OwedRecipient(key: batch.recipients.keys[2], attempts: 1)]
        try await scene.settle(.answers(answers))
        _ = try await scene.claimNothing("berta")
        try await scene.settle(.prunes(batch.prunes(answers.rejections)))
        try expect(try await scene.job(job).state, is: .running, "the state while somebody is owed")
        let again = try await scene.claim("berta")
        try expect(again.ids, is: [3], "the ids that are owed")
        try expect(again.rejections, is: [], "rejections that were dealt with")
      },
      check("a resumed job goes on with exactly those who are owed, then its next page", law: "section 5, stop") {
        scene in
        try await scene.makeDevices(9)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 3, first: 3))
        let batch = try await scene.claim(size: 3)
        var failed = batch.delivered(but: [0, 2])
        failed.owed = [0, 2].map { OwedRecipient(key: batch.recipients.keys[$0]) }
        failed.failure = .example
        try await scene.settle(.answers(failed))
        let resumed = try await scene.resume(job)
        try expect(resumed.state, is: .running, "the state after the resume")
        try expect(resumed.error, is: nil, "the error after the resume")
        try expect(try await scene.drain(size: 3).map(\.key.id), is: [4, 6, 7, 8, 9], "the ids after the resume")
        let after = try await scene.job(job)
        try expect(after.state, is: .completed, "the state in the end")
        try expect(after.counts.delivered, is: 9, "deliveries")
        try expect(after.owed, is: 0, "recipients that are owed in the end")
      },
      check("suspects are known after a resume, and keeping them lasts to the job's end", law: "section 4, guard") {
        scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        let batch = try await scene.claim(size: 2, first: 2)
        var held = BatchAnswers(lease: batch.lease, failure: JobFailure(.suspects, "nobody was delivered to"))
        held.owed = batch.keys.map { OwedRecipient(key: $0, suspectOf: .ios) }
        try await scene.settle(.answers(held))
        try expect(try await scene.resume(job, suspects: .prune).suspects, is: .prune, "the job's word on suspects")
        let again = try await scene.claim(size: 2)
        try expect(again.job.suspects, is: .prune, "the word on suspects that the claim tells")
        try expect(again.owed[0]?.suspectOf, is: .ios, "whose suspect the first one is")
        try expect(again.keptGroups, is: [], "groups to keep when suspects are pruned")
        held.lease = again.lease
        try await scene.settle(.answers(held))
        try await scene.resume(job, suspects: .keep)
        let kept = try await scene.claim(size: 2)
        try expect(kept.keptGroups, is: [.ios], "groups to keep")
        try await scene.deliver(kept)
        try expect(try await scene.claim(size: 2).keptGroups, is: [.ios], "groups to keep on a later page")
      },
      check("an outage's day starts anew with a resume", law: "section 3, outage") { scene in
        try await scene.makeDevices(1)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        var answers = batch.givenBack(failure: JobFailure(.outage, "the service was away for a day"))
        answers.owed[0].outageRounds = 40
        answers.owed[0].outageSince = batch.now - 86_400_000
        try await scene.settle(.answers(answers))
        try await scene.resume(job)
        let again = try await scene.claim()
        try expect(again.owed[0]?.outageSince, is: nil, "when the outage began, after the resume")
        try expect(again.owed[0]?.attempts, is: 1, "attempts used up, after the resume")
      },
    ]
  }
}
