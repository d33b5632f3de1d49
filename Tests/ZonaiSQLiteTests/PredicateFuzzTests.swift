import Synchronization
import Testing
import ZonaiCore
import ZonaiSQL
import ZonaiSQLite
import ZonaiTestKit

/// Random predicates over columns of every type, with rows whose values are of other types than
/// their columns.
@Suite(.timeLimit(.minutes(120))) struct PredicateFuzzTests {
  @Test func `no random predicate accepts another row than it means`() async throws {
    let report = try await PredicateFuzz(try SQLiteFuzz()).run(predicates: FuzzLength.predicates, seed: FuzzLength.seed)
    print("SQLite: \(report)")
    #expect(report.rows > report.predicates && report.refused < report.predicates)
  }
}

private final class SQLiteFuzz: FuzzDatabase {
  private let fixture: SQLiteFixture
  let store: SQLiteStore
  private let described = Mutex<TableDescription?>(nil)

  init() throws {
    fixture = try SQLiteFixture()
    store = try fixture.open()
  }

  private static let binary = FuzzCollation(likeEndsAtZero: true)
  private static let letters = ["a", "A", "b", "é", "É", " ", "0", "_", "%", "\0", "*", "5", "1e2", "."]
  private static let numbers: [FuzzCell] = [
    .integer(0), .integer(1), .integer(-1), .integer(70), .integer(.max), .integer(.min),
    .integer(9_007_199_254_740_993),
    .double(0.1), .double(0.5), .double(-2.5), .double(1e300), .double(0x1p63), .double(.infinity),
    .double(9007199254740992),
    .text("abc"), .text(""), .text("2020-01-01"), .text("5"), .text(" 5 "), .text("9223372036854775808"), .bytes([]),
    .bytes([0x35]), .text("0.1"),
  ]
  private static let times: [FuzzCell] = [
    .text("2020-01-01"), .text("2026-01-31 12:00:00"), .text("2026"), .text("noon"), .text("0000-00-00"),
    .text("2026-13-01"),
    .integer(1_700_000_000), .integer(20_260_131), .double(2_460_000.5), .text("1700000000"), .bytes([1]),
  ]
  private static let texts: [FuzzCell] = [
    .text("abc"), .text("ABC"), .text("abc "), .integer(5), .bytes([0x61]), .text(""),
  ]

  let columns: [FuzzColumn] =
    [
      "INTEGER", "INT", "BIGINT UNSIGNED", "SMALLINT", "REAL", "DOUBLE PRECISION", "FLOAT", "NUMERIC", "DECIMAL(10,2)",
      "BOOLEAN",
    ]
    .map { FuzzColumn($0, .looseNumber, numbers) }
    + ["TEXT", "VARCHAR(3)", "CHARACTER(20)", "CLOB"].map { FuzzColumn($0, .text(binary), texts, letters: letters) }
    + ["DATETIME", "DATE", "TIMESTAMP", "STRING"].map {
      FuzzColumn($0, .loose(binary, convertsText: true), times + numbers, letters: letters)
    }
    + [
      FuzzColumn(
        "TEXT COLLATE NOCASE", .text(FuzzCollation(weights: FuzzCollation.loweringASCII, likeEndsAtZero: true)), texts,
        letters: letters),
      FuzzColumn(
        "TEXT COLLATE RTRIM", .text(FuzzCollation(trimsBlanks: true, likeEndsAtZero: true)), texts, letters: letters),
      FuzzColumn(
        "BLOB", .bytes(width: nil), [.bytes([]), .bytes([0]), .bytes([1, 0]), .bytes([255]), .integer(0), .text("a")]),
      FuzzColumn("", .loose(binary, convertsText: false), numbers + times, letters: letters),
      FuzzColumn("JSON", .incomparable, [.text("[]"), .integer(1), .text("{\"a\":1}")]),
      FuzzColumn("JSONB", .incomparable, [.bytes([1])]),
    ]

  func make(_ columns: [(name: String, column: FuzzColumn)], rows: [[FuzzCell]]) async throws -> [[FuzzCell]] {
    let declared = columns.map { "\($0.name) \($0.column.declaration)" }.joined(separator: ", ")
    try fixture.application.run("CREATE TABLE t (id INTEGER PRIMARY KEY, token TEXT, \(declared))")
    _ = try await store.migrate()
    try fixture.application.transaction {
      for (id, row) in rows.enumerated() {
        try fixture.application.run(
          "INSERT INTO t VALUES (?, 'token'\(row.map { _ in ", ?" }.joined()))",
          [.integer(Int64(id))] + row.map(Self.value))
      }
    }
    let table = try await store.describe("t")
    described.withLock { $0 = table }
    // As they are kept: a column's affinity may have changed them.
    return try fixture.application.rows("SELECT * FROM t ORDER BY id").map { row in
      columns.map { Self.cell(row[$0.name] ?? .null) }
    }
  }

  func keys(of request: EnqueueRequest) async throws -> [RowKey] {
    let table = described.withLock { $0 }
    return try await store.keys(of: request, in: try #require(table), limit: 100)
  }

  func drop() throws { try fixture.application.run("DROP TABLE t") }

  private static func value(_ cell: FuzzCell) -> Value {
    switch cell {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .double(let double): .real(double)
    case .text(let text): .text(text)
    case .bytes(let bytes): .bytes(bytes)
    case .digits(let text), .time(let text), .sql(let text): .text(text)
    case .boolean(let boolean): .integer(boolean ? 1 : 0)
    case .single(let single): .real(Double(single))
    }
  }

  private static func cell(_ value: Value) -> FuzzCell {
    switch value {
    case .null: .null
    case .boolean(let boolean): .boolean(boolean)
    case .integer(let integer): .integer(integer)
    case .real(let real): .double(real)
    case .text(let text): .text(text)
    case .bytes(let bytes): .bytes(bytes)
    }
  }
}
