import ZonaiCore

extension TokenStoreConformance {
  /// What a settlement commits, and what it makes of the job.
  static var settling: [Check<Fixture>] {
    [
      check("answers are counted by group, outcome and reason", law: "law 13") { scene in
        try await scene.makeDevices(12)
        let job = try await scene.enqueue()
        let first = try await scene.claim(size: 6, first: 6)
        let lines = [
          TallyLine(group: .android, outcome: .delivered, reason: "delivered", count: 2),
          TallyLine(group: .ios, outcome: .delivered, reason: "delivered", count: 1),
          TallyLine(
            group: .ios, outcome: .transientlyFailed, reason: "BadTopic", detail: "see apns.bundleId", count: 2),
          TallyLine(group: .android, outcome: .expired, reason: .expired, count: 1),
        ]
        try await scene.settle(.answers(BatchAnswers(lease: first.lease, tally: lines)))
        let second = try await scene.claim(size: 6)
        try await scene.settle(
          .answers(
            BatchAnswers(
              lease: second.lease,
              tally: [
                TallyLine(group: .android, outcome: .delivered, reason: "delivered", count: 3),
                TallyLine(group: .ios, outcome: .transientlyFailed, reason: "BadTopic", detail: "odd", count: 3),
              ], repeatedAfterLostAnswer: 2)))
        let after = try await scene.job(job)
        try expect(after.counts.delivered, is: 6, "deliveries")
        try expect(after.counts.transientlyFailed, is: 5, "transient failures")
        try expect(after.counts.expired, is: 1, "expired")
        try expect(after.counts.settled, is: 12, "settled")
        try expect(after.counts.repeatedAfterLostAnswer, is: 2, "repeats after a lost answer")
        var expected = lines
        expected[0].count = 5
        expected.append(
          TallyLine(group: .ios, outcome: .transientlyFailed, reason: "BadTopic", detail: "odd", count: 3))
        try expect(Set(after.tally), is: Set(expected), "the tally")
        try expect(after.state, is: .completed, "the job's state")
      },
      check("a rejection is counted with its prune, not with its answer", law: "law 13") { scene in
        try await scene.makeDevices(3)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 2], of: batch)
        let between = try await scene.job(job)
        try expect(between.counts.permanentlyRejected, is: 0, "rejections before the prunes")
        try expect(between.counts.delivered, is: 1, "deliveries before the prunes")
        try expect(between.state, is: .running, "the state before the prunes")
        try await scene.settle(
          .prunes(
            BatchPrunes(
              lease: batch.lease,
              decisions: [
                (rejections[0], .followPolicy), (rejections[1], .keep),
              ], hooksFailed: 2)))
        let after = try await scene.job(job)
        try expect(after.counts.permanentlyRejected, is: 2, "rejections after the prunes")
        try expect(after.counts.pruned, is: 1, "pruned")
        try expect(after.counts.kept, is: 1, "kept")
        try expect(after.counts.hooksFailed, is: 2, "failed hooks")
        try expect(after.state, is: .completed, "the state after the prunes")
        let line = after.tally.first { $0.outcome == .pruned }
        try expect(line?.evidence, is: .conclusive, "the evidence of the tally's line")
        try expect(line?.reason, is: "UNREGISTERED", "the reason of the tally's line")
        try expect(line?.group, is: .android, "the group of the tally's line")
      },
      check("a rejection that the prunes do not name stays and comes back", law: "law 4") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 1, 2], of: batch)
        try await scene.settle(.prunes(batch.prunes([rejections[1]])))
        try expect(try await scene.job(job).state, is: .running, "the state while rejections are left")
        let again = try await scene.claim("berta")
        try expect(again.isTakeover, is: false, "isTakeover of a batch whose lease was given back")
        try expect(again.rejections, is: [rejections[0], rejections[2]], "the rejections that were not named")
        try expect(again.recipients.count, is: 0, "recipients to send to")
        try await scene.settle(.prunes(again.prunes(again.rejections)))
        try expect(try await scene.job(job).counts.pruned, is: 3, "pruned")
        try expect(try await scene.job(job).state, is: .completed, "the state in the end")
      },
      check("a job completes when its last batch ends, whichever that is", law: "section 5, complete") { scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        let second = try await scene.claim("anna", size: 2)
        let third = try await scene.claim("berta", size: 2)
        let early = try await scene.deliver(third)
        try expect(early.job.state, is: .running, "the state while a batch before the last is open")
        let last = try await scene.deliver(second)
        try expect(last.job.state, is: .completed, "the state that the last commit tells")
        try expect(last.job.counts.delivered, is: 6, "the deliveries that the last commit tells")
        try expect(try await scene.job(job).finishedAt != nil, "a moment at which the job ended")
      },
      check("a failure stops the job, keeps what was answered, and the first one stays", law: "section 5, settle") {
        scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        let second = try await scene.claim("anna", size: 2)
        let third = try await scene.claim("berta", size: 2)
        var failed = second.delivered(but: [1])
        failed.owed = [OwedRecipient(key: second.recipients.keys[1])]
        failed.failure = .example
        let committed = try await scene.settle(.answers(failed))
        try expect(committed.job.state, is: .failed, "the state that the commit tells")
        var late = third.delivered()
        late.failure = .other
        try await scene.settle(.answers(late))
        let after = try await scene.job(job)
        try expect(after.state, is: .failed, "the job's state")
        try expect(after.error, is: .example, "the job's error")
        try expect(after.counts.delivered, is: 5, "deliveries")
        try expect(after.owed, is: 1, "recipients that are owed")
        _ = try await scene.claimNothing("anna")
      },
      check("a batch of a cancelled job still settles by its fence", law: "section 5, settle") { scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        let batch = try await scene.claim(size: 2)
        try await scene.cancel(job)
        let rejections = try await scene.reject([0], of: batch)
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.pruned], "what became of the rejection")
        let after = try await scene.job(job)
        try expect(after.state, is: .cancelled, "the job's state")
        try expect(after.counts.settled, is: 4, "settled")
        _ = try await scene.claimNothing()
      },
      check("only a running job becomes completed", law: "section 5, settle") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        var answers = batch.delivered()
        answers.failure = .example
        try await scene.settle(.answers(answers))
        try expect(try await scene.job(job).state, is: .failed, "the state of a job that failed with its last batch")
        try await scene.resume(job)
        guard case .ended(let ended) = try await scene.claimOnce() else {
          throw CheckFailure(expected: "the claim to end a job with nothing left", found: "something else")
        }
        try expect(ended.state, is: .completed, "the state after the resume")
        try expect(ended.error, is: nil, "the error after the resume")
      },
    ]
  }
}
