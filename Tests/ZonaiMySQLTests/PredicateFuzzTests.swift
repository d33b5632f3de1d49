import Synchronization
import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiSQL
import ZonaiTestKit
import ZonaiTestServers

/// Random predicates over columns of every type.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(120)))
struct PredicateFuzzTests {
  @Test func `no random predicate accepts another row than it means`() async throws {
    let scene = try await MySQLScene("SET SESSION sql_mode = ''", "SET SESSION time_zone = '+00:00'")
    let isMariaDB = try await scene.application.first("SELECT VERSION()")?.contains("MariaDB") ?? false
    let database = try await MySQLFuzz(scene, isMariaDB: isMariaDB)
    let report = try await PredicateFuzz(database).run(predicates: FuzzLength.predicates, seed: FuzzLength.seed)
    print("\(isMariaDB ? "MariaDB" : "MySQL"): \(report)")
    #expect(report.rows > report.predicates && report.refused < report.predicates)
    await scene.store.close()
  }
}

private final class MySQLFuzz: FuzzDatabase {
  let store: MySQLStore
  let columns: [FuzzColumn]
  private let scene: MySQLScene
  private let described = Mutex<TableDescription?>(nil)

  init(_ scene: MySQLScene, isMariaDB: Bool) async throws {
    self.scene = scene
    store = scene.store
    columns =
      Self.numbers + Self.texts + Self.others + (isMariaDB ? Self.onlyMariaDB : Self.onlyMySQL)
      + [
        FuzzColumn(
          "TEXT COLLATE utf8mb4_unicode_ci", .text(try await Self.unicode("utf8mb4_unicode_ci", on: scene)),
          letters: Self.plain + ["é"])
      ]
  }

  func make(_ columns: [(name: String, column: FuzzColumn)], rows: [[FuzzCell]]) async throws -> [[FuzzCell]] {
    let declared = columns.map { "\($0.name) \($0.column.declaration)" }.joined(separator: ", ")
    let given = columns.indices.filter { !columns[$0].column.isGenerated }
    try await scene.application.run(
      "CREATE TABLE t (id BIGINT PRIMARY KEY, token VARCHAR(100), \(declared)) CHARACTER SET utf8mb4")
    let values = rows.enumerated().map { id, row in
      "(\(id), 'token'\(given.map { ", " + Self.written(row[$0]) }.joined()))"
    }
    let names = (["id", "token"] + given.map { columns[$0].name }).joined(separator: ", ")
    try await scene.application.run("INSERT INTO t (\(names)) VALUES \(values.joined(separator: ", "))")
    let table = try await store.describe("t")
    described.withLock { $0 = table }
    return rows.map { row in columns.indices.map { columns[$0].column.isGenerated ? .integer(0) : row[$0] } }
  }

  func keys(of request: EnqueueRequest) async throws -> [RowKey] {
    let table = described.withLock { $0 }
    return try await store.keys(of: request, in: try #require(table), limit: 100)
  }

  func drop() async throws { try await scene.application.run("DROP TABLE t") }

  private static func written(_ cell: FuzzCell) -> String {
    switch cell {
    case .null: "NULL"
    case .integer(let integer): "\(integer)"
    case .digits(let digits): digits
    case .double(let double): literal(.real(double))
    case .single(let single): literal(.real(Double(single)))
    case .boolean(let boolean): "\(boolean)"
    case .text(let text): literal(.text(text))
    case .bytes(let bytes): literal(.bytes(bytes))
    case .time(let text): "'\(text)'"
    case .sql(let text): text
    }
  }
}

// MARK: Column types

extension MySQLFuzz {
  private static func whole(_ declaration: String, _ cells: Int64..., digits: [String] = []) -> FuzzColumn {
    FuzzColumn(declaration, .number(isWhole: true), cells.map { .integer($0) } + digits.map { .digits($0) })
  }

  private static func decimal(_ declaration: String, _ cells: String...) -> FuzzColumn {
    FuzzColumn(declaration, .number(isWhole: false), cells.map { .digits($0) })
  }

