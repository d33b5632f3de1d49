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
