import ZonaiCore

extension TokenStoreConformance {
  /// Rows that transactions of the application hold, and what they do to those of the store.
  static var locks: [Check<Fixture>] {
    [
      check("rows that the application holds are sent to all the same", law: "law 5") { scene in
        guard scene.fixture.capabilities.locksRows else { return }
        try await scene.makeDevices(7)
        let job = try await scene.enqueue()
        try await scene.fixture.whileLocked("devices", where: "platform", is: "android") {
          let batch = try await scene.claim(size: 3, first: 3)
          try expect(batch.ids, is: [1, 2, 3], "the ids of a page of held rows")
          try await scene.settle(.answers(batch.givenBack()))
          let again = try await scene.claim(size: 3)
          try expect(again.ids.sorted(), is: [1, 2, 3], "the ids of owed recipients in held rows")
          try await scene.deliver(again)
          try expect(try await scene.drain(size: 3).map(\.key.id), is: [4, 5, 6, 7], "the rest")
        }
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      heldCheck(.clearColumn), heldCheck(.deleteRow),
      check("a row that the application lets go while the store waits is pruned", law: "section 5, settle") { scene in
        guard scene.fixture.capabilities.showsLockWaits else { return }
        try await scene.makeDevices(3)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 1, 2], of: batch)
        try await scene.fixture.whileLockedUntilWaitedFor("devices", where: "id", is: 2, then: nil, set: [:]) {
          let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
          try expect(pruned.outcomes, is: [.pruned, .pruned, .pruned], "what became of each")
        }
        try expect(try await scene.job(job).counts.pruned, is: 3, "pruned")
      },
      check("a dead-lock with the application harms neither", law: "section 5, settle") { scene in
        guard scene.fixture.capabilities.showsLockWaits else { return }
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 1, 2, 3], of: batch)
        // The store has rows 1, 3 and 4 and waits for 2; the application has 2 and comes for 1.
        try await scene.fixture.whileLockedUntilWaitedFor(
          "devices", where: "id", is: 2, then: 1, set: ["city": "Oslo"]
        ) {
          let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
          try expect(pruned.outcomes[0], is: .pruned, "what became of the row that the application came for")
          try expect(
            Array(pruned.outcomes[2...]), is: [.pruned, .pruned], "what became of rows that nobody else wanted")
        }
        let counts = try await scene.job(job).counts
        try expect(counts.permanentlyRejected, is: 4, "rejections")
        let rows = try await scene.fixture.rows(of: "devices")
        try expect(rows.count { $0["city"] == "Oslo" }, is: 2, "rows that the application changed")
        try expect(
          rows.count { $0["token"] == .null }, is: counts.pruned, "tokens that were cleared, by the job's counts")
      },
      check("a prune that ends as a dead-lock's victim is done again", law: "law 13") { scene in
        guard scene.fixture.capabilities.raisesConflicts else { return }
        try await scene.makeDevices(5)
        try await scene.fixture.raiseConflicts(on: "devices", where: "id", is: 3, times: 2)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 1, 2, 3], of: batch)
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.pruned, .pruned, .pruned, .pruned], "what became of each")
        try expect(pruned.refusals, is: [], "refusals that are told")
        try expect(try await scene.deviceTokens(), is: [5: "token-5"], "the tokens that are left")
        let after = try await scene.job(job)
        try expect(after.counts.pruned, is: 4, "pruned")
        try expect(after.counts.settled, is: 5, "settled")
        try expect(after.state, is: .completed, "the job's state")
      },
      check("devices that register anew while they are pruned keep their new tokens", law: "law 2") { scene in
        try await scene.makeDevices(60)
        let job = try await scene.enqueue()
        let batch = try await scene.claim(first: 60)
        let rejections = try await scene.reject(Array(0..<60), of: batch)
        async let registered: Void = {
          for id in stride(from: Int64(60), to: 0, by: -3) {
            try await scene.fixture.update("devices", where: "id", is: .integer(id), set: ["token": .text("new-\(id)")])
          }
        }()
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try await registered
        let tokens = try await scene.deviceTokens()
        for (index, outcome) in pruned.outcomes.enumerated() {
          let id = Int64(index) + 1
          if id % 3 == 0 {
            try expect(tokens[id], is: "new-\(id)", "the token of a device that registered anew")
          } else {
            try expect(outcome, is: .pruned, "what became of device \(id)")
            try expect(tokens[id], is: nil, "the token of device \(id)")
          }
        }
        let counts = try await scene.job(job).counts
        try expect(counts.pruned, is: pruned.outcomes.count { $0 == .pruned }, "pruned")
        try expect(counts.permanentlyRejected, is: 60, "rejections")
      },
    ]
  }

  /// A transaction holds one row of three for as long as the prunes take.
  private static func heldCheck(_ policy: Policy) -> Check<Fixture> {
    check(
      "a row that the application holds is spared, and the others are not (\(policy.rawValue))",
      law: "section 5, settle"
    ) { scene in
      guard scene.fixture.capabilities.locksRows else { return }
      try await scene.makeDevices(3)
      let job = try await scene.enqueue(policy: policy)
      let batch = try await scene.claim()
      let rejections = try await scene.reject([0, 1, 2], of: batch)
      try await scene.fixture.whileLocked("devices", where: "id", is: 2) {
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.pruned, .spared, .pruned], "what became of each")
      }
      try expect(try await scene.deviceTokens(), is: [2: "token-2"], "the tokens that are left")
      try expect(try await scene.job(job).counts.spared, is: 1, "spared")
      try expect(try await scene.job(job).state, is: .completed, "the job's state")
    }
  }
}
