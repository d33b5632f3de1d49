import Synchronization
import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiSQL
import ZonaiTestKit
import ZonaiTestServers

/// Random predicates over columns of every type.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(120)))
struct PredicateFuzzTests {
  @Test func `no random predicate accepts another row than it means`() async throws {
    try await Turns.shared.take {
      try await withFixture { fixture in
        let database = try await PostgresFuzz(fixture)
        let report = try await PredicateFuzz(database).run(predicates: FuzzLength.predicates, seed: FuzzLength.seed)
        print("PostgreSQL: \(report)")
        #expect(report.rows > report.predicates && report.refused < report.predicates)
        await database.store.close()
      }
    }
  }
}

private final class PostgresFuzz: FuzzDatabase {
  let store: PostgresStore
  let columns = PostgresFuzz.compared + PostgresFuzz.others
  private let fixture: PostgresFixture
  private let described = Mutex<TableDescription?>(nil)

  init(_ fixture: PostgresFixture) async throws {
    self.fixture = fixture
    store = try fixture.open()
    _ = try await store.migrate()
    try await fixture.application.runAll([
      "CREATE TYPE mood AS ENUM ('active', 'blocked', '0', '1', 'it''s', '')", "CREATE DOMAIN whole AS integer",
      "CREATE DOMAIN word AS varchar(20)",
      "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
    ])
  }

  func make(_ columns: [(name: String, column: FuzzColumn)], rows: [[FuzzCell]]) async throws -> [[FuzzCell]] {
    let declared = columns.map { "\($0.name) \($0.column.declaration)" }.joined(separator: ", ")
    let given = columns.indices.filter { !columns[$0].column.isGenerated }
    try await fixture.application.run("CREATE TABLE t (id bigint PRIMARY KEY, token text, \(declared))")
    let values = rows.enumerated().map { id, row in
      "(\(id), 'token'\(given.map { ", " + Self.literal(row[$0], columns[$0].column) }.joined()))"
    }
    let names = (["id", "token"] + given.map { columns[$0].name }).joined(separator: ", ")
    try await fixture.application.run("INSERT INTO t (\(names)) VALUES \(values.joined(separator: ", "))")
    let table = try await store.describe("t")
    described.withLock { $0 = table }
    return rows.enumerated().map { id, row in
      columns.indices.map { columns[$0].column.isGenerated ? .integer(Int64(id * 3)) : row[$0] }
    }
  }

  func keys(of request: EnqueueRequest) async throws -> [RowKey] {
    let table = described.withLock { $0 }
    return try await store.keys(of: request, in: try #require(table), limit: 100)
  }

  func drop() async throws { try await fixture.application.run("DROP TABLE t") }

  private static func literal(_ cell: FuzzCell, _ column: FuzzColumn) -> String {
    switch cell {
    case .null: "NULL"
    case .integer(let integer): "'\(integer)'"
    case .digits(let digits): "'\(digits)'"
    case .double(let double): "'\(double)'"
    case .single(let single): "'\(single)'"
    case .boolean(let boolean): "\(boolean)"
    case .text(let text):
      "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    case .bytes(let bytes): "'\\x\(bytes.hex)'"
    case .time(let text): column.declaration == "timestamptz" && text.contains(":") ? "'\(text)+00'" : "'\(text)'"
    case .sql(let text): text
    }
  }
}

// MARK: Column types

extension PostgresFuzz {
  private static let noZero: @Sendable (Unicode.Scalar) -> Bool = { $0 != "\0" }
  private static let letters = ["a", "A", "b", "é", "É", " ", "0", "_", "%", "\\", "'", "😀", "\t"]
  private static let text = FuzzCollation(holds: noZero)
  private static let integers: [FuzzCell] = [0, 1, -1, 70, 127, -128, 32_767, -32_768].map { .integer($0) }
  private static let longer: [FuzzCell] = integers + [.integer(2_147_483_647), .integer(-2_147_483_648)]
  private static let longest: [FuzzCell] = longer + [.integer(.max), .integer(.min), .integer(9_007_199_254_740_993)]
  private static let decimals: [FuzzCell] = [
    "0", "0.1", "-0.1", "4.3", "2.25", "1", "NaN", "-4.20", "12345678901234567890.123456789", "Infinity", "-Infinity",
    "0.0000001",
  ].map { .digits($0) }
  private static let days: [FuzzCell] = [
    "2026-01-31", "2024-02-29", "0001-01-01", "9999-12-31", "infinity", "-infinity",
  ].map { .time($0) }
  private static let moments: [FuzzCell] = [
    "2026-01-31 12:00:00.000000", "2026-01-31 12:00:00.000001", "2026-01-31 00:00:00.000000",
    "1970-01-01 00:00:00.000000", "2026-01-31 23:59:59.999999", "0001-01-01 00:00:00.000000", "infinity", "-infinity",
  ].map { .time($0) }
  /// By ICU: blanks and signs, then digits, then letters, whatever their case. The rows hold
  /// nothing but letters.
  private static let nocase: [Unicode.Scalar: [Int]] = {
    var weights: [Unicode.Scalar: [Int]] = ["é": [1101, 1], "É": [1101, 1], "ß": [1115, 1115], "😀": [9]]
    for code in 0x61...0x7a {
      weights[Unicode.Scalar(UInt8(code))] = [1000 + code]
      weights[Unicode.Scalar(UInt8(code - 0x20))] = [1000 + code]
    }
    return weights
  }()

