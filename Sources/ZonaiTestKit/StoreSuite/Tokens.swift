import ZonaiCore

extension TokenStoreConformance {
  /// What stands in the columns that an audience names.
  static var tokens: [Check<Fixture>] {
    [
      check("tokens of twenty kilobytes, and of every sign, come and go as they are", law: "law 2") { scene in
        try await scene.makeDevices(0)
        let tokens = oddTokens
        try await scene.addDevices(Array(1...Int64(tokens.count))) { tokens[Int($0) - 1] }
        try await scene.enqueue()
        let batch = try await scene.claim()
        try expect(batch.tokens.map { Array($0.utf8).hex }, is: tokens.map { Array($0.utf8).hex }, "tokens in hex")
        let rejections = try await scene.reject(Array(tokens.indices), of: batch)
        // What is recorded of them comes back as it was.
        try await scene.fixture.advance(milliseconds: 61_000)
        let taken = try await scene.claim("berta")
        try expect(taken.rejections, is: rejections, "the recorded rejections")
        guard case .rows(let rows) = try await scene.store.inspect(.rows(taken.lease, rejections)) else { return }
        try expect(rows.map { $0?["token"] }, is: tokens.map { .text($0) }, "the tokens of the hooks' rows")
        let pruned = try await scene.settle(.prunes(taken.prunes(rejections)))
        try expect(pruned.outcomes, is: tokens.map { _ in .pruned }, "what became of them")
      },
      check("tokens may be bytes", law: "law 2") { scene in
        try await scene.fixture.create(
          TableSketch(
            "raw", columns: [ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .blob)],
            primaryKey: ["id"]))
        let tokens: [[UInt8]?] = [
          [0], [0, 0], [255], Array(0...255), nil, [], Array("\\x41".utf8), Array(repeating: 0x27, count: 5000), [0x80],
        ]
        try await scene.fixture.insert(
          tokens.enumerated().map { ["id": .integer(Int64($0)), "token": $1.map { .bytes($0) } ?? .null] }, into: "raw")
        try await scene.enqueue(Audience("raw", token: "token"))
        let batch = try await scene.claim()
        let found = (0..<batch.recipients.count).map { Array(batch.recipients.tokens[$0]).hex }
        try expect(found, is: tokens.compactMap { $0 }.filter { !$0.isEmpty }.map(\.hex), "the tokens in hex")
        let rejections = try await scene.reject(Array(found.indices), of: batch)
        try await scene.fixture.update("raw", where: "id", is: 2, set: ["token": .bytes([254])])
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(
          pruned.outcomes, is: [.pruned, .pruned, .spared, .pruned, .pruned, .pruned, .pruned], "what became of them")
      },
      check("padding that a type adds is not part of a token, a platform or a last-seen", law: "law 2") { scene in
        try await scene.fixture.create(
          TableSketch(
            "fixed",
            columns: [
              ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .fixedText),
              ColumnSketch("os", .fixedText), ColumnSketch("seen", .fixedText),
            ], primaryKey: ["id"]))
        let tokens = ["short", "with  blanks within", String(repeating: "f", count: 40), "replaced", "seen again"]
        try await scene.fixture.insert(
          tokens.enumerated().map {
            ["id": .integer(Int64($0)), "token": .text($1), "os": "ios", "seen": "2026-01-02"]
          },
          into: "fixed")
        let audience = Audience("fixed", token: "token", platform: .column("os"), lastSeen: "seen")
        guard case .audience(let count) = try await scene.store.jobs(.count(scene.request(audience))) else { return }
        try expect(count.recipients, is: [Platform("ios"): 5], "recipients by platform")
        try await scene.enqueue(audience)
        let first = try await scene.claim()
        try expect(first.tokens, is: tokens, "the tokens of a page")
        try await scene.settle(.answers(first.givenBack()))
        let batch = try await scene.claim()
        try expect(batch.tokens, is: tokens, "the tokens that are owed")
        try expect(
          (0..<5).map { batch.recipients.lastSeen($0) }, is: tokens.map { _ in "2026-01-02" }, "the last-seen values")
        let rejections = try await scene.reject([0, 1, 2, 3, 4], of: batch, group: .ios)
        try await scene.fixture.update("fixed", where: "id", is: 3, set: ["token": "replaced again"])
        try await scene.fixture.update("fixed", where: "id", is: 4, set: ["seen": "2026-01-03"])
        guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
        try expect(
          rows.map { $0?["token"] }, is: tokens.prefix(3).map { .text($0) } + [nil, nil],
          "the tokens of the hooks' rows")
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.pruned, .pruned, .pruned, .spared, .spared], "what became of them")
      },
      check("a batch knows how much its token column holds", law: "section 4, shape") { scene in
        try await scene.fixture.create(
          TableSketch(
            "fixed",
            columns: [
              ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .fixedText),
              ColumnSketch("number", .integer),
            ], primaryKey: ["id"]))
        let capacity: ColumnCapacity? = scene.fixture.capabilities.limitsText ? .characters(40) : nil
        let described = try await scene.store.describe("fixed")
        try expect(described.column("token")?.capacity, is: capacity, "the capacity of the token column")
        try expect(described.column("number")?.capacity, is: nil, "the capacity of a column of numbers")
        try await scene.fixture.insert((1...3).map { ["id": .integer($0), "token": .text("t\($0)")] }, into: "fixed")
        try await scene.enqueue(Audience("fixed", token: "token"))
        let first = try await scene.claim(size: 2, first: 2)
        try await scene.settle(.answers(first.givenBack()))
        let owed = try await scene.claim(size: 2)
        for (batch, what) in [(first, "a page"), (owed, "owed recipients")] {
          try expect(batch.recipients.tokenColumn?.name, is: "token", "the token column of \(what)")
          try expect(batch.recipients.tokenColumn?.capacity, is: capacity, "its capacity")
        }
      },
      check("a token of one blank is a token, whatever the collation", law: "section 1, recipient") { scene in
        try await scene.fixture.create(
          TableSketch(
            "blanks",
            columns: [
              ColumnSketch("id", .integer, isNullable: false), ColumnSketch("a", .text),
              ColumnSketch("b", .caseInsensitiveText),
            ], primaryKey: ["id"]))
        try await scene.fixture.insert(
          [" ", "", "\t", "  ", "\n"].enumerated().map { ["id": .integer(Int64($0)), "a": .text($1), "b": .text($1)] },
          into: "blanks")
        for column in ["a", "b"] {
          let audience = Audience("blanks", token: column)
          guard case .audience(let count) = try await scene.store.jobs(.count(scene.request(audience))) else { return }
          try expect(count.recipients.values.reduce(0, +), is: 4, "recipients by the column \(column)")
          try await scene.enqueue(audience)
          let batch = try await scene.claim()
          try expect(batch.tokens, is: [" ", "\t", "  ", "\n"], "the tokens of the column \(column)")
          // Who is owed is asked for in another statement.
          try await scene.settle(.answers(batch.givenBack()))
          let again = try await scene.claim()
          try expect(again.tokens.count, is: 4, "tokens of the column \(column), owed")
          try await scene.deliver(again)
        }
      },
      check("a platform column may hold anything, of any collation", law: "section 5, routes") { scene in
        try await scene.fixture.create(
          TableSketch(
            "apps",
            columns: [
              ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text),
              ColumnSketch("os", .caseInsensitiveText), ColumnSketch("note", .text),
            ], primaryKey: ["id"]))
        let odd = ["Android", "ANDROID", "android ", "\u{1F600}", "it's", String(repeating: "x", count: 3000)]
        try await scene.fixture.insert(
          odd.enumerated().map { index, text in
            ["id": .integer(Int64(index)), "token": .text("t\(index)"), "os": .text(text), "note": .text(text)]
          }, into: "apps")
        for column in ["os", "note"] {
          let audience = Audience("apps", token: "token", platform: .column(column))
          guard case .audience(let count) = try await scene.store.jobs(.count(scene.request(audience))) else { return }
          try expect(count.recipients[Platform("android")], is: 2, "recipients on Android by the column \(column)")
          let job = try await scene.enqueue(audience)
          let batch = try await scene.claim()
          let platforms = (0..<batch.recipients.count).map { batch.recipients.platform($0) }
          try expect(platforms, is: odd.map { Platform($0) }, "the platforms of the column \(column)")
          // Every one is a group of its own in the job's account.
          let lines = platforms.map { platform in
            TallyLine(
              group: Group(transport: .fcm, fingerprint: "project", platform: platform), outcome: .delivered,
              reason: "delivered", count: 1)
          }
          try await scene.settle(.answers(BatchAnswers(lease: batch.lease, tally: lines)))
          let tally = try await scene.job(job).tally
          try expect(
            Set(tally.map(\.group.platform)), is: Set(platforms),
            "the groups of the job's account by the column \(column)")
          try expect(tally.map(\.count).max(), is: 2, "deliveries to Android")
        }
      },
    ]
  }

  /// Tokens that a careless store breaks on.
  private static var oddTokens: [String] {
    var controls = ""
    for byte in UInt8(1)...31 { controls.unicodeScalars.append(Unicode.Scalar(byte)) }
    return [
      controls, "\u{7f}\u{80}\u{9f}", "\u{feff}bom", "\u{202e}turned", "\u{ffff}", "\u{10ffff}", "a\u{300}\u{301}",
      "\\x41", "\\000", "{}", "{\"a\"}", "NULL", "null", "\\N", "0", "1e5", "true", " lead", "trail ", "trail  ",
      String(repeating: "\u{1F600}'\\", count: 100), String(repeating: "0123456789abcdef", count: 1280),
    ]
  }
}
