import ZonaiCore

extension TokenStoreConformance {
  /// What an enqueue refuses, each by its code, with nothing written.
  static var refusals: [Check<Fixture>] {
    [
      refusal("a table that is not there", .noSuchTable) { _ in Audience("nowhere", token: "token") },
      refusal("a token column that is not there", .noSuchColumn) { _ in Audience("devices", token: "tokn") },
      refusal("a platform column that is not there", .noSuchColumn) { _ in
        Audience("devices", token: "token", platform: .column("os"))
      },
      refusal("a last-seen column that is not there", .noSuchColumn) { _ in
        Audience("devices", token: "token", lastSeen: "when")
      },
      refusal("a key column that is not there", .noSuchColumn) { _ in
        Audience("devices", key: ["uid"], token: "token")
      },
      refusal("a predicate about a column that is not there", .noSuchColumn) { _ in
        Audience("devices", token: "token", where: Column("age") == 1 && !(Column("country") == "x"))
      },
      refusal("a key that is not unique", .noUsableKey) { _ in Audience("devices", key: ["city"], token: "token") },
      refusal("a table without a key", .noUsableKey) { scene in
        try await table(scene, [ColumnSketch("id", .integer), ColumnSketch("token", .text)])
      },
      refusal("a part of a composite key", .noUsableKey) { scene in
        var audience = try await table(
          scene,
          [
            ColumnSketch("a", .integer, isNullable: false), ColumnSketch("b", .integer, isNullable: false),
            ColumnSketch("token", .text),
          ], primaryKey: ["a", "b"])
        audience.key = ["a"]
        return audience
      },
      refusal("a unique key that may be NULL", .noUsableKey) { scene in
        var audience = try await table(
          scene,
          [
            ColumnSketch("id", .integer, isNullable: false), ColumnSketch("mail", .text), ColumnSketch("token", .text),
          ], primaryKey: ["id"], uniqueKeys: [["mail"]])
        audience.key = ["mail"]
        return audience
      },
      check("a key whose collation ignores case is refused, or goes by that collation", law: "section 5, enqueue") {
        scene in
        let audience = try await table(
          scene, [ColumnSketch("name", .caseInsensitiveText, isNullable: false), ColumnSketch("token", .text)],
          primaryKey: ["name"])
        guard scene.fixture.capabilities.keyKinds.contains(.caseInsensitiveText) else {
          return try await expectRefusal(.noUsableKey, "a key whose collation ignores case") {
            try await scene.enqueue(audience)
          }
        }
        try await checkIgnoringCase(scene, audience)
      },
      refusal("clearing a token column that must not be NULL", .tokenNotNullable) { scene in
        try await table(
          scene, [ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text, isNullable: false)],
          primaryKey: ["id"])
      },
      refusal("deleting rows that others reference", .referencedRows, policy: .deleteRow) { scene in
        try await scene.fixture.drop("devices")
        try await makeReferenced(scene)
        return .devices
      },
      refusal("a comparison with NULL", .invalidPredicate) { _ in
        .devices(where: .compare("age", .equal, .null))
      },
      refusal("NULL in a list", .invalidPredicate) { _ in .devices(where: Column("age").in([1, .null])) },
      refusal("an empty idempotency key", .invalidRequest, key: "") { _ in .devices },
      refusal("an idempotency key of 256 bytes", .invalidRequest, key: String(repeating: "k", count: 256)) { _ in
        .devices
      },
      refusal(
        "an idempotency key of 64 signs with 256 bytes", .invalidRequest, key: String(repeating: "\u{1F600}", count: 64)
      ) { _ in .devices },
      check("a token column that must not be NULL may lose its rows, or keep them", law: "section 5, enqueue") {
        scene in
        let audience = try await table(
          scene, [ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text, isNullable: false)],
          primaryKey: ["id"])
        try await scene.fixture.insert([["id": 1, "token": "one"], ["id": 2, "token": "two"]], into: "things")
        try await scene.enqueue(audience, policy: .none)
        try await scene.deliver(try await scene.claim())
        try await scene.enqueue(audience, policy: .deleteRow)
        let pruned = try await scene.prune(try await scene.claim())
        try expect(pruned.outcomes, is: [.pruned, .pruned], "what became of the rows")
        try expect(try await scene.fixture.rows(of: "things").count, is: 0, "rows that are left")
      },
    ]
  }

  /// Where a key's own index ignores case, no two keys differ in case alone, and a row whose key was spelt anew is the same
  /// row.
  private static func checkIgnoringCase(_ scene: Scene<Fixture>, _ audience: Audience) async throws {
    let names = ["b", "A", "C", "d", "Ea", "e"]
    try await scene.fixture.insert(
      names.map { ["name": .text($0), "token": .text("token of \($0)")] }, into: "things")
    try await scene.enqueue(audience)
    var handed: [String] = []
    while case .batch(let batch) = try await scene.claimOnce(size: 2, first: 1) {
      try await scene.settle(.answers(batch.givenBack()))
      if batch.tokens.contains("token of C") {
        try await scene.fixture.update("things", where: "name", is: "C", set: ["name": "c"])
      }
      let again = try await scene.claim(size: 2)
      try expect(again.tokens.sorted(), is: batch.tokens.sorted(), "the tokens of who is owed")
      handed += again.tokens
      let pruned = try await scene.prune(again)
      try expect(pruned.outcomes, is: again.keys.map { _ in .pruned }, "what became of them")
    }
    try expect(Set(handed), is: Set(names.map { "token of \($0)" }), "everybody, once")
    try expect(handed.count, is: names.count, "how many were handed out")
  }

  private static func refusal(
    _ what: String, _ code: StoreError.Code, policy: Policy = .clearColumn, key: String? = nil,
    audience: @escaping @Sendable (Scene<Fixture>) async throws -> Audience
  ) -> Check<Fixture> {
    check("an enqueue refuses \(what)", law: "section 5, enqueue") { scene in
      try await scene.makeDevices(1)
      let request = scene.request(try await audience(scene), policy: policy, key: key)
      try await expectRefusal(code, what) { _ = try await scene.store.enqueue(request) }
      try await expectRefusal(code, "counting \(what)") { _ = try await scene.store.jobs(.count(request)) }
      try expect(try await scene.allJobs().count, is: 0, "jobs that were written")
    }
  }

  /// A table called `things` with a token column, and the audience of it.
  private static func table(
    _ scene: Scene<Fixture>, _ columns: [ColumnSketch], primaryKey: [String] = [], uniqueKeys: [[String]] = []
  ) async throws -> Audience {
    try await scene.fixture.create(
      TableSketch("things", columns: columns, primaryKey: primaryKey, uniqueKeys: uniqueKeys))
    return Audience("things", token: "token")
  }
}
