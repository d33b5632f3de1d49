import ZonaiCore

extension TokenStoreConformance {
  /// Many handles on one database at once.
  static var sharing: [Check<Fixture>] {
    [
      shareCheck(workers: 2), shareCheck(workers: 4),
      check("of workers that come at once for a new job one has its first batch", law: "section 5, claim") { scene in
        try await scene.makeDevices(20)
        try await scene.enqueue()
        let found = try await together(try await scene.open(4)) { store, number in
          try await scene.claimOnce("worker-\(number)", size: 4, first: 4, on: store)
        }
        let batches = found.compactMap { result in if case .batch(let batch) = result { batch } else { nil } }
        try expect(batches.map(\.ids), is: [[1, 2, 3, 4]], "the ids of the batches that were handed out")
        try expect(batches.map(\.isFirst), is: [true], "isFirst of them")
        try await scene.deliver(batches[0])
        try expect(try await scene.drain(size: 4).count, is: 16, "recipients of the rest")
      },
      check("leases are renewed while the same handle settles", law: "section 5, renew") { scene in
        try await scene.makeDevices(26)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        var batches: [ClaimedBatch] = []
        for _ in 0..<6 { batches.append(try await scene.claim(size: 4)) }
        let leases = batches.map(\.lease)
        let request = RenewRequest(
          worker: WorkerID(rawValue: "anna"), leases: leases, leaseMilliseconds: 120_000)
        async let renewed = together(Array(0..<6)) { _, _ in try await scene.store.renew(request) }
        _ = try await together(batches) { batch, _ in try await scene.prune(batch) }
        for answers in try await renewed { try expect(answers.map(\.lease), is: leases, "the leases, in their order") }
        let late = try await scene.store.renew(request)
        try expect(late.allSatisfy { !$0.isOwned }, "batches that are gone to be nobody's")
        let after = try await scene.job(job)
        try expect(after.counts.pruned, is: 24, "pruned")
        try expect(after.state, is: .completed, "the job's state")
      },
      check("of workers that come at once for dead workers' batches each batch goes to one", law: "law 8") { scene in
        try await scene.makeDevices(14)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        var left: [BatchLease] = []
        for number in 0..<3 { left.append(try await scene.claim("dead-\(number)", size: 4).lease) }
        // A store that has just come may leave the batches of others alone for a while: these have been there.
        let stores = try await scene.open(4)
        for store in stores { _ = try await scene.claimOnce("newcomer", size: 4, on: store) }
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await together(stores) { store, number -> ClaimedBatch? in
          guard case .batch(let batch) = try await scene.claimOnce("worker-\(number)", size: 4, on: store) else {
            return nil
          }
          return batch
        }
        let batches = taken.compactMap { $0 }
        try expect(Set(batches.map(\.lease.batch)), is: Set(left.map(\.batch)), "the batches that were taken over")
        try expect(batches.count, is: 3, "takeovers")
        try expect(batches.map(\.lease.fence), is: [2, 2, 2], "their fences")
        try expect(batches.flatMap(\.ids).sorted(), is: Array(3...14), "the ids of all of them")
        try expect(try await scene.job(job).counts.repeatedByTakeover, is: 12, "repeats by takeover")
        for lease in left { try await scene.expectLeaseLost(.answers(BatchAnswers(lease: lease))) }
        for batch in batches { try await scene.deliver(batch) }
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("one settlement from many handles at once counts once", law: "law 4") { scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        let batch = try await scene.claim(size: 3)
        var answers = batch.delivered(but: [0, 1])
        answers.rejections = [batch.rejection(0), batch.rejection(1, evidence: .tokenNamed)]
        let stores = try await scene.open(4)
        _ = try await together(stores) { [answers] store, _ in try await store.settle(.answers(answers)) }
        try expect(try await scene.job(job).counts.delivered, is: 3, "deliveries after the answers")
        let record = try await scene.witnesses(batch.lease, .android)
        try expect(record.recordCircumstantialSince, is: 1, "circumstantial answers on record")
        let prunes = batch.prunes(answers.rejections)
        _ = try await together(stores) { store, _ in try await store.settle(.prunes(prunes)) }
        let after = try await scene.job(job)
        try expect(after.counts.permanentlyRejected, is: 2, "rejections after the prunes")
        try expect(after.counts.pruned, is: 2, "pruned")
        try expectSum(of: after)
      },
      check("settlements of many batches at once are all counted", law: "law 13") { scene in
        try await scene.makeDevices(122)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        var batches: [ClaimedBatch] = []
        for _ in 0..<12 { batches.append(try await scene.claim(size: 10)) }
        let stores = try await scene.open(4)
        _ = try await together(stores) { [batches] store, number in
          for batch in batches[number * 3..<number * 3 + 3] {
            try await settleMixed(batch, on: store)
            guard case .job(let job?) = try await store.jobs(.one(job)) else { continue }
            try expectSum(of: job)
          }
        }
        let after = try await scene.job(job)
        let counts = after.counts
        try expect(counts.delivered, is: 2 + 12 * 4, "deliveries")
        try expect(counts.transientlyFailed, is: 12 * 3, "transient failures")
        try expect([counts.pruned, counts.kept, counts.spared], is: [12, 12, 12], "pruned, kept and spared")
        try expect(counts.settled, is: 122, "settled")
        try expect(counts.repeatedAfterLostAnswer, is: 12, "repeats after a lost answer")
        try expect(after.state, is: .completed, "the job's state")
        try expect(try await scene.deviceTokens().count, is: 110, "tokens that are left")
      },
      check("a job completes when its last batches settle at the same moment", law: "section 5, complete") { scene in
        try await scene.makeDevices(6)
        let stores = try await scene.open(2)
        for round in 0..<5 {
          let job = try await scene.enqueue(title: "round \(round)")
          try await scene.deliver(try await scene.claim(size: 2, first: 2))
          let last = [try await scene.claim(size: 2), try await scene.claim(size: 2)]
          let told = try await together(stores) { store, number -> JobState? in
            guard case .committed(let committed) = try await store.settle(.answers(last[number].delivered())) else {
              return nil
            }
            return committed.job.state
          }
          try expect(try await scene.job(job).state, is: .completed, "the job's state in round \(round)")
          try expect(told.count { $0 == .completed }, is: 1, "commits that tell the job's end in round \(round)")
        }
      },
      check("of a late owner and a new one that settle at once the new one is counted", law: "law 8") { scene in
        try await scene.makeDevices(4)
        let stores = try await scene.open(2)
        for round in 0..<3 {
          let job = try await scene.enqueue(title: "round \(round)")
          let late = try await scene.claim("anna")
          try await scene.fixture.advance(milliseconds: 61_000)
          let owned = try await scene.claim("berta")
          let failed = BatchAnswers(lease: late.lease, failure: .example)
          let results = try await together([failed, owned.delivered()]) { answers, number in
            if case .committed = try await stores[number].settle(.answers(answers)) { true } else { false }
          }
          try expect(results, is: [false, true], "whose answers were committed in round \(round)")
          let after = try await scene.job(job)
          try expect(after.counts.delivered, is: 4, "deliveries in round \(round)")
          try expect(after.state, is: .completed, "the job's state in round \(round)")
        }
      },
      check("of cancels at once one stops the job, of resumes at once one starts it", law: "section 5, job's life") {
        scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        let open = try await scene.claim(size: 2, first: 2)
        let stores = try await scene.open(4)
        for (change, state) in [(JobChange.cancel(job), JobState.cancelled), (.resume(job, suspects: .ask), .running)] {
          let done = try await together(stores) { store, _ -> Bool in
            do throws(StoreError) {
              _ = try await store.change(change)
              return true
            } catch {
              guard error.code == .wrongState else { throw error }
              return false
            }
          }
          try expect(done.count { $0 }, is: 1, "changes to \(state.rawValue) that were made")
          try expect(try await scene.job(job).state, is: state, "the job's state")
        }
        try await scene.deliver(open)
        try expect(try await scene.drain(size: 2).map(\.key.id), is: [3, 4], "the rest")
      },
      check("enqueues at once with one idempotency key make one job", law: "section 5, enqueue") { scene in
        try await scene.makeDevices(2)
        let stores = try await scene.open(4)
        let jobs = try await together(stores + stores) { store, _ in try await store.enqueue(scene.request(key: "once"))
        }
        try expect(Set(jobs.map(\.job.id)).count, is: 1, "jobs")
        try expect(jobs.count { !$0.wasThere }, is: 1, "enqueues that made one")
        let others = try await together(stores) { store, number -> Bool in
          do throws(StoreError) {
            return try await !store.enqueue(scene.request(title: "content \(number)", key: "twice")).wasThere
          } catch {
            guard error.code == .idempotencyClash else { throw error }
            return false
          }
        }
        try expect(others.count { $0 }, is: 1, "enqueues of different content that were taken")
        try expect(try await scene.allJobs().count, is: 2, "jobs in all")
      },
      check("a handle that is closed while others work takes nothing with it", law: "law 8") { scene in
        try await scene.makeDevices(40)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 4, first: 4))
        let closing = try await scene.open()
        guard case .batch(let open) = try await scene.claimOnce("closing", size: 4, on: closing) else { return }
        let stores = try await scene.open(2)
        async let handed = together(stores) { store, number in
          try await work(scene, as: "worker-\(number)", on: store, until: { batches in batches.count == 4 })
        }
        await scene.fixture.close(closing)
        let early = try await handed.flatMap { $0 }
        try expect(early.flatMap(\.ids).count, is: 32, "recipients of the others")
        try await expectRefusal(.unavailable, "a settlement on a closed handle") {
          _ = try await closing.settle(.answers(open.delivered()))
        }
        _ = try await scene.claimNothing("worker-0")
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("worker-1", size: 4)
        try expect(taken.ids, is: open.ids, "the ids of the batch that the closed handle had")
        try await scene.deliver(taken)
        try expect(try await scene.job(job).counts.delivered, is: 40, "deliveries")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
    ]
  }

