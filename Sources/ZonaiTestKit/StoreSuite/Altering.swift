import ZonaiCore

extension TokenStoreConformance {
  /// Tables that change under a running job.
  static var altering: [Check<Fixture>] {
    [
      alterCheck(
        "the token column of a running job is dropped", .drop("token"), back: .add(ColumnSketch("token", .text))),
      alterCheck(
        "the token column of a running job is renamed", .rename("token", to: "push_token"),
        back: .rename("push_token", to: "token")),
      alterCheck(
        "the platform column of a running job is dropped", .drop("platform"),
        back: .add(ColumnSketch("platform", .text))),
      alterCheck(
        "the last-seen column of a running job is dropped", .drop("seen"), back: .add(ColumnSketch("seen", .timestamp))),
      alterCheck(
        "a column of a running job's predicate is renamed", .rename("age", to: "years"),
        back: .rename("years", to: "age")),
      alterCheck(
        "the key column of a running job is renamed", .rename("id", to: "number"), back: .rename("number", to: "id")),
      check("a batch settles although its table was dropped meanwhile", law: "section 5, settle") { scene in
        try await scene.makeDevices(4)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim(size: 2, first: 2))
        let batch = try await scene.claim(size: 2)
        try await scene.fixture.drop("devices")
        let rejections = try await scene.reject([1], of: batch)
        guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
        try expect(rows, is: [nil], "the hook's row")
        let pruned = try await scene.settle(.prunes(batch.prunes(rejections)))
        try expect(pruned.outcomes, is: [.spared], "what became of the rejection")
        let after = try await scene.job(job)
        try expect(after.counts.delivered, is: 3, "deliveries")
        try expect(after.counts.spared, is: 1, "spared")
        try expect(after.state, is: .completed, "the job's state")
      },
      check("a column that is added meanwhile changes nothing but the hook's row", law: "law 3") { scene in
        try await scene.makeDevices(6)
        try await scene.enqueue()
        // Every statement of the job has been used once when the table changes.
        let first = try await scene.claim(size: 2, first: 2)
        let early = try await scene.reject([0, 1], of: first)
        _ = try await scene.store.inspect(.rows(first.lease, early))
        try await scene.settle(.prunes(first.prunes(early)))
        try await scene.fixture.alter("devices", .add(ColumnSketch("note", .text)))
        try await scene.fixture.update("devices", where: "platform", is: "android", set: ["note": "new"])
        let second = try await scene.claim(size: 2)
        try expect(second.ids, is: [3, 4], "the ids of the second batch")
        let late = try await scene.reject([0, 1], of: second)
        guard case .rows(let rows) = try await scene.store.inspect(.rows(second.lease, late)) else { return }
        try expect(rows.map { $0?["note"] }, is: ["new", "new"], "the new column in the hooks' rows")
        let pruned = try await scene.settle(.prunes(second.prunes(late)))
        try expect(pruned.outcomes, is: [.pruned, .pruned], "what became of them")
        try expect(try await scene.drain(size: 2).map(\.key.id), is: [5, 6], "the rest")
      },
    ]
  }

  /// A job that can go on no more fails with a sentence, its open batch settles, another job is not touched by it, and the
  /// job goes on once the table is as it was.
  private static func alterCheck(_ what: String, _ change: TableChange, back: TableChange) -> Check<Fixture> {
    check("\(what): the job fails with a sentence, and nothing else does", law: "section 5, claim") { scene in
      try await scene.makeDevices(8)
      try await scene.fixture.update("devices", where: "platform", is: "android", set: ["age": 20])
      var audience = Audience.devicesLastSeen
      audience.predicate = Column("age") == 20
      let job = try await scene.enqueue(audience)
      try await scene.deliver(try await scene.claim("anna", size: 2, first: 2))
      let open = try await scene.claim("anna", size: 2)
      try await scene.fixture.create(
        TableSketch(
          "others", columns: [ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text)],
          primaryKey: ["id"]))
      try await scene.fixture.insert([["id": 1, "token": "other"]], into: "others")
      let other = try await scene.enqueue(Audience("others", token: "token"))
      try await scene.fixture.alter("devices", change)

      let worker = try await scene.open()
      for handle in [scene.store, worker] {
        guard case .ended(let ended) = try await scene.claimOnce("berta", size: 2, only: job, on: handle) else {
          throw CheckFailure(expected: "the claim to end the job", found: "something else")
        }
        try expect(ended.state, is: .failed, "the job's state")
        try expect(ended.error?.code, is: .store, "the code of its error")
        let column = change.column
        try expect(
          ended.error?.detail.contains(column) == true, "a sentence that names \(column)",
          found: ended.error?.detail ?? "nothing")
        try await scene.resume(job)
      }
      try expect(try await scene.claim(only: other).tokens, is: ["other"], "the other job's tokens")
      let rejections = try await scene.reject([0], of: open)
      guard case .rows(let rows) = try await scene.store.inspect(.rows(open.lease, rejections)) else { return }
      try expect(rows.count, is: 1, "answers about one hook's row")
      let pruned = try await scene.settle(.prunes(open.prunes(rejections)))
      try expect(pruned.outcomes.count, is: 1, "outcomes")
      _ = try await scene.claimOnce("berta", size: 2, only: job)

      try await scene.fixture.alter("devices", back)
      let empty = ["token": Value.text("back"), "platform": "android", "seen": .integer(TableSketch.seen)]
      for id in 5...8 { try await scene.fixture.update("devices", where: "id", is: .integer(Int64(id)), set: empty) }
      try await scene.resume(job)
      try expect(try await scene.drain(size: 2).map(\.key.id), is: [5, 6, 7, 8], "the ids once the table is as it was")
      try expect(try await scene.job(job).state, is: .completed, "the job's state in the end")
    }
  }
}

extension TableChange {
  /// The column that is gone.
  fileprivate var column: String {
    switch self {
    case .add(let column): column.name
    case .drop(let name), .rename(let name, _): name
    }
  }
}
