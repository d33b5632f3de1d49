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
        "integer keys of 32 bits go by their numbers", [.smallInteger],
        [[-2_147_483_648], [-1], [0], [9], [99], [100], [2_147_483_647]]),
      keyCheck(
        "text keys go by their bytes", [.text],
        [
          [""], ["10"], ["9"], ["A"], ["Z"], ["a"], ["a "], ["a'b"], ["a\"b"], ["a\nb"], ["e\u{301}"], ["\u{e9}"],
          ["%"],
          ["\u{1F600}"], ["Ａ"], ["A "], ["a  "], [" a"], ["\\"], ["{a,b}"], ["NULL"], ["\u{10FFFF}"],
          [.text(String(repeating: "\u{1F600}", count: 191))],
          [.text(String(repeating: "\u{1F600}", count: 190) + "x")],
        ]),
      keyCheck(
        "padding that a type adds is not part of a key", [.fixedText],
        [
          ["a"], ["ab"], ["a b"], ["a  b"], ["b"], ["\u{e9}"], [.text(String(repeating: "x", count: 39))],
          [.text(String(repeating: "x", count: 40))],
        ]),
      keyCheck(
        "a key of several columns holds no padding", [.fixedText, .integer, .fixedText],
        [["a", 1, "x"], ["a", 1, "y"], ["a", 2, "x"], ["ab", 1, "x"], ["ab", 1, "xy"], ["b", 0, "x"]]),
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
        "moments are keys to the microsecond", [.moment],
        [
          ["1971-01-01 00:00:00.000000"], ["2026-03-29 01:30:00.000000"], ["2026-03-29 02:30:00.000000"],
          ["2026-10-25 00:30:00.000000"], ["2026-10-25 01:30:00.000000"], ["2026-10-25 01:30:00.000001"],
          ["2026-10-25 01:30:00.000002"], ["2026-10-25 01:30:00.999999"], ["2026-10-25 01:30:01.000000"],
          ["2037-12-31 23:59:59.999999"],
        ]),
      keyCheck(
        "times of day are keys to the microsecond", [.wallClock],
        [
          ["1582-10-10 12:00:00.000000"], ["1969-12-31 23:59:59.999999"], ["1970-01-01 00:00:00.000000"],
          ["2026-03-29 02:30:00.000000"], ["2026-03-29 02:30:00.000001"], ["2026-03-29 02:30:00.000010"],
          ["2026-03-29 02:30:00.100000"], ["9999-12-31 23:59:59.999999"],
        ]),
      keyCheck(
        "timestamps are keys", [.timestamp],
        [
          [900_000_000_000], [990_000_000_000], [1_000_000_000_000], [1_600_000_000_000], [1_600_000_000_001],
          [1_600_000_001_000],
        ]),
      keyCheck(
        "keys of a uuid and a moment go column by column", [.uuid, .moment],
        [
          ["00000000-0000-4000-8000-000000000001", "2026-01-01 00:00:00.000001"],
          ["00000000-0000-4000-8000-000000000001", "2026-01-01 00:00:00.000002"],
          ["00000000-0000-4000-8000-000000000001", "2026-01-01 00:00:00.000003"],
          ["00000000-0000-4000-8000-000000000001", "2026-01-02 00:00:00.000000"],
          ["ffffffff-ffff-4fff-bfff-ffffffffffff", "2026-01-01 00:00:00.000001"],
          ["ffffffff-ffff-4fff-bfff-ffffffffffff", "2026-01-01 00:00:00.000002"],
        ]),
      keyCheck(
        "keys whose columns stand the other way round in the table go by the key's order", [.integer, .text],
        isTurned: true,
        [
          [-1, "b"], [1, "a"], [1, "b"], [1, "c"], [2, "a"], [2, "aa"], [3, "a"],
        ]),
      keyCheck(
        "composite keys go column by column", [.integer, .text],
        [
          [.integer(.min), "z"], [1, "A"], [1, "a"], [1, "a "], [1, "b"], [1, "c"], [1, "d"], [2, "a"], [2, "b"],
          [9, "a"],
          [10, "a"], [10, "b"], [.integer(.max), ""],
        ]),
      keyCheck(
        "keys of three columns go column by column", [.text, .blob, .integer],
        [
          ["a", .bytes([1]), 1], ["a", .bytes([1]), 2], ["a", .bytes([1]), 10], ["a", .bytes([2]), 1],
          ["a", .bytes([2]), 2], ["b", .bytes([1]), 1], ["b", .bytes([1]), 2], ["b", .bytes([255]), -1],
        ]),
      check("a token may be the key, and lose its row", law: "section 5, enqueue") { scene in
        try await scene.fixture.create(
          TableSketch(
            "subscriptions", columns: [ColumnSketch("token", .text, isNullable: false), ColumnSketch("city", .text)],
            primaryKey: ["token"]))
        let tokens = ["ABC", "ABc", "Abc", "abc", "abc ", "b:\u{1F600}", String(repeating: "f", count: 191)]
        try await scene.fixture.insert(tokens.map { ["token": .text($0)] }, into: "subscriptions")
        let audience = Audience("subscriptions", token: "token")
        try await expectRefusal(.tokenNotNullable, "clearing a token that is the key") {
          try await scene.enqueue(audience)
        }
        try await scene.enqueue(audience, policy: .deleteRow)
        var handed: [String] = []
        for _ in 0..<tokens.count {
          guard case .batch(let batch) = try await scene.claimOnce(size: 2, first: 2) else { break }
          handed += batch.tokens
          let rejections = try await scene.reject([0], of: batch)
          guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
          try expect(rows.map { $0?["token"] }, is: [.text(batch.tokens[0])], "the hook's row")
          try await scene.settle(.prunes(batch.prunes(rejections)))
        }
        try expect(handed, is: tokens, "the tokens in their order")
        let left = try await scene.fixture.rows(of: "subscriptions").compactMap { $0["token"] }
        try expect(Set(left), is: ["ABc", "abc", "b:\u{1F600}"], "the tokens that are left")
      },
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
      check(
        "a unique key that may be NULL is no key, and rows that are NULL there are sent to", law: "section 5, enqueue"
      ) {
        scene in
        try await scene.fixture.create(
          TableSketch(
            "accounts",
            columns: [
              ColumnSketch("id", .integer, isNullable: false), ColumnSketch("mail", .text),
              ColumnSketch("token", .text),
            ], primaryKey: ["id"], uniqueKeys: [["mail"]]))
        try await scene.fixture.insert(
          (1...4).map { id in
            ["id": .integer(id), "mail": id == 2 ? "b@example.com" : .null, "token": .text("token-\(id)")]
          }, into: "accounts")
        try await expectRefusal(.noUsableKey, "paging by a key that is NULL in some rows") {
          try await scene.enqueue(Audience("accounts", key: ["mail"], token: "token"))
        }
        try await scene.enqueue(Audience("accounts", token: "token"))
        try expect(
          try await scene.drain(size: 3, first: 3).map(\.key.id), is: [1, 2, 3, 4], "the ids by the primary key")
      },
    ]
  }
}
