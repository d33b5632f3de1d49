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
        for (index, name) in names.enumerated() {
          try await scene.fixture.insert(
            [["id": .integer(Int64(index)), "name": .text(name), "exact": .text(name), "token": .text("t\(index)")]],
            into: "people")
        }
        for (column, expected) in [("name", [0, 1, 2] as [Int64]), ("exact", [2])] {
          try await scene.enqueue(Audience("people", token: "token", where: Column(column) == "anna"))
          try expect(try await scene.drain().map(\.key.id), is: expected, "who is 'anna' by the column \(column)")
        }
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

  /// Expects each predicate to accept exactly these ids, as a job and as a count.
  private static func expectIDs(
    _ scene: Scene<Fixture>, _ cases: [(Predicate, [Int64])], file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    for (predicate, ids) in cases {
      let request = scene.request(.devices(where: predicate))
      guard case .audience(let count) = try await scene.store.jobs(.count(request)) else {
        throw CheckFailure(expected: "the count of an audience", found: "another listing", file: file, line: line)
      }
      try expect(
        count.recipients.values.reduce(0, +), is: ids.count, "the count of \(predicate)", file: file, line: line)
      _ = try await scene.store.enqueue(request)
      try expect(
        try await scene.drain().map(\.key.id), is: ids, "the ids that \(predicate) accepts", file: file, line: line)
    }
  }
}
