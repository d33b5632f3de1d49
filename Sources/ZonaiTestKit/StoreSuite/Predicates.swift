import ZonaiCore

extension TokenStoreConformance {
  /// What a predicate accepts, with SQL's three values.
  static var predicates: [Check<Fixture>] {
    [
      check("comparisons accept what SQL accepts, and never NULL", law: "section 1, audience") { scene in
        try await makePeople(scene)
        let age = Column("age")
        try await expectIDs(
          scene,
          [
            (age == 30, [2, 3]), (age != 30, [1, 4]), (age < 30, [1]), (age <= 30, [1, 2, 3]), (age > 30, [4]),
            (age >= 30, [2, 3, 4]), (age.isNull, [5]), (age.isNotNull, [1, 2, 3, 4]),
            (Column("city") == "Rome", [1, 3]),
            (Column("city") > "O", [1, 2, 3]), (Column("seen") == .null, []),
          ])
      },
      check("and, or and not keep what is unknown apart from false", law: "section 1, audience") { scene in
        try await makePeople(scene)
        let (age, city) = (Column("age"), Column("city"))
        try await expectIDs(
          scene,
          [
            (age == 30 && city == "Rome", [3]), (age == 30 || city == "Rome", [1, 2, 3]), (!(age == 30), [1, 4]),
            (!(age == 30 && city == "Rome"), [1, 2, 4]), (!(age == 30 || city == "Rome"), []),
            (!(age.isNull || city.isNull), [1, 2, 3]), (!(!(age < 30)), [1]), (.and([]), [1, 2, 3, 4, 5]),
            (.or([]), []),
            (age == 20 || (city.isNull && age > 30), [1, 4]), ((age == 20 || city.isNull) && age > 30, [4]),
          ])
      },
      check("lists and patterns accept what SQL accepts", law: "section 1, audience") { scene in
        try await makePeople(scene)
        let (age, city) = (Column("age"), Column("city"))
        try await expectIDs(
          scene,
          [
            (age.in([20, 40]), [1, 4]), (!age.in([20, 40]), [2, 3]), (age.in([]), []), (!age.in([]), [1, 2, 3, 4, 5]),
            (city.in(["Rome", "Oslo"]), [1, 3]), (city.like("Ro%"), [1, 3]), (city.like("_aris"), [2]),
            (city.like("%r%s"), [2]), (!city.like("Ro%"), [2]), (city.like("Rom"), []),
          ])
      },
      check("patterns know % and _, and nothing else", law: "section 1, audience") { scene in
        try await scene.makeDevices(0)
        let cities = [
          "100%", "100 percent", "a_b", "axb", "a\\b", "a\\%", "[a]", "a*", "a?", "Ab", "ab", "\u{1F600}b", "e\u{301}b",
          "", "a\nb", "ab ",
        ]
        try await scene.fixture.insert(
          cities.enumerated().map { TableSketch.device(Int64($0), token: "t\($0)", ["city": .text($1)]) },
          into: "devices")
        let city = Column("city")
        try await expectIDs(
          scene,
          [
            (city.like("100%"), [0, 1]), (city.like("a_b"), [2, 3, 4, 14]), (city.like("a\\%"), [4, 5]),
            (city.like("a\\_"), [4, 5]), (city.like("a\\b"), [4]), (city.like("[a]"), [6]), (city.like("[ab]%"), []),
            (city.like("a*"), [7]), (city.like("a?"), [8]), (city.like("A%"), [9]), (city.like("_b"), [9, 10, 11]),
            (city.like("__b"), [2, 3, 4, 12, 14]), (city.like(""), [13]), (city.like("%\\"), []),
            (city.like("ab"), [10]),
            (city.like("ab_"), [15]), (city.like("%"), cities.indices.map(Int64.init)),
            (!city.like("%a%b%"), [0, 1, 5, 6, 7, 8, 9, 11, 12, 13]),
          ])
      },
      check("a list may hold a hundred thousand ids", law: "law 11") { scene in
        try await scene.makeDevices(20)
        // Those who match stand at the end of the list.
        let ids = (0..<100_000).reversed().map { Value.integer(Int64($0) * 5) }
        let job = try await scene.enqueue(.devices(where: Column("id").in(ids)))
        let handed = try await scene.drain(size: 3, first: 2)
        try expect(handed.map(\.key.id), is: [5, 10, 15, 20], "the ids that the list names")
        try expect(try await scene.job(job).state, is: .completed, "the job's state")
      },
      check("a value is a value, whatever it looks like", law: "law 11") { scene in
        try await scene.makeDevices(0)
        let cities = ["' OR '1'='1", "?", "$1", ":city", "x'; DELETE FROM devices; --", "a\nb", "100%"]
        for (index, city) in cities.enumerated() {
          try await scene.fixture.insert(
            [TableSketch.device(Int64(index), token: "t\(index)", ["city": .text(city)])], into: "devices")
        }
        try await expectIDs(
          scene, cities.enumerated().map { index, city in (Column("city") == .text(city), [Int64(index)]) })
        try expect(try await scene.deviceTokens().count, is: cities.count, "rows that are left")
      },
      check("a column's collation decides what equals a value", law: "section 1, audience") { scene in
        try await scene.fixture.create(
          TableSketch(
            "people",
            columns: [
              ColumnSketch("id", .integer, isNullable: false), ColumnSketch("name", .caseInsensitiveText),
              ColumnSketch("exact", .text), ColumnSketch("token", .text),
            ], primaryKey: ["id"]))
        let names = ["Anna", "ANNA", "anna", "Berta"]
        try await scene.fixture.insert(
          names.enumerated().map { index, name in
            ["id": .integer(Int64(index)), "name": .text(name), "exact": .text(name), "token": .text("t\(index)")]
          }, into: "people")
        let people = Audience("people", token: "token")
        let (name, exact) = (Column("name"), Column("exact"))
        try await expectIDs(
          scene, of: people,
          [
            (name == "anna", [0, 1, 2]), (exact == "anna", [2]), (name != "ANNA", [3]), (exact != "ANNA", [0, 2, 3]),
            (name.in(["aNNa", "x"]), [0, 1, 2]), (exact.in(["aNNa", "anna"]), [2]), (name.like("aN%"), [0, 1, 2]),
            (exact.like("an%"), [2]), (name < "B", [0, 1, 2]), (exact < "B", [0, 1]), (exact == "anna ", []),
            (exact.in(["anna ", "ANNA "]), []), (exact.like("anna "), []),
          ])
      },
    ]
  }

