import ZonaiCore

extension TokenStoreConformance {
  /// Keys of every kind: paged by their own order, owed and pruned by their own type.
  static var keys: [Check<Fixture>] {
    [
      keyCheck(
        "integer keys go by their numbers, not by their digits", [.integer],
        [
          [.integer(.min)], [-10], [-9], [0], [1], [2], [9], [10], [11], [99], [100], [1_000_000_007], [.integer(.max)],
        ]),
      keyCheck(
        "text keys go by their bytes", [.text],
        [
          [""], ["10"], ["9"], ["A"], ["Z"], ["a"], ["a "], ["a'b"], ["a\"b"], ["a\nb"], ["e\u{301}"], ["\u{e9}"],
          ["%"],
          ["\u{1F600}"], ["Ａ"],
        ]),
      keyCheck(
        "uuid keys are paged and pruned", [.uuid],
        "0123456789abcdef".map { digit in
          [.text("\(digit)0000000-89ab-4cde-8f01-00000000000\(digit)")]
        }),
      keyCheck(
        "keys of bytes are paged and pruned", [.blob],
        [
          [.bytes([])], [.bytes([0])], [.bytes([0, 0])], [.bytes([0, 255])], [.bytes([1])], [.bytes([0x27])],
          [.bytes([0x7f])], [.bytes([0x80])], [.bytes([255])], [.bytes([255, 0])],
        ]),
      keyCheck(
        "composite keys go column by column", [.integer, .text],
        [
          [1, "a"], [1, "b"], [1, "c"], [1, "d"], [2, "a"], [2, "b"], [9, "a"], [10, "a"], [10, "b"],
        ]),
      keyCheck(
        "keys of three columns go column by column", [.text, .blob, .integer],
        [
          ["a", .bytes([1]), 1], ["a", .bytes([1]), 2], ["a", .bytes([1]), 10], ["a", .bytes([2]), 1],
          ["a", .bytes([2]), 2], ["b", .bytes([1]), 1], ["b", .bytes([1]), 2], ["b", .bytes([255]), -1],
        ]),
      check("pages go by another unique key when it is named", law: "section 5, enqueue") { scene in
        try await scene.fixture.create(
          TableSketch(
            "accounts",
            columns: [
              ColumnSketch("id", .integer, isNullable: false), ColumnSketch("mail", .text, isNullable: false),
              ColumnSketch("token", .text),
            ], primaryKey: ["id"], uniqueKeys: [["mail"]]))
        let rows: [[String: Value]] = (1...9).map { id in
          ["id": .integer(id), "mail": .text("m\(10 - id)"), "token": .text("token-\(id)")]
        }
        try await scene.fixture.insert(rows, into: "accounts")
        try await scene.enqueue(Audience("accounts", key: ["mail"], token: "token"))
        let handed = try await scene.drain(size: 2, first: 2)
        try expect(
          handed.map(\.key), is: (1...9).map { RowKey(.text("m\($0)")) }, "the keys in the order of the named key")
      },
    ]
  }

  /// A table with a key of these kinds: everybody is handed out once; everybody owed comes back by key; everybody is pruned.
  private static func keyCheck(
    _ name: String, _ kinds: [ColumnSketch.Kind], _ keys: [[Value]]
  ) -> Check<Fixture> {
    check(name, law: "section 7, keys") { scene in
      guard scene.fixture.capabilities.keyKinds.isSuperset(of: kinds) else { return }
      let names = kinds.indices.map { "k\($0)" }
      try await scene.fixture.create(
        TableSketch(
          "keyed",
          columns: zip(names, kinds).map { ColumnSketch($0, $1, isNullable: false) } + [ColumnSketch("token", .text)],
          primaryKey: names))
      var tokens: [String: String] = [:]
      // Inserted in an order that is not the key's.
      let shuffled = keys.enumerated().sorted { ($0.offset * 7) % keys.count < ($1.offset * 7) % keys.count }
      for (index, key) in shuffled {
        tokens[RowKey(key).exact] = "token-\(index)"
        var row: [String: Value] = ["token": .text("token-\(index)")]
        for (name, value) in zip(names, key) { row[name] = value }
        try await scene.fixture.insert([row], into: "keyed")
      }
      try await scene.enqueue(Audience("keyed", token: "token"))
      var handed: [String] = []
      for _ in 0..<keys.count + 1 {
        guard case .batch(let batch) = try await scene.claimOnce(size: 3, first: 2) else { break }
        handed += batch.keys.map(\.exact)
        // Owed, and back by key.
        try await scene.settle(.answers(batch.givenBack()))
        let again = try await scene.claim(size: 3)
        try expect(again.keys.map(\.exact).sorted(), is: batch.keys.map(\.exact).sorted(), "the owed keys, back")
        try expect(
          again.all.map { tokens[$0.key.exact] ?? "no such key" }, is: again.tokens, "the token of each owed key")
        let pruned = try await scene.prune(again)
        try expect(pruned.outcomes, is: again.keys.map { _ in .pruned }, "what became of each rejection")
      }
      try expect(Set(handed).count, is: handed.count, "different keys among all that were handed out")
      try expect(handed.sorted(), is: keys.map { RowKey($0).exact }.sorted(), "every key")
      let left = try await scene.fixture.rows(of: "keyed").filter { $0["token"] != .null }
      try expect(left.count, is: 0, "tokens left after every row was pruned")
    }
  }
}
