import ZonaiCore

extension TokenStoreConformance {
  /// Values of every type in predicates.
  static var values: [Check<Fixture>] {
    [
      check("values of every type compare as their type does", law: "section 1, audience") { scene in
        try await makeThings(scene)
        for (column, values) in orderedValues {
          // Rows 1, 2 and 3 hold the three values in their order, row 4 holds NULL.
          try await expectThings(
            scene,
            [
              (Column(column) == values[1], [2]), (Column(column) != values[1], [1, 3]), (Column(column).isNull, [4]),
              (Column(column).in([values[0], values[2]]), [1, 3]), (!Column(column).in([values[0]]), [2, 3]),
            ])
          if column == "uuid" { continue }
          try await expectThings(
            scene,
            [
              (Column(column) < values[1], [1]), (Column(column) <= values[1], [1, 2]),
              (Column(column) > values[1], [3]),
              (Column(column) >= values[1] && Column(column) <= values[2], [2, 3]),
            ])
        }
      },
      check("booleans are asked for as booleans and as 0 and 1, in columns of either type", law: "section 1, audience")
      {
        scene in
        try await makeThings(scene)
        for column in ["yes", "number"] {
          try await expectThings(
            scene,
            [
              (Column(column) == true, [1, 3]), (Column(column) == false, [2]), (Column(column) != true, [2]),
              (Column(column) == 1, [1, 3]), (Column(column) == 0, [2]), (!(Column(column) == true), [2]),
              (Column(column).in([true]), [1, 3]), (Column(column).in([true, false]), [1, 2, 3]),
              (Column(column).in([0]), [2]), (Column(column).isNull, [4]),
            ])
        }
        try await scene.enqueue(Audience("things", token: "token"))
        let batch = try await scene.claim()
        let rejections = try await scene.reject([0, 1, 3], of: batch)
        guard case .rows(let rows) = try await scene.store.inspect(.rows(batch.lease, rejections)) else { return }
        let table = Table("things", token: "token", of: Thing.self)
        let things = try rows.compactMap { row in try row.map { try table.record(of: $0) } }
        try expect(things.map(\.yes), is: [true, false, nil], "the booleans of the hooks' rows")
      },
      check("numbers of every size, whole and not, compare with one another", law: "section 1, audience") { scene in
        try await makeThings(scene)
        try await expectThings(
          scene,
          [
            (Column("small") == 3_000_000_000, []), (Column("small") < 3_000_000_000, [1, 2, 3]),
            (Column("small") != .integer(.max), [1, 2, 3]), (Column("small") > .integer(.min), [1, 2, 3]),
            (Column("small").in([3_000_000_000, -1]), [2]), (Column("small") > .real(-1.5), [2, 3]),
            (Column("whole") > .real(-0.5), [2, 3]), (Column("whole") < .real(0.5), [1, 2]),
            (Column("whole") == .real(0), [2]), (Column("whole") == .real(0.5), []),
            (Column("whole") != .real(0.5), [1, 2, 3]),
            (Column("whole").in([.real(0), .real(0.5)]), [2]), (Column("real") > 0, [2, 3]),
            (Column("real") == 1000, [3]),
            (Column("real").in([1000, 5]), [3]), (Column("real").in([1000, .real(0.1)]), [2, 3]),
            (Column("real") == "0.1", [2]), (Column("real") <= "0.1000000000000000001", [1, 2]),
            (Column("real") > "0.09999999999999999999", [2, 3]), (Column("real") == "0.1000000000000000001", []),
            (Column("real") < "1e400", [1, 2, 3]), (Column("real") > "-1e400", [1, 2, 3]),
            (Column("whole") < "1e30", [1, 2, 3]), (Column("whole") >= "9223372036854775807", [3]),
            (Column("whole") > "9223372036854775806.5", [3]), (Column("whole") == "9223372036854775807.5", []),
            (Column("whole").in(["0", "0.5", "1e30"]), [2]), (!Column("whole").in(["0.5", "1e30"]), [1, 2, 3]),
            (Column("whole") <= .real(0x1p63), [1, 2, 3]), (Column("whole") >= .real(-0x1p63), [1, 2, 3]),
          ])
      },
      check("a value of another type never widens an audience, and is not told", law: "law 10") { scene in
        try await makeThings(scene)
        let secret = "c0ffee-not-a-number"
        for (predicate, allowed) in [
          (Column("whole") == .text(secret), []), (Column("whole").in([.text(secret), 7]), []),
          (Column("text") == 0, []), (Column("text").in([0, 1]), []), (Column("yes") == .text(secret), []),
          (Column("moment") == .text(secret), []), (Column("uuid") == .text(secret), []), (Column("text") == true, []),
          (Column("real") == .text(secret), []), (Column("whole") == .text("0" + secret), []),
          (Column("blob") == .text(secret), []), (Column("blob") == 0, []), (Column("whole") == .real(.nan), []),
          (Column("real") == .real(.nan), []), (Column("real") > .real(.infinity), []), (Column("text") == true, []),
          (Column("whole").like("%"), []), (Column("moment").like("2026-13%"), []),
          (Column("moment") > "2026-13-01", []), (Column("clock") > "2026-13-01", []),
          (Column("moment") >= "2026-03-29 25:00:00", []), (Column("clock") == "2026-02-30", []),
          (Column("moment") > "noon", []), (Column("clock").in(["", "now", "2026-03-29 24:00:00"]), []),
          (Column("moment") == 2026, []), (Column("clock") > 20_260_101, []), (Column("moment") == true, []),
          (Column("yes") == "yes", []), (Column("whole") == "", []), (Column("real") >= "", []),
          (Column("whole") > "0x10", []), (Column("real") < " 5", []),
        ] as [(Predicate, [Int64])] {
          do {
            let job = try await scene.enqueue(Audience("things", token: "token", where: predicate))
            let found = try await scene.drain().map(\.key.id)
            try expect(found, is: allowed, "the ids that \(predicate) accepts")
            let told = try await scene.job(job).error?.detail ?? ""
            try expect(!told.contains(secret), "the job's error not to tell a value", found: told)
          } catch let error as StoreError {
            try expect(error.code, is: .invalidPredicate, "the code of the refusal of \(predicate)")
            try expect(!"\(error)".contains(secret), "the refusal not to tell a value", found: "\(error)")
          }
        }
      },
      check("a list may hold a hundred thousand texts", law: "law 11") { scene in
        try await scene.makeDevices(0)
        let cities = (0..<100_000).map { "city {\($0)}, \"\($0)\" '\\" }
        try await scene.fixture.insert(
          [0, 1, 2].map { TableSketch.device($0, token: "t\($0)", ["city": .text(cities[Int($0) * 49_999])]) }
            + [TableSketch.device(3, token: "t3", ["city": "city {0}"])], into: "devices")
        try await scene.enqueue(.devices(where: Column("city").in(cities.map { .text($0) })))
        try expect(try await scene.drain().map(\.key.id), is: [0, 1, 2], "the ids that the list names")
      },
      check("lists of texts hold texts as they are", law: "law 11") { scene in
        try await scene.makeDevices(0)
        let cities = [
          "{}", "{a,b}", "a,b", "\"", "\\", "'", "NULL", "null", "", " ", "a ", "[1]", "null]", "\u{1F600}", "e\u{301}",
          "\u{e9}", "a\nb", "0", "true",
        ]
        try await scene.fixture.insert(
          cities.enumerated().map { TableSketch.device(Int64($0), token: "t\($0)", ["city": .text($1)]) }
            + [
              TableSketch.device(100, token: "t", ["city": .null]), TableSketch.device(101, token: "t", ["city": "a"]),
            ],
          into: "devices")
        try await expectIDs(
          scene,
          [
            (Column("city").in(cities.map { .text($0) }), cities.indices.map(Int64.init)),
            (Column("city").in(["a ", "e\u{301}"]), [10, 14]), (!Column("city").in(cities.map { .text($0) }), [101]),
          ])
      },
      check("thousands of conditions may be joined, as a list or one after the other", law: "section 1, audience") {
        scene in
        try await scene.makeDevices(6)
        let others = (10..<400).map { Column("id") == .integer(Int64($0)) }
        try await expectIDs(
          scene,
          [
            (.or(others + [Column("id") == 3]), [3]),
            (.and(others.map { !$0 } + [Column("id") > 4]), [5, 6]),
          ])
        var (either, both) = (Column("id") == 3, Column("id") > 4)
        var (eitherList, bothList) = (either, both)
        for id in 10..<2010 {
          let other = Column("id") == .integer(Int64(id))
          (either, both) = (either || other, !other && both)
          guard id < 60 else { continue }
          (eitherList, bothList) = (.or([eitherList, other]), .and([!other, bothList]))
        }
        try await expectIDs(scene, [(either, [3]), (both, [5, 6]), (eitherList, [3]), (bothList, [5, 6])])
        // As another process reads it.
        _ = try await scene.enqueue(.devices(where: both && either || !either && both))
        let other = try await scene.open()
        guard case .batch(let batch) = try await scene.claimOnce(on: other) else {
          throw CheckFailure(expected: "a job of thousands of conditions to be claimed", found: "nothing")
        }
        try expect(batch.ids, is: [5, 6], "the ids that thousands of conditions accept")
      },
      check("a condition that is nested too deep is refused", law: "section 5, enqueue") { scene in
        try await scene.makeDevices(2)
        func nested(_ levels: Int) -> Predicate {
          (0..<levels).reduce(Column("id") == 1) { part, level in
            level % 2 == 0 ? .and([part, Column("id") < 9]) : .or([part, Column("id") < 0])
          }
        }
        try await expectIDs(scene, [(nested(100), [1])])
        for deep in [nested(101), nested(2000), (0..<101).reduce(Column("id") == 1) { part, _ in !part }] {
          try await expectRefusal(.invalidPredicate, "a condition more than 100 deep") {
            _ = try await scene.store.enqueue(scene.request(.devices(where: deep)))
          }
        }
        try expect(try await scene.allJobs().count, is: 1, "jobs that were written")
      },
    ]
  }