  private static func makePeople(_ scene: Scene<Fixture>) async throws {
    try await scene.makeDevices(0)
    let people: [(Int64, Value, Value)] = [
      (1, 20, "Rome"), (2, 30, "Paris"), (3, 30, "Rome"), (4, 40, .null), (5, .null, .null),
    ]
    try await scene.fixture.insert(
      people.map { TableSketch.device($0, token: "t\($0)", ["age": $1, "city": $2]) }, into: "devices")
  }

  /// Expects each predicate to accept exactly these ids, as a count and as a job of one batch.
  static func expectIDs(
    _ scene: Scene<Fixture>, of audience: Audience = .devices, _ cases: [(Predicate, [Int64])],
    file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    for (predicate, ids) in cases {
      var audience = audience
      audience.predicate = predicate
      let request = scene.request(audience)
      guard case .audience(let count) = try await scene.store.jobs(.count(request)) else {
        throw CheckFailure(expected: "the count of an audience", found: "another listing", file: file, line: line)
      }
      try expect(
        count.recipients.values.reduce(0, +), is: ids.count, "the count of \(predicate)", file: file, line: line)
      let job = try await scene.store.enqueue(request).job.id
      var found: [Int64] = []
      if case .batch(let batch) = try await scene.claimOnce(first: 500, only: job) { found = batch.ids }
      try expect(found, is: ids, "the ids that \(predicate) accepts", file: file, line: line)
    }
  }
}
