import ZonaiCore

extension TokenStoreConformance {
  /// Who is a recipient, and what is read of one.
  static var audience: [Check<Fixture>] {
    [
      check("rows without a token, NULL or empty, are no recipients", law: "section 1, recipient") { scene in
        try await scene.makeDevices(0)
        try await scene.fixture.insert(
          [
            TableSketch.device(1, token: nil), TableSketch.device(2, token: "two"), TableSketch.device(3, token: ""),
            TableSketch.device(4, token: "four"), TableSketch.device(5, token: nil),
          ], into: "devices")
        try await scene.enqueue()
        let batch = try await scene.claim()
        try expect(batch.tokens, is: ["two", "four"], "the tokens that were handed out")
      },
      check("tokens come as they are: quotes, newlines, four kilobytes", law: "law 2") { scene in
        try await scene.makeDevices(0)
        try await scene.addDevices(Array(1...Int64(oddTokens.count))) { oddTokens[Int($0) - 1] }
        try await scene.enqueue()
        let batch = try await scene.claim()
        try expect(batch.tokens.map { Array($0.utf8).hex }, is: oddTokens.map { Array($0.utf8).hex }, "tokens in hex")
        let pruned = try await scene.prune(batch)
        try expect(pruned.outcomes, is: oddTokens.map { _ in .pruned }, "what became of them")
        try expect(try await scene.deviceTokens().count, is: 0, "tokens that are left")
      },
      check("a platform is read in lower case, NULL and empty are none", law: "section 5, routes") { scene in
        try await scene.makeDevices(0)
        let platforms: [Value] = ["iOS", "ANDROID", .null, "", "webOS", "android"]
        for (index, platform) in platforms.enumerated() {
          try await scene.fixture.insert(
            [TableSketch.device(Int64(index), token: "t\(index)", ["platform": platform])], into: "devices")
        }
        try await scene.enqueue()
        let batch = try await scene.claim()
        try expect(
          (0..<batch.recipients.count).map { batch.recipients.platform($0).name },
          is: ["ios", "android", "", "", "webos", "android"], "the platforms")
      },
      check("an audience may name one platform for all, or none", law: "section 4, names nothing") { scene in
        try await scene.makeDevices(2)
        try await scene.enqueue(Audience("devices", token: "token", platform: .fixed(Platform("ios"))))
        let fixed = try await scene.claim()
        try expect(
          (0..<2).map { fixed.recipients.platform($0).name }, is: ["ios", "ios"], "the platforms that were named")
        try await scene.deliver(fixed)
        try await scene.enqueue(Audience("devices", token: "token"))
        let none = try await scene.claim()
        try expect((0..<2).map { none.recipients.platform($0).name }, is: ["", ""], "the platforms when none is named")
      },
      check("last-seen values are read when they are named, and only then", law: "law 9") { scene in
        try await scene.makeDevices(2)
        try await scene.fixture.update("devices", where: "id", is: 2, set: ["seen": .null])
        try await scene.enqueue(.devicesLastSeen)
        let named = try await scene.claim()
        try expect(named.recipients.lastSeen.map(\.isNull), is: [false, true], "which last-seen values are NULL")
        try await scene.deliver(named)
        try await scene.enqueue()
        try expect(try await scene.claim().recipients.lastSeen.count, is: 0, "last-seen values that nobody named")
      },
    ]
  }

  /// Tokens that a careless store breaks on.
  private static var oddTokens: [String] {
    [
      "it's", "say \"hi\"", "two\nlines", "tab\there", "back\\slash", "per%cent_under", "$1?2:3",
      "'; DROP TABLE devices; --",
      "e\u{301}", "\u{e9}", "\u{1F600}", " spaces ", "NULL", String(repeating: "0123456789abcdef", count: 256),
    ]
  }
}