  /// Three values of each type, the least first.
  private static var orderedValues: [(String, [Value])] {
    [
      ("whole", [.integer(.min), 0, .integer(.max)]), ("small", [-2_147_483_648, -1, 2_147_483_647]),
      ("real", [-1.5, 0.1, 1000]),
      ("text", ["A", "a", "a "]), ("blob", [.bytes([]), .bytes([0, 1]), .bytes([255, 0])]),
      (
        "uuid",
        [
          "00000000-0000-4000-8000-000000000001", "7fffffff-ffff-4fff-8fff-ffffffffffff",
          "ffffffff-ffff-4fff-bfff-fffffffffff0",
        ]
      ),
      ("moment", ["2026-03-29 01:59:59.999999", "2026-03-29 02:30:00.000000", "2026-03-29 02:30:00.000001"]),
      ("clock", ["1969-12-31 23:59:59.999999", "2026-03-29 02:30:00.000000", "2026-03-29 02:30:00.000001"]),
    ]
  }

  private static func makeThings(_ scene: Scene<Fixture>) async throws {
    try await scene.fixture.create(
      TableSketch(
        "things",
        columns: [
          ColumnSketch("id", .integer, isNullable: false), ColumnSketch("token", .text),
          ColumnSketch("whole", .integer), ColumnSketch("small", .smallInteger),
          ColumnSketch("real", .real), ColumnSketch("text", .text), ColumnSketch("blob", .blob),
          ColumnSketch("uuid", .uuid), ColumnSketch("moment", .moment), ColumnSketch("clock", .wallClock),
          ColumnSketch("yes", .boolean), ColumnSketch("number", .integer),
        ], primaryKey: ["id"]))
    var rows: [[String: Value]] = (1...4).map { id in ["id": .integer(id), "token": .text("token-\(id)")] }
    for (column, values) in orderedValues {
      for (index, value) in values.enumerated() { rows[index][column] = value }
    }
    for (index, flag) in [1, 0, 1].enumerated() {
      rows[index]["yes"] = .integer(Int64(flag))
      rows[index]["number"] = .integer(Int64(flag))
    }
    try await scene.fixture.insert(rows.map { row in row.merging(nulls) { first, _ in first } }, into: "things")
  }

  /// So that all rows name the same columns.
  private static var nulls: [String: Value] {
    var nulls: [String: Value] = ["yes": .null, "number": .null]
    for (column, _) in orderedValues { nulls[column] = .null }
    return nulls
  }

  private static func expectThings(
    _ scene: Scene<Fixture>, _ cases: [(Predicate, [Int64])], file: StaticString = #fileID, line: UInt = #line
  ) async throws {
    try await expectIDs(
      scene, of: Audience("things", token: "token"), cases, file: file, line: line)
  }
}

/// A row as an application may decode it.
private struct Thing: Decodable, Sendable {
  var id: Int
  var yes: Bool?
}
