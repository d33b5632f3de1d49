import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestServers

/// What MySQL's and MariaDB's own types make of predicates and tokens.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(5)))
struct PredicateTests {
  @Test func `a JSON column holds no single token`() async throws {
    let scene = try await MySQLScene("CREATE TABLE t (id INT PRIMARY KEY, tokens JSON)")
    for policy in [Policy.clearColumn, .deleteRow, .none] {
      let error = try await scene.refusal {
        _ = try await scene.enqueue(Audience("t", token: "tokens"), policy: policy)
      }
      #expect(error.code == .noSingleToken)
      #expect(error.sentence.contains("with one token a row"), "\(error)")
    }
    #expect(try await scene.application.first("SELECT COUNT(*) FROM zonai_jobs") == "0")
  }

  /// What the server itself would make of these: it rounds, takes moments that do not exist for
  /// zeros, and compares the words of an ENUM by their numbers.
  @Test(
    arguments: [
      (Column("rating") > 4.25, [2]), (Column("price") == 0.125, []), (Column("price") != 0.125, [1, 2]),
      (Column("f") <= 0.1, [1]), (Column("f") == 0.1, [1]), (Column("f") < "0.1000000001", [1]),
      (Column("state") == "1", [2]), (Column("state") == "0", [1]), (Column("state").in(["0", "1"]), [1, 2]),
      (Column("y") <= 70, []), (Column("bits") == 5, [2]), (Column("b") == .bytes([0x61]), [1]),
      (Column("missing").isNull, []), (Column("missing") < "2026-01-01", [1, 2]),
    ] as [(Predicate, [Int64])])
  func `a value is compared as it is written`(_ predicate: Predicate, _ ids: [Int64]) async throws {
    let scene = try await Self.scene()
    _ = try await scene.enqueue(Audience("t", token: "token", where: predicate))
    guard case .batch(let batch) = try await scene.claimResult() else { return #expect(ids == []) }
    #expect(batch.keys.map { $0.values[0] } == ids.map { .integer($0) }, "\(predicate)")
  }

  @Test(arguments: [
    Column("dt") > "2026-13-01", Column("dt") > "2026-01-01 25:00:00", Column("t") >= "noon", Column("b") == 0,
    Column("state") == true, Column("state") == "2", Column("state") > "0", Column("s") == "x", Column("j") == "[1]",
    Column("j").like("%"), Column("y").like("20%"),
  ])
  func `what cannot be compared exactly is refused before anything is written`(_ predicate: Predicate) async throws {
    let scene = try await Self.scene()
    let error = try await scene.refusal {
      _ = try await scene.enqueue(Audience("t", token: "token", where: predicate))
    }
    #expect(error.code == .invalidPredicate)
    #expect(error.databaseWords == nil)
    #expect(try await scene.application.first("SELECT COUNT(*) FROM zonai_jobs") == "0")
  }

  private static func scene() async throws -> MySQLScene {
    try await MySQLScene(
      """
      CREATE TABLE t (id INT PRIMARY KEY, token TEXT, rating DECIMAL(2,1), price DECIMAL(10,2), f FLOAT, state ENUM('0', '1'),
      y YEAR, bits BIT(3), b BINARY(4), dt DATETIME, t TIME, s SET('x'), j JSON, missing DATE NOT NULL)
      """, "SET SESSION sql_mode = ''",
      """
      INSERT INTO t VALUES
      (1, 'a', 4.2, 0.12, 0.1, '0', 1971, 1, 'a', '2026-01-01', '10:00', 'x', '[1]', 0),
      (2, 'b', 4.3, 0.13, 0.2, '1', 2026, 5, 'b', '2025-01-01', '12:00', '', '0', '2025-01-01')
      """)
  }
}
