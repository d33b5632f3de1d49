import Synchronization
import ZonaiCore

extension TokenStoreConformance {
  /// Circumstantial evidence is decided in the settling transaction.
  static var weighing: [Check<Fixture>] {
    [
      check("settlements at once keep to one ceiling", law: "section 4, ceiling") { scene in
        try await scene.makeDevices(210)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 10, first: 10))
        var batches: [ClaimedBatch] = []
        for _ in 0..<20 { batches.append(try await scene.claim(size: 10)) }
        let stores = try await scene.open(4)
        let rejections = Mutex<[BatchLease: [Rejection]]>([:])
        _ = try await together(stores) { [batches] store, place in
          for (number, batch) in batches.enumerated() where number % stores.count == place {
            var answers = batch.delivered(but: [1, 4, 7])
            answers.circumstantial = [1, 4, 7].map { batch.circumstantial($0, .aboutLane) }
            guard case .committed(let committed) = try await store.settle(.answers(answers)) else {
              throw CheckFailure(expected: "a live lease to commit", found: "lease lost")
            }
            rejections.withLock { $0[batch.lease] = committed.recorded }
          }
        }
        let recorded = rejections.withLock { $0 }
        for (lease, some) in recorded where !some.isEmpty {
          try await scene.settle(
            .prunes(BatchPrunes(lease: lease, decisions: some.map { ($0, .followPolicy) })))
        }
        let done = try await scene.job(job)
        let count = recorded.values.reduce(0) { $0 + $1.count }
        try expect(done.counts.pruned, is: count, "the rejections that were pruned")
        try expect(count <= 42, "no more than a fifth of 210", found: "\(count)")
        try expect(count >= 20, "most of a fifth", found: "\(count)")
        try expect(done.counts.pruned + done.counts.transientlyFailed, is: 60, "circumstantial answers")
        try expect(done.counts.settled, is: 210, "settled recipients")
        let cleared = 210 - (try await scene.deviceTokens()).count
        try expect(cleared, is: count, "the rows that were cleared")
      },
      check("the guard counts the circumstantial answers of the whole job", law: "section 4, guard") { scene in
        try await scene.makeDevices(8)
        let job = try await scene.enqueue()
        let first = try await scene.claim(size: 4, first: 4)
        var answers = BatchAnswers(
          lease: first.lease,
          tally: [TallyLine(group: .android, outcome: .transientlyFailed, reason: "UNAVAILABLE", count: 3)])
        answers.circumstantial = [first.circumstantial(0)]
        let kept = try await scene.settle(.answers(answers))
        try expect(kept.recorded, is: [], "rejections without a witness")
        try expect(kept.job.state, is: .running, "the job's state after one such answer")
        let line = try await scene.job(job).tally.first { $0.evidence != nil }
        try expect(line?.outcome, is: .transientlyFailed, "what the answer counts as")
        try expect(line?.evidence, is: .tokenNamed, "its evidence")
        try expect(line?.detail.isEmpty, is: false, "whether its line has no reason")
        let second = try await scene.claim(size: 4)
        answers = BatchAnswers(
          lease: second.lease,
          tally: [TallyLine(group: .ios, outcome: .delivered, reason: "delivered", count: 3)])
        answers.circumstantial = [second.circumstantial(2)]
        let stopped = try await scene.settle(.answers(answers))
        try expect(stopped.recorded, is: [], "rejections of a suspect group")
        try expect(stopped.job.state, is: .failed, "the job's state")
        try expect(stopped.job.error?.code, is: .suspects, "the error's code")
        try expect(stopped.job.counts.delivered, is: 3, "deliveries, which stay counted")
        try expect(try await scene.job(job).owed, is: 1, "the suspects, who stay owed")
        try await scene.resume(job, suspects: .keep)
        let again = try await scene.claim()
        try expect(again.keptGroups, is: [.android], "the groups that are kept")
        answers = BatchAnswers(lease: again.lease)
        answers.circumstantial = [again.circumstantial(0)]
        let done = try await scene.settle(.answers(answers))
        try expect(done.job.state, is: .completed, "the job's state after it was resumed with keep")
        try expect(done.job.counts.transientlyFailed, is: 5, "transient failures")
        try expect((try await scene.deviceTokens()).count, is: 8, "tokens that are left")
      },
      check("a rejection that is to be kept is kept beside a witness", law: "section 4, environment") { scene in
        try await scene.makeDevices(20)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        var answers = batch.delivered(but: [2, 3])
        answers.circumstantial = [
          batch.circumstantial(2, .aboutLane, keptBecause: "the sandbox environment answers 410"),
          batch.circumstantial(3, .aboutLane),
        ]
        let committed = try await scene.settle(.answers(answers))
        try expect(committed.recorded.map(\.key), is: [batch.recipients.keys[3]], "the rejections that were recorded")
        let details = try await scene.job(job).tally.filter { $0.outcome == .transientlyFailed }.map(\.detail)
        try expect(details.contains { $0.contains("410") }, "the reason in the job's account", found: "\(details)")
      },
      check("in a job of one recipient the record may speak", law: "section 4, record") { scene in
        try await scene.makeDevices(1)
        try await scene.enqueue(title: "before")
        try await scene.deliver(try await scene.claim())
        for (title, hours, isAccepted) in [("soon", 1, true), ("late", 25, false)] {
          try await scene.fixture.advance(milliseconds: Int64(hours) * 3_600_000)
          try await scene.enqueue(title: title)
          let batch = try await scene.claim()
          try expect(batch.isSole, is: true, "isSole")
          var answers = BatchAnswers(lease: batch.lease, isSole: true)
          answers.circumstantial = [batch.circumstantial(0)]
          let committed = try await scene.settle(.answers(answers))
          try expect(committed.recorded.count, is: isAccepted ? 1 : 0, "rejections after \(hours) hours")
          if isAccepted { try await scene.settle(.prunes(batch.prunes(committed.recorded, .keep))) }
        }
      },
      check("checks in the other environment are counted by job and hour", law: "section 4, environment") { scene in
        try await scene.makeDevices(4)
        try await scene.enqueue(title: "one")
        let one = try await scene.claim()
        try await scene.enqueue(title: "two")
        let two = try await scene.claim()
        let stores = try await scene.open(4)
        let granted = Mutex(0)
        _ = try await together(stores) { store, _ in
          for _ in 0..<10 {
            let some = try await store.takeChecks(CheckBudgetRequest(lease: one.lease, wanted: 7))
            granted.withLock { $0 += some }
          }
        }
        try expect(granted.withLock { $0 }, is: 200, "checks of one job within an hour")
        func take(_ lease: BatchLease, _ wanted: Int) async throws -> Int {
          try await scene.store.takeChecks(CheckBudgetRequest(lease: lease, wanted: wanted))
        }
        try expect(try await take(two.lease, 150), is: 150, "checks of another job")
        try expect(try await take(two.lease, 150), is: 50, "the rest of its budget")
        try expect(
          try await take(BatchLease(job: one.lease.job, batch: one.lease.batch, fence: one.lease.fence + 1), 1), is: 0,
          "checks for a lease that is not the caller's")
        try await scene.fixture.advance(milliseconds: 3_700_000)
        try expect(try await take(one.lease, 5), is: 5, "checks an hour later")
        try await scene.deliver(two)
        try expect(try await take(two.lease, 5), is: 0, "checks for a batch that is settled")
      },
    ]
  }
}