  /// So many workers, each on a handle of its own, on three jobs.
  private static func shareCheck(workers: Int) -> Check<Fixture> {
    check("\(workers) workers that claim at once hand out everybody of each job once", law: "section 5, claim") {
      scene in
      try await scene.makeDevices(60)
      var jobs: [JobID] = []
      for number in 0..<3 { jobs.append(try await scene.enqueue(title: "number \(number)")) }
      let handed = try await together(try await scene.open(workers)) { store, number in
        try await work(scene, as: "worker-\(number)", on: store)
      }.flatMap { $0 }
      try expect(Set(handed.map(\.lease)).count, is: handed.count, "different leases among all")
      try expect(handed.allSatisfy { $0.lease.fence == 1 && !$0.isTakeover }, "every batch to be claimed once")
      for job in jobs {
        let ids = handed.filter { $0.job.id == job }.flatMap(\.ids)
        try expect(ids.sorted(), is: Array(1...60), "the ids that all workers were handed of one job")
        let after = try await scene.job(job)
        try expect(after.state, is: .completed, "the job's state")
        try expect(after.counts.delivered, is: 60, "deliveries")
        try expect(after.counts.repeatedByTakeover, is: 0, "repeats")
      }
    }
  }

  /// Claims and delivers until no job is open, or enough was done.
  private static func work(
    _ scene: Scene<Fixture>, as worker: String, on store: Fixture.Store,
    until isEnough: ([ClaimedBatch]) -> Bool = { _ in false }
  ) async throws -> [ClaimedBatch] {
    var handed: [ClaimedBatch] = []
    for _ in 0..<2000 {
      if isEnough(handed) { return handed }
      switch try await scene.claimOnce(worker, size: 4, first: 4, on: store) {
      case .batch(let batch):
        handed.append(batch)
        guard case .committed = try await store.settle(.answers(batch.delivered())) else {
          throw CheckFailure(expected: "a live lease to commit", found: "lease lost")
        }
      case .ended, .contended: continue
      case .nothing:
        guard case .jobs(let open) = try await store.jobs(.list(limit: 10, states: [.pending, .running])) else {
          return handed
        }
        if open.isEmpty { return handed }
        try await store.waitForWork(milliseconds: 20)
      }
    }
    throw CheckFailure(expected: "the work to end", found: "2000 claims and no end")
  }

