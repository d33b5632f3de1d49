import ZonaiCore

extension TokenStoreConformance {
  /// What becomes of the batches of dead workers.
  static var takeovers: [Check<Fixture>] {
    [
      check("a batch whose lease ended is taken over whole, and its repeats are counted", law: "law 6") { scene in
        try await scene.makeDevices(9)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim("anna", size: 3, first: 3))
        let dead = try await scene.claim("anna", size: 3)
        try expect(dead.isTakeover, is: false, "isTakeover of a new page")
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("berta", size: 3)
        try expect(taken.isTakeover, is: true, "isTakeover")
        try expect(taken.lease.batch, is: dead.lease.batch, "the batch")
        try expect(taken.ids, is: [4, 5, 6], "the ids of the batch")
        try expect(try await scene.job(job).counts.repeatedByTakeover, is: 3, "repeats by takeover")
        try await scene.deliver(taken)
        try expect(try await scene.drain(size: 3).map(\.key.id), is: [7, 8, 9], "the rest")
        try expect(try await scene.job(job).counts.delivered, is: 9, "deliveries")
      },
      check("answers that were committed before a crash are not asked for again", law: "law 5") { scene in
        try await scene.makeDevices(5)
        let job = try await scene.enqueue()
        let dead = try await scene.claim("anna")
        var answers = dead.delivered(but: [1, 3, 4])
        answers.rejections = [dead.rejection(1), dead.rejection(3, evidence: .aboutLane)]
        answers.owed = [OwedRecipient(key: dead.recipients.keys[4], attempts: 2)]
        try await scene.settle(.answers(answers))
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("berta")
        try expect(taken.isTakeover, is: true, "isTakeover")
        try expect(taken.ids, is: [5], "the ids to send to")
        try expect(taken.rejections, is: answers.rejections, "the rejections, with their event ids")
        try expect(try await scene.job(job).counts.repeatedByTakeover, is: 0, "repeats by takeover of settled ones")
      },
      check("rejections without anybody owed come back after a crash, and end the batch", law: "law 4") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.enqueue()
        let recorded = try await scene.reject([0, 1], of: try await scene.claim("anna"))
        try expect(try await scene.job(job).state, is: .running, "the state before the prunes")
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("berta")
        try expect(taken.recipients.count, is: 0, "recipients to send to")
        try expect(taken.rejections, is: recorded, "the rejections")
        let pruned = try await scene.settle(.prunes(taken.prunes(taken.rejections)))
        try expect(pruned.outcomes, is: [.pruned, .pruned], "what became of them")
        try expect(try await scene.job(job).state, is: .completed, "the state after the prunes")
      },
      check("the third takeover of a batch stops its job, which keeps its place", law: "section 5, takeovers") {
        scene in
        try await scene.makeDevices(5)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        _ = try await scene.claim("worker-0", size: 2)
        for number in 1...2 {
          try await scene.fixture.advance(milliseconds: 61_000)
          let taken = try await scene.claim("worker-\(number)", size: 2)
          try expect(taken.isTakeover, is: true, "isTakeover of takeover \(number)")
        }
        try await scene.fixture.advance(milliseconds: 61_000)
        guard case .ended(let ended) = try await scene.claimOnce("worker-3", size: 2) else {
          throw CheckFailure(expected: "the third takeover to stop the job", found: "something else")
        }
        try expect(ended.state, is: .failed, "the job's state")
        try expect(ended.error?.code, is: .takeovers, "the code of its error")
        try expect(ended.error?.detail.isEmpty, is: false, "whether its error lacks a sentence")
        _ = try await scene.claimNothing("worker-4")
        try await scene.resume(job)
        let handed = try await scene.drain(size: 2)
        try expect(handed.map(\.key.id), is: [3, 4, 5], "the ids after the resume")
      },
      check("a resume starts the counting of takeovers anew", law: "section 5, takeovers") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.enqueue()
        _ = try await scene.claim("worker-0")
        for number in 1...2 {
          try await scene.fixture.advance(milliseconds: 61_000)
          _ = try await scene.claim("worker-\(number)")
        }
        try await scene.cancel(job)
        try await scene.resume(job)
        for number in 3...4 {
          try await scene.fixture.advance(milliseconds: 61_000)
          _ = try await scene.claim("worker-\(number)")
        }
        try await scene.fixture.advance(milliseconds: 61_000)
        guard case .ended(let ended) = try await scene.claimOnce("worker-5") else {
          throw CheckFailure(expected: "the third takeover since the resume to stop the job", found: "something else")
        }
        try expect(ended.error?.code, is: .takeovers, "the code of its error")
      },
      check("a lease given back is no takeover", law: "section 5, takeovers") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.enqueue()
        for round in 0..<6 {
          let batch = try await scene.claim("worker-\(round)")
          try expect(batch.isTakeover, is: false, "isTakeover in round \(round)")
          try expect(batch.ids, is: [1, 2], "the ids in round \(round)")
          try await scene.settle(.answers(batch.givenBack()))
        }
        try expect(try await scene.job(job).counts.repeatedByTakeover, is: 0, "repeats by takeover")
        try expect(try await scene.job(job).state, is: .running, "the job's state")
      },
      check("a range that grew is cut in two when it is claimed again", law: "section 5, claim") { scene in
        try await scene.fixture.create(.devices)
        try await scene.addDevices((1...8).map { $0 * 10 })
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim("anna", size: 4, first: 4))
        let dead = try await scene.claim("anna", size: 4)
        try expect(dead.ids, is: [50, 60, 70, 80], "the ids of the second page")
        try await scene.addDevices([51, 52, 53, 61, 71, 72, 73, 79])
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("berta", size: 4)
        try expect(taken.isTakeover, is: true, "isTakeover of the first part")
        try await scene.deliver(taken)
        let handed = taken.ids + (try await scene.drain(size: 4).map(\.key.id))
        try expect(
          handed.sorted(), is: [50, 51, 52, 53, 60, 61, 70, 71, 72, 73, 79, 80], "the ids after the takeover")
        try expect(Set(handed).count, is: handed.count, "different ids among them")
        let after = try await scene.job(job)
        try expect(after.state, is: .completed, "the job's state")
        try expect(
          (4...12).contains(after.counts.repeatedByTakeover), "between 4 and 12 repeats by takeover",
          found: "\(after.counts.repeatedByTakeover)")
      },
      check("a batch whose rows all went ends without its owner", law: "section 5, complete") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim("anna", size: 2, first: 2))
        _ = try await scene.claim("anna", size: 2)
        for id in 3...4 { try await scene.fixture.delete(from: "devices", where: "id", is: .integer(Int64(id))) }
        try await scene.fixture.advance(milliseconds: 61_000)
        try expect(try await scene.drain(size: 2).count, is: 0, "recipients that are left")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
    ]
  }
}
