import ZonaiCore

extension TokenStoreConformance {
  /// A table with a key of these kinds: everybody is handed out once; who is owed and what a dead worker left comes back by
  /// key; every row is found by its key when it is pruned.
  ///
  /// Rows are told apart by their tokens, since a store may read a moment or a uuid in its own form.
  static func keyCheck(
    _ name: String, _ kinds: [ColumnSketch.Kind], isTurned: Bool = false, _ keys: [[Value]]
  ) -> Check<Fixture> {
    check(name, law: "section 7, keys") { scene in
      guard scene.fixture.capabilities.keyKinds.isSuperset(of: kinds) else { return }
      let columns = kinds.indices.map { ColumnSketch("k\($0)", kinds[$0], isNullable: false) }
      try await scene.fixture.create(
        TableSketch(
          "keyed", columns: (isTurned ? columns.reversed() : columns) + [ColumnSketch("token", .text)],
          primaryKey: columns.map(\.name)))
      // Inserted in an order that is not the key's.
      let order = keys.indices.sorted { ($0 * 7) % keys.count < ($1 * 7) % keys.count }
      let rows = order.map { index in
        var row = Dictionary(uniqueKeysWithValues: zip(columns.map(\.name), keys[index]))
        row["token"] = .text(keyToken(index))
        return row
      }
      try await scene.fixture.insert(rows, into: "keyed")
      try await walk(scene, keys: keys, isExact: kinds.allSatisfy(\.isReadAsIs))
      try await deleteAll(scene, keys.count)
    }
  }

  /// Pages of three, each owed, left and taken over, and its first row pruned.
  private static func walk(_ scene: Scene<Fixture>, keys: [[Value]], isExact: Bool) async throws {
    let job = try await scene.enqueue(Audience("keyed", token: "token"))
    var handed: [String] = []
    var tokensByKey: [String: String] = [:]
    for _ in 0..<keys.count + 1 {
      guard case .batch(let batch) = try await scene.claimOnce("anna", size: 3, first: 2) else { break }
      handed += batch.tokens
      for (key, token) in batch.all { tokensByKey[key.exact] = token }
      // Left by its worker: found again by its range.
      try await scene.fixture.advance(milliseconds: 61_000)
      let taken = try await scene.claim("berta", size: 3)
      try expect(taken.tokens, is: batch.tokens, "the tokens of a range that was taken over")
      // Owed: found again by its keys.
      try await scene.settle(.answers(taken.givenBack()))
      let again = try await scene.claim("anna", size: 3)
      try expect(again.tokens.sorted(), is: batch.tokens.sorted(), "the tokens of the owed keys")
      for (key, token) in again.all {
        try expect(tokensByKey[key.exact] ?? "no such key", is: token, "the token that was read with the key \(key)")
      }
      let rejections = try await scene.reject([0], of: again)
      guard case .rows(let rows) = try await scene.store.inspect(.rows(again.lease, rejections)) else { return }
      try expect(rows.map { $0?["token"] }, is: [.text(again.tokens[0])], "the token of the hook's row")
      let pruned = try await scene.settle(.prunes(again.prunes(rejections)))
      try expect(pruned.outcomes, is: [.pruned], "what became of the rejection")
    }
    try expect(handed.sorted(), is: keys.indices.map(keyToken).sorted(), "everybody, once")
    if isExact {
      let expected = keys.indices.map { (keyToken($0), RowKey(keys[$0]).exact) }.sorted { $0 < $1 }
      try expect(
        tokensByKey.map { "\($1) \($0)" }.sorted(), is: expected.map { "\($0) \($1)" }.sorted(), "each token's key")
    }
    try expect(try await scene.job(job).state, is: .completed, "the job's state")
  }

  /// What is left is deleted row by row, all in one batch.
  private static func deleteAll(_ scene: Scene<Fixture>, _ count: Int) async throws {
    let before = try await scene.fixture.rows(of: "keyed")
    let left = before.filter { $0["token"] != .null }
    try await scene.enqueue(Audience("keyed", token: "token"), policy: .deleteRow)
    let batch = try await scene.claim()
    try expect(batch.recipients.count, is: left.count, "recipients that are left")
    let pruned = try await scene.prune(batch)
    try expect(pruned.outcomes, is: left.map { _ in .pruned }, "what became of each row that was to be deleted")
    try expect(try await scene.fixture.rows(of: "keyed").count, is: count - left.count, "rows that are left")
  }

  private static func keyToken(_ index: Int) -> String { "token-\(index < 10 ? "0" : "")\(index)" }
}

extension ColumnSketch.Kind {
  /// Whether every store reads such a key as the value that stands for it on the application's side.
  fileprivate var isReadAsIs: Bool {
    switch self {
    case .integer, .smallInteger, .text, .fixedText, .uuid, .blob: true
    case .real, .caseInsensitiveText, .boolean, .timestamp, .moment, .wallClock: false
    }
  }
}