  fileprivate static let numbers: [FuzzColumn] = [
    whole("TINYINT", 0, 1, -1, 127, -128, 70), whole("BOOLEAN", 0, 1, 2), whole("TINYINT UNSIGNED", 0, 1, 255),
    whole("SMALLINT", 0, 70, 2026, 32_767, -32_768), whole("MEDIUMINT UNSIGNED ZEROFILL", 0, 70, 16_777_215),
    whole("INT", 0, 1, 2_147_483_647, -2_147_483_648), whole("INT UNSIGNED", 0, 1, 4_294_967_295),
    whole("BIGINT", 0, .max, .min, 9_007_199_254_740_993),
    whole("BIGINT UNSIGNED", 0, 1, .max, digits: ["18446744073709551615", "9223372036854775808"]),
    whole("BIGINT GENERATED ALWAYS AS (token IS NULL) STORED", 0), whole("YEAR", 0, 1901, 1970, 2026, 2155),
    whole("BIT(1)", 0, 1), whole("BIT(64)", 0, 1, .max, digits: ["18446744073709551615"]),
    decimal("DECIMAL(10,2)", "0.13", "99999999.99", "-99999999.99", "0.00", "4.30"),
    decimal("DECIMAL(2,1) UNSIGNED", "4.3", "4.2", "0.0", "9.9"), decimal("DECIMAL(3,3)", "0.125", "-0.999", "0.000"),
    decimal(
      "DECIMAL(65,30)", "0.1", "12345678901234567890.123456789", "-99999999999999999999999999999999999.0"),
    decimal("DECIMAL(20,0)", "18446744073709551616", "-1", "70"),
    FuzzColumn("FLOAT", .single, [0.1, -0.1, 16_777_216, 3.4028235e38, 0, 1.5e-38].map { .single($0) }),
    FuzzColumn("DOUBLE", .double, [0.1, -0.1, 0x1p53, 1e300, 0, 0.30000000000000004].map { .double($0) }),
  ]

  private static let letters = ["a", "A", "b", "B", "é", "É", " ", "0", "_", "%", "\\", "'", "|", "\0", "\t"]
  fileprivate static let plain = ["a", "A", "b", " ", "0", "_", "%"]
  private static let upper = FuzzCollation.ignoringASCIICase.merging(["é": [0x45], "É": [0x45]]) { $1 }
  private static let general = FuzzCollation(
    weights: upper.merging(["ß": [0x53], "😀": [0xfffd]]) { $1 }, padsBlanks: true)
  /// The weights of one of the Unicode collations, as the server's tables have them; letters of
  /// theirs may have two or none.
  fileprivate static func unicode(_ collation: String, on scene: MySQLScene) async throws -> FuzzCollation {
    var weights: [Unicode.Scalar: [Int]] = [:]
    let scalars = (0..<128).map { Unicode.Scalar(UInt8($0)) } + ["é", "É", "ß", "😀"]
    for scalar in scalars {
      let letter = literal(.text(String(Character(scalar))))
      let weight = try await scene.application.first("SELECT HEX(WEIGHT_STRING(\(letter) COLLATE \(collation)))") ?? ""
      let digits = Array(weight)
      weights[scalar] = stride(from: 0, to: digits.count, by: 4).map {
        Int(String(digits[$0..<$0 + 4]), radix: 16) ?? 0
      }
    }
    return FuzzCollation(weights: weights, padsBlanks: true)
  }

  private static func binary(
    trimsBlanks: Bool = false, holds: @escaping @Sendable (Unicode.Scalar) -> Bool = { _ in true }
  ) -> FuzzMeaning {
    .text(FuzzCollation(padsBlanks: true, trimsBlanks: trimsBlanks, holds: holds))
  }

  private static func trimming(_ collation: FuzzCollation) -> FuzzCollation {
    var collation = collation
    collation.trimsBlanks = true
    return collation
  }

  fileprivate static let texts: [FuzzColumn] = [
    FuzzColumn("VARCHAR(40) COLLATE utf8mb4_general_ci", .text(general), letters: letters + ["ß", "😀"]),
    FuzzColumn("VARCHAR(40) COLLATE utf8mb4_bin", binary(), letters: letters + ["😀"]),
    FuzzColumn("CHAR(8) COLLATE utf8mb4_bin", binary(trimsBlanks: true), letters: letters),
    FuzzColumn("CHAR(8) COLLATE utf8mb4_general_ci", .text(trimming(general)), letters: letters),
    FuzzColumn(
      "VARCHAR(40) CHARACTER SET latin1",
      .text(
        FuzzCollation(weights: upper.merging(["ß": [0xdf]]) { $1 }, padsBlanks: true, holds: { $0.value < 256 })),
      letters: letters + ["ß"]),
    FuzzColumn(
      "TEXT CHARACTER SET latin1 COLLATE latin1_bin", binary(holds: { $0.value < 256 }), letters: letters),
    FuzzColumn(
      "VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin", binary(holds: { $0.isASCII }), letters: plain),
    FuzzColumn("VARCHAR(40) CHARACTER SET utf16 COLLATE utf16_bin", binary(), letters: letters),
    FuzzColumn(
      "VARCHAR(40) CHARACTER SET utf8 COLLATE utf8_bin", binary(holds: { $0.value <= 0xffff }), letters: letters),
  ]