  fileprivate static let compared: [FuzzColumn] = [
    FuzzColumn("smallint", .number(isWhole: true), integers), FuzzColumn("integer", .number(isWhole: true), longer),
    FuzzColumn("whole", .number(isWhole: true), longer), FuzzColumn("bigint", .number(isWhole: true), longest),
    FuzzColumn("oid", .number(isWhole: true), [.integer(0), .integer(70), .integer(4_294_967_295)]),
    FuzzColumn("bigint GENERATED ALWAYS AS (id * 3) STORED", .number(isWhole: true), [.integer(3)]),
    FuzzColumn("numeric", .number(isWhole: false), decimals),
    FuzzColumn(
      "numeric(10,2)", .number(isWhole: false),
      [.digits("99999999.99"), .digits("0.13"), .digits("NaN"), .digits("-1")]),
    FuzzColumn("real", .single, [0.1, -0.1, 16_777_216, 3.4028235e38, 0, .nan, .infinity].map { .single($0) }),
    FuzzColumn("double precision", .double, [0.1, -0.1, 0x1p53, 1e300, 0, .nan, -.infinity].map { .double($0) }),
    FuzzColumn("boolean", .boolean, [.boolean(true), .boolean(false)]),
    FuzzColumn("text", .text(text), letters: letters), FuzzColumn("text COLLATE \"C\"", .text(text), letters: letters),
    FuzzColumn("varchar(20)", .text(text), letters: letters), FuzzColumn("word", .text(text), letters: letters),
    FuzzColumn("name", .text(text), [.text(String(repeating: "n", count: 63))], letters: letters),
    FuzzColumn("char(6)", .text(FuzzCollation(trimsBlanks: true, holds: noZero)), letters: letters),
    FuzzColumn(
      "citext", .text(FuzzCollation(weights: FuzzCollation.loweringASCII, holds: noZero)),
      letters: ["a", "A", "b", "B", " ", "0"]),
    FuzzColumn(
      "text COLLATE nocase", .text(FuzzCollation(weights: nocase, hasLike: false, holds: noZero)),
      letters: ["a", "A", "b", "B"]),
    FuzzColumn(
      "bytea", .bytes(width: nil), [.bytes([]), .bytes([0]), .bytes([0, 0]), .bytes([255, 1]), .bytes([0x5c])]),
    FuzzColumn(
      "uuid", .uuid(isOrdered: true),
      [
        .text("00000000-0000-4000-8000-00000000000a"), .text("ffffffff-ffff-4fff-bfff-fffffffffff0"),
        .text("01000000-0000-1000-8000-000000000000"),
      ]), FuzzColumn("date", .date, days), FuzzColumn("timestamp", .moment, moments),
    FuzzColumn("timestamptz", .moment, moments),
    FuzzColumn(
      "timestamp(0)", .moment, [.time("2026-01-31 12:00:00.000000"), .time("2026-01-31 12:00:01.000000")]),
    FuzzColumn(
      "time", .timeOfDay(0...24),
      [.time("00:00:00.000000"), .time("12:30:15.500000"), .time("23:59:59.999999"), .time("24:00:00.000000")]),
    FuzzColumn(
      "mood", .word(["active", "blocked", "0", "1", "it's", ""]),
      [.text("active"), .text("blocked"), .text("0"), .text("1"), .text("it's"), .text("")]),
  ]

  fileprivate static let others: [FuzzColumn] = [
    ("jsonb", "'[1]'"), ("json", "'{}'"), ("text[]", "'{a}'"), ("integer[]", "'{0}'"), ("interval", "'1 month'"),
    ("money", "'1.00'"), ("inet", "'10.0.0.1'"), ("cidr", "'10.0.0.0/8'"), ("macaddr", "'08:00:2b:01:02:03'"),
    ("bit(3)", "B'101'"), ("varbit", "B'1'"), ("\"char\"", "'a'"), ("timetz", "'12:00+02'"), ("point", "'(0,0)'"),
    ("int4range", "'[1,2)'"), ("tsvector", "'a'"), ("xid", "'1'"), ("mood[]", "'{active}'"), ("pg_lsn", "'0/1'"),
  ].map { FuzzColumn($0.0, .incomparable, [.sql($0.1)]) }
}
