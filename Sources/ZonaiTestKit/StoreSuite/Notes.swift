import ZonaiCore

extension TokenStoreConformance {
  /// What a store notes about an audience's table before anything is sent.
  static var notes: [Check<Fixture>] {
    [
      check("a last-seen in the future is noted, in the count and with the job", law: "section 3, last-seen") { scene in
        try await scene.makeDevices(4)
        try await scene.fixture.update("devices", where: "id", is: 4, set: ["seen": .integer(4_000_000_000_000)])
        guard case .audience(let count) = try await scene.store.jobs(.count(scene.request(.devicesLastSeen))) else {
          return
        }
        try expect(count.notes.map(\.code), is: [.lastSeenInFuture], "the notes of the count")
        try expect(
          count.notes.first?.sentence.hasPrefix("1 of 4 values of devices.seen ") ?? false, "how many values",
          found: count.notes.first?.sentence ?? "nothing")
        let job = try await scene.enqueue(.devicesLastSeen)
        let first = try await scene.claim(size: 2, first: 2)
        try expect(first.job.notes, is: count.notes, "the notes of the first batch's job")
        try await scene.deliver(first)
        try expect(try await scene.claim(size: 2).job.notes, is: count.notes, "the notes of the next batch's job")
        try expect(try await scene.job(job).notes, is: count.notes, "the notes of the job that is shown")
      },
      check("a last-seen that cannot be read is noted, and NULL is not", law: "section 3, last-seen") { scene in
        try await scene.makeDevices(3)
        try await scene.fixture.update("devices", where: "id", is: 2, set: ["city": "yesterday"])
        try await scene.fixture.update("devices", where: "id", is: 3, set: ["city": "2020-01-02 03:04:05"])
        let audience = Audience("devices", token: "token", lastSeen: "city")
        guard case .audience(let count) = try await scene.store.jobs(.count(scene.request(audience))) else { return }
        try expect(count.notes.map(\.code), is: [.lastSeenUnreadable], "the notes of the count")
        try expect(
          count.notes.first?.sentence.hasPrefix("1 of 2 values of devices.city ") ?? false, "how many values",
          found: count.notes.first?.sentence ?? "nothing")
        try await scene.enqueue(audience)
        try expect(try await scene.claim().job.notes, is: count.notes, "the notes of the job")
      },
      check("tokens that fill their column are counted, and nothing else is noted", law: "section 4, shape") { scene in
        try await scene.fixture.create(
          TableSketch(
            "fixed",
            columns: [ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .fixedText)],
            primaryKey: ["id"]))
        try await scene.fixture.insert(
          (1...5).map { ["id": .integer($0), "token": .text(String(repeating: "t", count: $0 < 3 ? 40 : 39))] },
          into: "fixed")
        let audience = Audience("fixed", token: "token")
        guard case .audience(let count) = try await scene.store.jobs(.count(scene.request(audience))) else { return }
        let limits = scene.fixture.capabilities.limitsText
        try expect(count.notes.map(\.code), is: limits ? [.tokensCutOff] : [], "the notes of the count")
        if limits {
          try expect(
            count.notes.first?.sentence.hasPrefix("2 of the tokens have exactly the 40 characters ") ?? false,
            "how many tokens", found: count.notes.first?.sentence ?? "nothing")
        }
        try expect(count.recipients.values.reduce(0, +), is: 5, "recipients")
        try await scene.enqueue(audience)
        try expect(try await scene.claim().job.notes, is: [], "the notes of a job without a last-seen column")
      },
    ]
  }
}
