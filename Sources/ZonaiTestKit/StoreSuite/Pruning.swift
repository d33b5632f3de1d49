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
                TallyLine(group: .android, outcome: .transientlyFailed, reason: "UNAVAILABLE", count: 1),
                TallyLine(group: .android, outcome: .expired, reason: .expired, count: 1),
              ], owed: [OwedRecipient(key: batch.recipients.keys[3])],
              circumstantial: [batch.circumstantial(2)], failure: .example)
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
      check("a batch of twelve hundred is owed, shown and pruned whole", law: "section 7, prune") { scene in
        try await scene.fixture.create(
          TableSketch(
            "many",
            columns: [
              ColumnSketch("app", .text, isNullable: false), ColumnSketch("number", .integer, isNullable: false),
              ColumnSketch("token", .text), ColumnSketch("seen", .moment),
            ], primaryKey: ["app", "number"]))
        try await scene.fixture.insert(
          (0..<1200).map { number in
            [
              "app": number % 2 == 0 ? "news" : "mail", "number": .integer(number), "token": .text("token-\(number)"),
              "seen": number % 3 == 0 ? .null : "2026-01-01 00:00:00.000001",
            ]
          }, into: "many")
        let job = try await scene.enqueue(Audience("many", token: "token", lastSeen: "seen"))
        let batch = try await scene.claim(size: 1200, first: 1200)
        try expect(batch.recipients.count, is: 1200, "recipients")
        try await scene.settle(.answers(batch.givenBack()))
        let again = try await scene.claim(size: 1200)
        try expect(Set(again.tokens).count, is: 1200, "recipients who are owed")
        let rejections = try await scene.reject(Array(0..<1200), of: again)
        guard case .rows(let rows) = try await scene.store.inspect(.rows(again.lease, rejections)) else { return }
        try expect(
          rows.map { $0?["token"] }, is: rejections.map { .text($0.token.text) },
          "the tokens of the hooks' rows, in order")
        let pruned = try await scene.settle(.prunes(again.prunes(rejections)))
        try expect(pruned.outcomes.count { $0 == .pruned }, is: 1200, "pruned rows")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("the hook's row holds every value as its own type has it", law: "law 3") { scene in
        try await scene.fixture.create(
          TableSketch(
            "kinds",
            columns: [
              ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text),
              ColumnSketch("real", .real),
              ColumnSketch("small", .smallInteger), ColumnSketch("blob", .blob), ColumnSketch("uuid", .uuid),
              ColumnSketch("moment", .moment), ColumnSketch("clock", .wallClock),
              ColumnSketch("note", .caseInsensitiveText),
              ColumnSketch("nothing", .integer),
            ], primaryKey: ["id"]))
        let uuid: Value = "00000000-0000-4000-8000-0000000000ff"
        try await scene.fixture.insert(
          [
            [
              "id": .integer(.max), "token": "t", "real": 0.1, "small": -7, "blob": .bytes([0, 255, 39]), "uuid": uuid,
              "moment": "2026-10-25 01:30:00.123456", "clock": "2026-10-25 01:30:00.123456", "note": "It's \u{1F600}",
            ]
          ], into: "kinds")
        try await scene.enqueue(Audience("kinds", token: "token"))
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0], of: batch)
        guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)), let row = rows[0]
        else {
          throw CheckFailure(expected: "the hook's row", found: "none")
        }
        try expect(
          ["id", "real", "small", "blob", "uuid", "note", "nothing"].map { row[$0] },
          is: [.integer(.max), 0.1, -7, .bytes([0, 255, 39]), uuid, "It's \u{1F600}", .null], "the values")
        try expect(
          ["moment", "clock"].map { row[$0].flatMap { LastSeen.milliseconds($0) } },
          is: [1_792_891_800_123, 1_792_891_800_123], "the moments as milliseconds")
      },
      check("a row that another table points to is spared, and the others are deleted", law: "law 13") { scene in
        try await makeReferenced(scene)
        try await scene.addDevices([2, 3])
        try await scene.fixture.insert([["id": 1, "device": 2]], into: "orders")
        var request = scene.request(policy: .deleteRow)
        request.deletesReferencedRows = true
        let job = try await scene.store.enqueue(request).job.id
        let pruned = try await scene.prune(try await scene.claim())
        try expect(pruned.outcomes, is: [.pruned, .spared, .pruned], "what became of each")
        try expect(pruned.refusals.count, is: 1, "refusals that are told")
        try expect(try await scene.deviceTokens(), is: [2: "token-2"], "the tokens that are left")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("what a database says of a refused prune tells no token", law: "law 10") { scene in
        try await scene.fixture.create(
          TableSketch(
            "subscriptions", columns: [ColumnSketch("token", .text, isNullable: false)], primaryKey: ["token"]))
        try await scene.fixture.create(
          TableSketch(
            "uses",
            columns: [ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text)],
            primaryKey: ["id"], uniqueKeys: [["token"]], references: [ReferenceSketch("token", to: "subscriptions")]))
        let secret = "c0ffee" + String(repeating: "0123456789", count: 12)
        try await scene.fixture.insert([["token": .text(secret)], ["token": "other"]], into: "subscriptions")
        try await scene.fixture.insert([["id": 1, "token": .text(secret)]], into: "uses")
        var request = scene.request(Audience("subscriptions", token: "token"), policy: .deleteRow)
        request.deletesReferencedRows = true
        let job = try await scene.store.enqueue(request).job.id
        let pruned = try await scene.prune(try await scene.claim())
        try expect(pruned.outcomes, is: [.spared, .pruned], "what became of each")
        let told = pruned.refusals + (try await scene.job(job).tally.map(\.detail))
        try expect(!told.contains { $0.contains("c0ffee") }, "no token in what is told", found: "\(told)")
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
