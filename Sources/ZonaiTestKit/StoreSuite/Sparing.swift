import ZonaiCore

extension TokenStoreConformance {
  /// Rows that changed since they were read for the send, or that cannot be changed.
  static var sparing: [Check<Fixture>] {
    [
      spareCheck("a token replaced since it was read is spared") { fixture in
        try await fixture.update("devices", where: "id", is: 1, set: ["token": "new"])
      },
      spareCheck("a token that was cleared meanwhile is spared") { fixture in
        try await fixture.update("devices", where: "id", is: 1, set: ["token": .null])
      },
      spareCheck("a row that was deleted meanwhile is spared") { fixture in
        try await fixture.delete(from: "devices", where: "id", is: 1)
      },
      spareCheck("a row that was made anew with another token is spared") { fixture in
        try await fixture.delete(from: "devices", where: "id", is: 1)
        try await fixture.insert([TableSketch.device(1, token: "fresh")], into: "devices")
      },
      spareCheck("a device that came back with the same token is spared by its last-seen", audience: .devicesLastSeen) {
        fixture in
        try await fixture.update("devices", where: "id", is: 1, set: ["seen": .integer(TableSketch.seen + 1000)])
      },
      spareCheck("a last-seen that became NULL spares", audience: .devicesLastSeen) { fixture in
        try await fixture.update("devices", where: "id", is: 1, set: ["seen": .null])
      },
      spareCheck("a last-seen that was NULL and is no longer spares", audience: .devicesLastSeen, seen: .null) {
        fixture in
        try await fixture.update("devices", where: "id", is: 1, set: ["seen": .integer(TableSketch.seen)])
      },
      spareCheck("a token that differs in case only is another token") { fixture in
        try await fixture.update("devices", where: "id", is: 1, set: ["token": "TOKEN-1"])
      },
      spareCheck("a token that differs in a blank at its end only is another token") { fixture in
        try await fixture.update("devices", where: "id", is: 1, set: ["token": "token-1 "])
      },
      momentCheck(.moment), momentCheck(.wallClock),
      check("a last-seen that is NULL still is the last-seen that was read", law: "law 2") { scene in
        try await scene.makeDevices(2)
        try await scene.fixture.update("devices", where: "id", is: 1, set: ["seen": .null])
        try await scene.enqueue(.devicesLastSeen)
        let pruned = try await scene.prune(try await scene.claim())
        try expect(pruned.outcomes, is: [.pruned, .pruned], "what became of rows that did not change")
      },
      check("two rows that swapped their tokens are both spared", law: "law 2") { scene in
        try await scene.makeDevices(3)
        let job = try await scene.enqueue()
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 1, 2], of: batch)
        try await scene.fixture.update("devices", where: "id", is: 1, set: ["token": "token-2"])
        try await scene.fixture.update("devices", where: "id", is: 2, set: ["token": "token-1"])
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.spared, .spared, .pruned], "what became of each")
        try expect(try await scene.deviceTokens(), is: [1: "token-2", 2: "token-1"], "the tokens that are left")
        try expect(try await scene.job(job).counts.spared, is: 2, "spared")
      },
      check("tokens are told apart byte by byte, whatever the collation", law: "law 2") { scene in
        try await scene.fixture.create(
          TableSketch(
            "devices",
            columns: [ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .caseInsensitiveText)],
            primaryKey: ["id"]))
        try await scene.fixture.insert(
          ["abc", "caf\u{e9}", "same", "blank"].enumerated().map {
            ["id": .integer(Int64($0) + 1), "token": .text($1)]
          },
          into: "devices")
        try await scene.enqueue(Audience("devices", token: "token"))
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 1, 2, 3], of: batch)
        try await scene.fixture.update("devices", where: "id", is: 1, set: ["token": "ABC"])
        try await scene.fixture.update("devices", where: "id", is: 4, set: ["token": "blank "])
        try await scene.fixture.update("devices", where: "id", is: 2, set: ["token": "cafe\u{301}"])
        guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
        try expect(rows.map { $0?["id"] }, is: [nil, nil, 3, nil], "the rows that still match")
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.spared, .spared, .pruned, .spared], "what became of each")
      },
      check("a row spared for its last-seen is told apart from one whose token changed", law: "law 13") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue(.devicesLastSeen)
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 1, 2, 3], of: batch)
        try await scene.fixture.update("devices", where: "id", is: 1, set: ["seen": .integer(TableSketch.seen + 1000)])
        try await scene.fixture.update(
          "devices", where: "id", is: 2, set: ["token": "another", "seen": .integer(TableSketch.seen + 1000)])
        try await scene.fixture.delete(from: "devices", where: "id", is: 3)
        // Two are found to have changed before the hook, the others by the prune itself.
        let prunes = BatchPrunes(
          lease: batch.lease,
          decisions: zip(rejections, [.spare, .spare, .followPolicy, .followPolicy]).map { ($0, $1) })
        let pruned = try await scene.settle(.prunes(prunes))
        try expect(pruned.outcomes, is: [.spared, .spared, .spared, .pruned], "what became of each")
        let details = try await scene.job(job).tally.filter { $0.outcome == .spared }.map { "\($0.count) \($0.detail)" }
        try expect(
          details.sorted(),
          is: ["1 \(SpareCause.lastSeenChanged.sentence)", "2 \(SpareCause.tokenChanged.sentence)"],
          "why rows were spared, as the account says it")
      },
      quotingCheck("token", "a refusal that quotes the token, in words of its own, tells nothing of it"),
      check("a refusal that quotes token and key in parts and in capital letters tells nothing of them", law: "law 10")
      {
        scene in
        let token = "f0e1d2c3b4a59687KQwZxT_9-Ys7Lm2P"
        try await scene.makeDevices(0)
        try await scene.addDevices([41, 42, 43]) { $0 == 42 ? token : "token-\($0)" }
        let words = "no \(token.prefix(16)) \(token.dropFirst(16)), \(token.uppercased()), x\(token)x of row 42"
        try await scene.fixture.refuseChanges(of: "devices", where: "id", is: 42, words: words)
        let job = try await scene.enqueue()
        let pruned = try await scene.prune(try await scene.claim())
        try expect(pruned.outcomes, is: [.pruned, .spared, .pruned], "what became of each")
        let details = try await scene.job(job).tally.map(\.detail)
        for text in pruned.refusals + details {
          try expectNoPart(of: token, in: text)
          try expect(!text.contains("42"), "no key in the database's words", found: text)
        }
        try expect(
          pruned.refusals.first?.hasPrefix("no …") ?? false, "the rest of the words", found: "\(pruned.refusals)")
      },
      quotingCheck("city", "a job's account stays short when refusals quote something else of each row"),
      refusalCheck(.clearColumn), refusalCheck(.deleteRow),
    ]
  }

  /// One of two rejected rows changes before the prunes: it is spared, the other is pruned.
  private static func spareCheck(
    _ name: String, audience: Audience = .devices, seen: Value = .integer(TableSketch.seen),
    change: @escaping @Sendable (Fixture) async throws -> Void
  ) -> Check<Fixture> {
    check(name, law: "law 2") { scene in
      try await scene.makeDevices(2)
      try await scene.fixture.update("devices", where: "id", is: 1, set: ["seen": seen])
      let job = try await scene.enqueue(audience)
      let batch = try await scene.claim()
      let rejections = try await scene.reject([0, 1], of: batch)
      try await change(scene.fixture)
      let before = try await scene.fixture.rows(of: "devices").filter { $0["id"] == 1 }
      guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
      try expect(rows.map { $0 != nil }, is: [false, true], "which rows still match before the hook")
      let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
      try expect(pruned.outcomes, is: [.spared, .pruned], "what became of each")
      let after = try await scene.fixture.rows(of: "devices").filter { $0["id"] == 1 }
      try expect(after, is: before, "the row that changed meanwhile")
      try expect(try await scene.job(job).counts.spared, is: 1, "spared")
    }
  }

  /// Last-seen is a moment in the database's own type: it is read as it is in UTC, and one microsecond tells two apart.
  private static func momentCheck(_ kind: ColumnSketch.Kind) -> Check<Fixture> {
    check("a last-seen of the type \(kind.rawValue) is compared to the microsecond, and read in UTC", law: "law 2") {
      scene in
      try await scene.fixture.create(
        TableSketch(
          "visits",
          columns: [
            ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text), ColumnSketch("seen", kind),
          ], primaryKey: ["id"]))
      let moments: [Value] = [
        "2026-03-29 01:30:00.000001", "2026-10-25 01:30:00.123456", "2026-10-25 01:30:00.999999", .null,
        "2026-10-25 01:30:00.000000", .null,
      ]
      try await scene.fixture.insert(
        moments.enumerated().map { ["id": .integer(Int64($0)), "token": .text("t\($0)"), "seen": $1] }, into: "visits")
      try await scene.enqueue(Audience("visits", token: "token", lastSeen: "seen"))
      let batch = try await scene.claim()
      try expect(
        (0..<6).map { batch.recipients.lastSeen($0).flatMap { LastSeen.milliseconds($0) } },
        is: [1_774_747_800_000, 1_792_891_800_123, 1_792_891_800_999, nil, 1_792_891_800_999, nil],
        "the latest milliseconds that the moments can mean")
      let rejections = try await scene.reject(Array(0..<6), of: batch)
      try await scene.fixture.advance(milliseconds: 61_000)
      let taken = try await scene.claim("berta")
      try expect(taken.rejections, is: rejections, "what was recorded of them")
      try await scene.fixture.update("visits", where: "id", is: 0, set: ["seen": "2026-03-29 01:30:00.000002"])
      try await scene.fixture.update("visits", where: "id", is: 4, set: ["seen": "2026-10-25 01:30:00.000001"])
      try await scene.fixture.update("visits", where: "id", is: 5, set: ["seen": "2026-10-25 01:30:00.000000"])
      guard case .rows(let rows) = try await scene.store.inspect(.rows(taken.lease, rejections)) else { return }
      try expect(rows.map { $0?["id"] }, is: [nil, 1, 2, 3, nil, nil], "the rows that still match")
      let pruned = try await scene.settle(.prunes(taken.prunes(rejections)))
      try expect(pruned.outcomes, is: [.spared, .pruned, .pruned, .pruned, .spared, .spared], "what became of each")
    }
  }

  /// A trigger refuses every prune, and quotes a column.
  private static func quotingCheck(_ column: String, _ name: String) -> Check<Fixture> {
    check(name, law: "law 10") { scene in
      try await scene.fixture.create(.devices)
      let count = TallyLine.mostDetails + 30
      func token(_ id: Int64) -> String { "0a1b\(id * 7919)cdefGHIJ-_\(id * 104_729)klmnopqr" }
      func city(_ id: Int64) -> String {
        let letters = "abcdefghijklmnop".map { String($0) }
        return "city of " + letters[Int(id % 16)] + letters[Int(id / 16)]
      }
      try await scene.fixture.insert(
        (1...Int64(count)).map { TableSketch.device($0, token: token($0), ["city": .text(city($0))]) }, into: "devices")
      try await scene.fixture.refuseChanges(of: "devices", quoting: column)
      let job = try await scene.enqueue()
      let pruned = try await scene.prune(try await scene.claim(size: count, first: count))
      try expect(pruned.outcomes, is: Array(repeating: .spared, count: count), "what became of them")
      let after = try await scene.job(job)
      try expect(after.counts.spared, is: count, "spared")
      let details = after.tally.map(\.detail)
      try expect(
        details.count <= TallyLine.mostDetails + 1, "at most \(TallyLine.mostDetails) lines with details",
        found: "\(details.count)")
      try expect(
        (pruned.refusals + details).contains { $0.contains("guarded") }, "the database's own words",
        found: details.first ?? "nothing")
      for text in pruned.refusals + details {
        for id in 1...Int64(count) where text.lowercased().contains(token(id).dropFirst(4).prefix(10).lowercased()) {
          try expectNoPart(of: token(id), in: text)
        }
      }
      for (refusal, id) in zip(pruned.refusals, 1...Int64(count)) { try expectNoPart(of: token(id), in: refusal) }
    }
  }

  /// No eight characters of the token, in whatever case.
  private static func expectNoPart(of token: String, in text: String) throws {
    let letters = Array(token.lowercased())
    let lowered = text.lowercased()
    for start in 0...letters.count - 8 where lowered.contains(String(letters[start..<start + 8])) {
      throw CheckFailure(expected: "no part of a token in the database's words", found: text)
    }
  }

  /// A trigger refuses one prune of several.
  private static func refusalCheck(_ policy: Policy) -> Check<Fixture> {
    check("a prune that the database refuses is undone alone (\(policy.rawValue))", law: "law 13") { scene in
      try await scene.makeDevices(5)
      try await scene.fixture.refuseChanges(of: "devices", where: "id", is: 3, words: "row three is guarded")
      let job = try await scene.enqueue(policy: policy)
      let pruned = try await scene.prune(try await scene.claim())
      try expect(pruned.outcomes, is: [.pruned, .pruned, .spared, .pruned, .pruned], "what became of each")
      try expect(pruned.refusals.count, is: 1, "refusals that are told")
      try expect(
        pruned.refusals.first?.contains("row three is guarded") ?? false, "the database's own words",
        found: pruned.refusals.first ?? "nothing")
      try expect(try await scene.deviceTokens(), is: [3: "token-3"], "the tokens that are left")
      let after = try await scene.job(job)
      try expect([after.counts.pruned, after.counts.spared], is: [4, 1], "pruned and spared")
      try expect(after.state, is: .completed, "the job's state")
    }
  }
}
