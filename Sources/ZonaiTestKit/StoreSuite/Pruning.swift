import ZonaiCore

extension TokenStoreConformance {
  /// What a prune does to the row it means.
  static var pruning: [Check<Fixture>] {
    [
      check("clearing a column clears that column of that row", law: "law 1") { scene in
        try await scene.makeDevices(3)
        let before = try await scene.fixture.rows(of: "devices")
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let rejections = try await scene.reject([1], of: batch)
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.pruned], "what became of it")
        var expected = before
        for index in expected.indices where expected[index]["id"] == 2 { expected[index]["token"] = .null }
        try expect(Set(try await scene.fixture.rows(of: "devices")), is: Set(expected), "the rows")
        try expect(try await scene.job(job).counts.pruned, is: 1, "pruned")
      },
      check("deleting a row deletes that row", law: "law 1") { scene in
        try await scene.makeDevices(3)
        let before = try await scene.fixture.rows(of: "devices")
        try await scene.enqueue(policy: .deleteRow)
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 2], of: batch)
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.pruned, .pruned], "what became of them")
        try expect(
          try await scene.fixture.rows(of: "devices"), is: before.filter { $0["id"] == 2 }, "the rows that are left")
      },
      check("the policy none touches nothing and counts as kept", law: "law 13") { scene in
        try await scene.makeDevices(3)
        let before = try await scene.fixture.rows(of: "devices")
        let job = try await scene.enqueue(policy: .none)
        let pruned = try await scene.prune(try await scene.claim())
        try expect(pruned.outcomes, is: [.kept, .kept, .kept], "what became of them")
        try expect(Set(try await scene.fixture.rows(of: "devices")), is: Set(before), "the rows")
        try expect(try await scene.job(job).counts.kept, is: 3, "kept")
      },
      check("nothing but a rejection touches a row", law: "law 1") { scene in
        try await scene.makeDevices(6)
        let before = try await scene.fixture.rows(of: "devices")
        let job = try await scene.enqueue(policy: .deleteRow)
        let batch = try await scene.claim(size: 4, first: 4)
        try await scene.settle(
          .answers(
            BatchAnswers(
              lease: batch.lease,
              tally: [
                TallyLine(group: .android, outcome: .transientlyFailed, reason: "UNAVAILABLE", count: 2),
                TallyLine(group: .android, outcome: .expired, reason: .expired, count: 1),
              ], owed: [OwedRecipient(key: batch.recipients.keys[3])], circumstantial: [.android: 2], failure: .example)
          ))
        try await scene.resume(job, suspects: .prune)
        _ = try await scene.drain()
        try expect(Set(try await scene.fixture.rows(of: "devices")), is: Set(before), "the rows")
      },
      check("keep and spare leave the row, and are told in the order of the decisions", law: "law 3") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 1, 2, 3], of: batch)
        let pruned = try await scene.settle(
          .prunes(
            BatchPrunes(
              lease: batch.lease,
              decisions: [
                (rejections[3], .spare), (rejections[0], .followPolicy), (rejections[2], .keep),
                (rejections[1], .followPolicy),
              ])))
        try expect(pruned.outcomes, is: [.spared, .pruned, .kept, .pruned], "what became of each, in their order")
        try expect(try await scene.deviceTokens(), is: [3: "token-3", 4: "token-4"], "the tokens that are left")
        let counts = try await scene.job(job).counts
        try expect([counts.pruned, counts.spared, counts.kept], is: [2, 1, 1], "pruned, spared and kept")
      },
      check("of two rows with one token only the row that was meant is pruned", law: "law 2") { scene in
        try await scene.makeDevices(0)
        try await scene.addDevices([1, 2, 3]) { _ in "shared" }
        try await scene.enqueue()
        let batch = try await scene.claim()
        let rejections = try await scene.reject([1], of: batch)
        try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(try await scene.deviceTokens(), is: [1: "shared", 3: "shared"], "the tokens that are left")
      },
      check("a whole batch is pruned in one step", law: "section 7, prune") { scene in
        try await scene.makeDevices(500)
        let job = try await scene.enqueue()
        let pruned = try await scene.prune(try await scene.claim(first: 500))
        try expect(pruned.outcomes.count { $0 == .pruned }, is: 500, "pruned rows")
        try expect(try await scene.deviceTokens().count, is: 0, "tokens that are left")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("the hook's row is whole, in the table's order, and only while it matches", law: "law 3") { scene in
        try await scene.makeDevices(5)
        try await scene.fixture.update("devices", where: "id", is: 1, set: ["city": "Rome", "age": 44])
        try await scene.enqueue(.devicesLastSeen)
        let batch = try await scene.claim()
        let rejections = try await scene.reject([4, 0, 1, 2, 3], of: batch)
        try await scene.fixture.update("devices", where: "id", is: 2, set: ["token": "another"])
        try await scene.fixture.update("devices", where: "id", is: 3, set: ["seen": .integer(TableSketch.seen + 5000)])
        try await scene.fixture.delete(from: "devices", where: "id", is: 4)
        guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else {
          throw CheckFailure(expected: "rows", found: "another kind of inspection")
        }
        try expect(rows.map { $0?["id"] }, is: [5, 1, nil, nil, nil], "the ids of the rows, in order")
        try expect(rows[1]?.columns, is: ["id", "token", "platform", "seen", "city", "age"], "the columns")
        try expect(rows[1]?["city"], is: "Rome", "the city of the second row")
        try expect(rows[1]?["age"], is: 44, "the age in the second row")
      },
    ]
  }
}