  /// Four deliveries on two platforms, three failures, and one rejection each that is pruned, kept and spared.
  private static func settleMixed(_ batch: ClaimedBatch, on store: Fixture.Store) async throws {
    let rejections = (0..<3).map { batch.rejection($0, group: $0 == 1 ? .ios : .android) }
    let answers = BatchAnswers(
      lease: batch.lease,
      tally: [
        TallyLine(group: .ios, outcome: .delivered, reason: "delivered", count: 2),
        TallyLine(group: .android, outcome: .delivered, reason: "delivered", count: 2),
        TallyLine(group: .ios, outcome: .transientlyFailed, reason: "BadTopic", count: 1),
        TallyLine(group: .android, outcome: .transientlyFailed, reason: "UNAVAILABLE", count: 2),
      ], rejections: rejections, repeatedAfterLostAnswer: 1)
    guard case .committed = try await store.settle(.answers(answers)) else {
      throw CheckFailure(expected: "a live lease to commit its answers", found: "lease lost")
    }
    let decisions: [(Rejection, BatchPrunes.Decision)] = [
      (rejections[0], .followPolicy), (rejections[1], .keep), (rejections[2], .spare),
    ]
    guard case .committed = try await store.settle(.prunes(BatchPrunes(lease: batch.lease, decisions: decisions)))
    else {
      throw CheckFailure(expected: "a live lease to commit its prunes", found: "lease lost")
    }
  }
}