  private static let days = ["0000-00-00", "2026-01-31", "2024-02-29", "9999-12-31", "1000-01-01"].map {
    FuzzCell.time($0)
  }
  private static let seconds = [
    "0000-00-00 00:00:00.000000", "2026-01-31 12:00:00.000000", "2026-01-31 00:00:00.000000",
    "2037-12-31 23:59:59.000000",
  ].map { FuzzCell.time($0) }
  private static let moments =
    seconds + [
      .time("2026-01-31 12:00:00.000001"), .time("2037-12-31 23:59:59.999999"),
    ]
  private static let hours = [
    "-838:00:00.000000", "-00:00:01.000000", "00:00:00.000000", "12:30:15.000000", "838:00:00.000000",
  ].map { FuzzCell.time($0) }
  private static let words = ["active", "blocked", "0", "1", "it's", "a\\b"]

  fileprivate static let others: [FuzzColumn] = [
    FuzzColumn(
      "VARBINARY(20)", .bytes(width: nil), [.bytes([]), .bytes([0]), .bytes([0, 0]), .bytes([0x30]), .bytes([255])]),
    FuzzColumn("BLOB", .bytes(width: nil), [.bytes([]), .bytes([0]), .bytes([0x61, 0x20])]),
    FuzzColumn(
      "BINARY(4)", .bytes(width: 4), [.bytes([]), .bytes([0, 1]), .bytes([0x30]), .bytes([1, 2, 3, 4])]),
    FuzzColumn(
      "ENUM('active', 'blocked', '0', '1', 'it''s', 'a\\\\b')", .word(words), words.map { .text($0) } + [.text("")]),
    FuzzColumn("DATE", .date, days), FuzzColumn("DATE NOT NULL DEFAULT '2026-01-31'", .date, days),
    FuzzColumn("DATETIME(6)", .moment, moments), FuzzColumn("DATETIME", .moment, seconds),
    FuzzColumn("TIMESTAMP(6) NULL", .moment, moments), FuzzColumn("TIME", .timeOfDay(-838...838), hours),
    FuzzColumn(
      "TIME(6)", .timeOfDay(-838...838), hours + [.time("12:30:15.500000"), .time("-00:00:00.000001")]),
    FuzzColumn("SET('x', 'y')", .incomparable, [.sql("'x'"), .sql("'x,y'"), .sql("''")]),
    FuzzColumn("JSON", .incomparable, [.sql("'[1]'"), .sql("'\"a\"'"), .sql("'0'")]),
    FuzzColumn("POINT", .incomparable, [.sql("ST_GeomFromText('POINT(0 0)')")]),
  ]

  fileprivate static let onlyMariaDB: [FuzzColumn] = [
    FuzzColumn("VARCHAR(40) COLLATE utf8mb4_nopad_bin", .text(FuzzCollation()), letters: letters + ["😀"]),
    FuzzColumn(
      "VARCHAR(40) COLLATE utf8mb4_general_nopad_ci", .text(FuzzCollation(weights: general.weights)), letters: letters),
    FuzzColumn(
      "UUID", .uuid(isOrdered: false),
      [.text("00000000-0000-4000-8000-00000000000a"), .text("01000000-0000-1000-8000-000000000000")]),
    FuzzColumn("INET6", .incomparable, [.sql("'::1'")]), FuzzColumn("INET4", .incomparable, [.sql("'10.0.0.1'")]),
  ]

  fileprivate static let onlyMySQL: [FuzzColumn] = [
    FuzzColumn("VARCHAR(40) COLLATE utf8mb4_0900_bin", .text(FuzzCollation()), letters: letters + ["😀"])
  ]
}
