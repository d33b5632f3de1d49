import ZonaiCore

extension TokenStoreConformance {
  /// Nobody is skipped and nobody comes twice, whatever happens to the table meanwhile.
  static var paging: [Check<Fixture>] {
    [
      check("pages hand out everybody once, in the order of the key", law: "law 5") { scene in
        try await scene.makeDevices(23)
        let job = try await scene.enqueue()
        let handed = try await scene.drain(size: 5, first: 2)
        try expect(handed.map(\.key.id), is: Array(1...23), "the ids in the order in which they were handed out")
        try expect(handed.map(\.token), is: (1...23).map { "token-\($0)" }, "the token of each")
        let after = try await scene.job(job)
        try expect(after.state, is: .completed, "the job's state")
        try expect(after.counts.delivered, is: 23, "deliveries")
      },
      check("rows inserted and deleted meanwhile make nobody skipped or sent to twice", law: "law 5") { scene in
        try await scene.fixture.create(.devices)
        try await scene.addDevices((1...20).map { $0 * 10 })
        try await scene.enqueue()
        var handed: [Int64] = []
        var inserted: Int64 = 0
        for round in 0..<40 {
          guard case .batch(let batch) = try await scene.claimOnce(size: 3, first: 2) else { break }
          handed += batch.ids
          // Before and behind the page, and the row it ended with goes.
          inserted = batch.ids.last ?? 0
          try await scene.addDevices([inserted - 5, inserted + 3].filter { $0 > 0 && $0 % 10 != 0 }) {
            "late-\($0)-\(round)"
          }
          if let first = batch.ids.first {
            try await scene.fixture.delete(from: "devices", where: "id", is: .integer(first))
          }
          try await scene.deliver(batch)
        }
        try expect(Set(handed).count, is: handed.count, "different ids among all that were handed out")
        try expect(
          handed.filter { $0 % 10 == 0 }, is: (1...20).map { $0 * 10 },
          "everybody who was there at the first claim, once")
      },
      check("rows with keys behind the last one at the first claim are not sent to", law: "section 5, claim") { scene in
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        let first = try await scene.claim(size: 2, first: 2)
        try await scene.addDevices(Array(100...130))
        try await scene.deliver(first)
        let handed = try await scene.drain(size: 2)
        try expect(first.ids + handed.map(\.key.id), is: Array(1...6), "the ids that were handed out")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("an empty audience completes", law: "section 5, complete") { scene in
        try await scene.makeDevices(0)
        let job = try await scene.enqueue()
        guard case .ended(let ended) = try await scene.claimOnce() else {
          throw CheckFailure(expected: "the claim to end the job", found: "something else")
        }
        try expect(ended.id, is: job, "the job that ended")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
        _ = try await scene.claimNothing()
      },
      check("an audience whose rows all went after the enqueuing completes", law: "section 5, complete") { scene in
        try await scene.makeDevices(7)
        let job = try await scene.enqueue()
        let first = try await scene.claim(size: 3, first: 3)
        for id in 1...7 { try await scene.fixture.delete(from: "devices", where: "id", is: .integer(Int64(id))) }
        try await scene.deliver(first)
        let handed = try await scene.drain(size: 3)
        try expect(handed.count, is: 0, "recipients after all rows went")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("a job of one recipient says so, a job of two does not", law: "section 4") { scene in
        try await scene.makeDevices(1)
        try await scene.enqueue()
        let sole = try await scene.claim()
        try expect(sole.isSole, is: true, "isSole of the one recipient's batch")
        try await scene.deliver(sole)
        try await scene.addDevices([2])
        try await scene.enqueue(title: "again")
        let one = try await scene.claim(size: 1, first: 1)
        try expect(one.isSole, is: false, "isSole of the first of two")
        try await scene.deliver(one)
        try expect(try await scene.claim(size: 1).isSole, is: false, "isSole of the second of two")
      },
    ]
  }
}
