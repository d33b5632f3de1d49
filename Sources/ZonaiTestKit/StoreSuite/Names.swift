import ZonaiCore

extension TokenStoreConformance {
  /// Tables and columns by any name, in any schema.
  static var names: [Check<Fixture>] {
    [
      nameCheck(
        "quotes, keywords and the signs of every database are a part of a name",
        [
          "order by \"group\"; -- 'x'", "select", "to ken`s", "plat\"form", "last 'seen'", "wh[er]e",
        ]),
      nameCheck(
        "capital letters are a part of a name",
        [
          "DeviceTokens", "ID", "Token", "Platform", "LastSeen", "Active",
        ]),
      nameCheck(
        "letters of every script are a part of a name",
        [
          "Geräte", "ключ", "标记", "πλατφόρμα", "zuletzt gesehen", "ἄγε",
        ]),
      nameCheck(
        "placeholders, dots and backslashes are a part of a name",
        [
          "a.b?", "$1", "?", ":id %s", "back\\slash", "{x}, y",
        ]),
      nameCheck(
        "names may be as long as any database takes them",
        [
          longName("t"), longName("k"), longName("tokens"), longName("p"), longName("l"), longName("w"),
        ]),
      nameCheck(
        "the words of every database's own grammar are names",
        [
          "user", "key", "values", "default", "timestamp", "check",
        ]),
      check("tables of one name in two schemas are two tables", law: "section 1, audience") { scene in
        guard let schema = scene.fixture.capabilities.otherSchema else { return }
        let other = TableName("devices", schema: schema)
        try await scene.makeDevices(3)
        var sketch = TableSketch.devices
        sketch.name = other
        sketch.columns.append(ColumnSketch("extra", .integer))
        try await scene.fixture.create(sketch)
        try await scene.fixture.insert((2...6).map { TableSketch.device($0, token: "other-\($0)") }, into: other)
        try expect(
          try await scene.store.describe(other).columns.map(\.name).last, is: "extra", "the other's last column")
        let job = try await scene.enqueue(Audience(other, token: "token", where: Column("id") > 2))
        let batch = try await scene.claim()
        try expect(batch.tokens, is: (3...6).map { "other-\($0)" }, "the tokens of the other schema's table")
        let rejections = try await scene.reject([0], of: batch)
        guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
        try expect(rows.map { $0?["id"] }, is: [3], "the hook's row")
        try await scene.settle(.prunes(batch.prunes(rejections)))
        try await scene.enqueue(Audience(other, token: "token", where: Column("id") == 6), policy: .deleteRow)
        try await scene.prune(try await scene.claim())
        let left = try await scene.fixture.rows(of: other).filter { $0["token"] != .null }
        try expect(left.count, is: 3, "tokens that are left there")
        try expect(try await scene.deviceTokens().count, is: 3, "tokens of the table in the default schema")
        try expect(try await scene.job(job).definition.audience.table, is: other, "the table that the job names")
        try await expectRefusal(.noSuchTable, "a table that the other schema lacks") {
          try await scene.enqueue(Audience(TableName("things", schema: schema), token: "token"))
        }
        try await scene.fixture.drop("devices")
        try await expectRefusal(.noSuchTable, "a table that the default schema lacks") { try await scene.enqueue() }
      },
    ]
  }

  /// Sixty bytes: PostgreSQL takes 63, MySQL 64 characters.
  private static func longName(_ name: String) -> String {
    name + String(repeating: "_", count: 60 - name.utf8.count)
  }

  /// Everything that a store does with names: paging, owed recipients, hooks' rows, both policies, counting. `names` are of
  /// the table, a key column, the token, the platform, the last-seen and a predicate's column.
  private static func nameCheck(_ name: String, _ names: [String]) -> Check<Fixture> {
    check(name, law: "law 11") { scene in
      let table = TableName(names[0])
      let (key, token, platform, seen, other) = (names[1], names[2], names[3], names[4], names[5])
      try await scene.fixture.create(
        TableSketch(
          table,
          columns: [
            ColumnSketch(key, .integer, isNullable: false), ColumnSketch("second", .text, isNullable: false),
            ColumnSketch(token, .text), ColumnSketch(platform, .text), ColumnSketch(seen, .timestamp),
            ColumnSketch(other, .integer),
          ], primaryKey: [key, "second"]))
      try await scene.fixture.insert(
        (1...6).map { id in
          [
            key: .integer(id), "second": "x", token: .text("token-\(id)"), platform: "iOS",
            seen: .integer(TableSketch.seen), other: .integer(id),
          ]
        }, into: table)
      let audience = Audience(
        table, token: token, platform: .column(platform), lastSeen: seen,
        where: Column(other) < 6 && Column(other).in([1, 2, 3, 4, 5]) && !Column(platform).like("a%"))
      guard case .audience(let count) = try await scene.store.jobs(.count(scene.request(audience))) else { return }
      try expect(count.recipients, is: [Platform("ios"): 5], "recipients by platform")
      try await scene.enqueue(audience)
      let batch = try await scene.claim(size: 2, first: 2)
      try await scene.settle(.answers(batch.givenBack()))
      let again = try await scene.claim(size: 2)
      try expect(again.tokens.sorted(), is: ["token-1", "token-2"], "the tokens of who is owed")
      let rejections = try await scene.reject([0, 1], of: again)
      guard case .rows(let rows) = try await scene.store.inspect(.rows(again.lease, rejections)) else { return }
      try expect(rows.map { $0?[token] }, is: again.tokens.map { .text($0) }, "the tokens of the hooks' rows")
      let pruned = try await scene.settle(.prunes(again.prunes(rejections)))
      try expect(pruned.outcomes, is: [.pruned, .pruned], "what became of them")
      try expect(try await scene.drain(size: 2).map(\.token), is: ["token-3", "token-4", "token-5"], "the rest")
      try await scene.enqueue(audience, policy: .deleteRow)
      try await scene.prune(try await scene.claim())
      try expect(
        try await scene.fixture.rows(of: table).compactMap { $0[key] }.sorted { "\($0)" < "\($1)" }, is: [1, 2, 6],
        "the rows that are left")
    }
  }
}
