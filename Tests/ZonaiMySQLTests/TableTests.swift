import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestServers

/// Tables as people make them in MySQL and MariaDB.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(15)))
struct TableTests {
  // MARK: Keys

  struct Key: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let declaration: String
    /// As SQL, in the key's own order.
    let rows: [String]
    let keys: [Value]
  }

  static let keys = [
    Key(
      testDescription: "BIGINT UNSIGNED up to its end", declaration: "id BIGINT UNSIGNED PRIMARY KEY",
      rows: [
        "0", "9", "10", "9223372036854775807", "9223372036854775808", "18446744073709551614", "18446744073709551615",
      ],
      keys: [
        0, 9, 10, .integer(.max), "9223372036854775808", "18446744073709551614", "18446744073709551615",
      ]),
    Key(
      testDescription: "SMALLINT UNSIGNED", declaration: "id SMALLINT UNSIGNED PRIMARY KEY",
      rows: ["0", "32768", "65535"], keys: [0, 32768, 65535]),
    Key(
      testDescription: "text of the usual collation, which ignores case",
      declaration: "id VARCHAR(36) COLLATE utf8mb4_general_ci PRIMARY KEY",
      rows: ["''", "'10'", "'9'", "'a'", "'B'", "'c'", "'C '' d'", "'z'"],
      keys: ["", "10", "9", "a", "B", "c", "C ' d", "z"]),
    Key(
      testDescription: "CHAR, padded with blanks", declaration: "id CHAR(5) COLLATE utf8mb4_bin PRIMARY KEY",
      rows: ["''", "'A'", "'a  '", "'ab'", "'b'"], keys: ["", "A", "a", "ab", "b"]),
    Key(
      testDescription: "text of another character set", declaration: "id VARCHAR(20) CHARACTER SET latin1 PRIMARY KEY",
      rows: ["'a'", "'x€'", "'z'", "'ß'"], keys: ["a", "x€", "z", "ß"]),
    Key(
      testDescription: "text in UTF-16", declaration: "id VARCHAR(20) CHARACTER SET utf16 PRIMARY KEY",
      rows: ["'a'", "'é'", "'z'", "'😀'"], keys: ["a", "é", "z", "😀"]),
    Key(
      testDescription: "BINARY(16), as UUIDs are kept", declaration: "id BINARY(16) PRIMARY KEY",
      rows: ["X'00'", "UNHEX('0123456789ABCDEF0123456789ABCDEF')", "REPEAT(X'FF', 16)"],
      keys: [
        .bytes(Array(repeating: 0, count: 16)), .bytes([UInt8](hex: "0123456789abcdef0123456789abcdef") ?? []),
        .bytes(Array(repeating: 255, count: 16)),
      ]),
    Key(
      testDescription: "DECIMAL, exact beyond what a double holds", declaration: "id DECIMAL(38,3) PRIMARY KEY",
      rows: [
        "-12345678901234567890123456789.125", "-0.001", "0", "9.5", "10", "12345678901234567890123456789.001",
        "12345678901234567890123456789.002",
      ],
      keys: [
        "-12345678901234567890123456789.125", "-0.001", "0.000", "9.500", "10.000", "12345678901234567890123456789.001",
        "12345678901234567890123456789.002",
      ]),
    Key(
      testDescription: "DECIMAL without a fraction", declaration: "id DECIMAL(65,0) PRIMARY KEY",
      rows: ["-1", "REPEAT('9', 64)", "REPEAT('9', 65)"],
      keys: ["-1", .text(String(repeating: "9", count: 64)), .text(String(repeating: "9", count: 65))]),
    Key(
      testDescription: "DOUBLE", declaration: "id DOUBLE PRIMARY KEY",
      rows: ["-1e300", "0.1", "0.30000000000000004", "1e300"],
      keys: [-1e300, 0.1, 0.30000000000000004, 1e300]),
    Key(
      testDescription: "FLOAT", declaration: "id FLOAT PRIMARY KEY", rows: ["-1.5", "0.1", "16777216"],
      keys: [-1.5, .real(Double(Float(0.1))), 16777216.0]),
    Key(
      testDescription: "DATE", declaration: "id DATE PRIMARY KEY",
      rows: ["'0000-00-00'", "'1000-01-01'", "'2026-02-28'", "'9999-12-31'"],
      keys: ["0000-00-00", "1000-01-01", "2026-02-28", "9999-12-31"]),
    Key(
      testDescription: "DATETIME to the second", declaration: "id DATETIME PRIMARY KEY",
      rows: ["'0000-00-00 00:00:00'", "'2026-03-29 02:30:00'", "'2026-03-29 02:30:01'"],
      keys: ["0000-00-00 00:00:00", "2026-03-29 02:30:00", "2026-03-29 02:30:01"]),
    Key(
      testDescription: "DATETIME(6)", declaration: "id DATETIME(6) PRIMARY KEY",
      rows: ["'2026-03-29 02:30:00'", "'2026-03-29 02:30:00.000001'", "'2026-03-29 02:30:00.1'"],
      keys: ["2026-03-29 02:30:00.000000", "2026-03-29 02:30:00.000001", "2026-03-29 02:30:00.100000"]),
    Key(
      testDescription: "TIME(3)", declaration: "id TIME(3) PRIMARY KEY",
      rows: ["'-838:59:59'", "'-00:00:00.001'", "'00:00:00'", "'25:00:00.5'"],
      keys: ["-838:59:59.000", "-00:00:00.001", "00:00:00.000", "25:00:00.500"]),
    Key(testDescription: "YEAR", declaration: "id YEAR PRIMARY KEY", rows: ["1901", "2026"], keys: [1901, 2026]),
    Key(
      testDescription: "VARBINARY", declaration: "id VARBINARY(20) PRIMARY KEY",
      rows: ["X''", "X'00'", "X'0000'", "X'20'", "X'FF'"],
      keys: [.bytes([]), .bytes([0]), .bytes([0, 0]), .bytes([0x20]), .bytes([255])]),
  ]

  @Test(arguments: keys, [Policy.clearColumn, .deleteRow])
  func `a key of any type is paged, found again and pruned`(_ key: Key, _ policy: Policy) async throws {
    let scene = try await MySQLScene("SET SESSION sql_mode = ''", "CREATE TABLE t (\(key.declaration), token TEXT)")
    for (index, row) in key.rows.enumerated().reversed() {
      try await scene.application.run("INSERT INTO t VALUES (\(row), 'token-\(index)')")
    }
    _ = try await scene.enqueue(Audience("t", token: "token"), policy: policy)
    var handed: [Value] = []
    while case .batch(let batch) = try await scene.claimResult(size: 2) {
      handed += batch.keys.flatMap(\.values)
      _ = try await scene.store.settle(.answers(batch.owed()))
      let again = try await scene.claim(size: 2)
      #expect(Set(again.keys) == Set(batch.keys))
      let rejections = batch.keys.indices.map { again.rejection($0) }
      guard case .rows(let rows) = try await scene.store.inspect(.rows(again.lease, rejections)) else { return }
      #expect(rows.map { $0?["id"] } == again.keys.map { $0.values[0] })
      #expect(try await scene.prune(again).outcomes.allSatisfy { $0 == .pruned })
    }
    #expect(handed == key.keys)
    #expect(try await scene.application.first("SELECT COUNT(*) FROM t WHERE token IS NOT NULL") == "0")
  }

  @Test(arguments: ["ENUM('b', 'a')", "SET('b', 'a')", "BIT(8)"])
  func `a key whose order is not that of its values is refused`(_ type: String) async throws {
    let scene = try await MySQLScene("CREATE TABLE t (id \(type) NOT NULL PRIMARY KEY, token TEXT)")
    let error = try await scene.refusal { _ = try await scene.enqueue(Audience("t", token: "token")) }
    #expect(error.code == .noUsableKey)
    #expect(error.sentence.contains("cannot be paged by id, since its"), "\(error)")
  }

  @Test func `only indexes that pages can go by are keys`() async throws {
    let scene = try await MySQLScene(
      """
      CREATE TABLE t (id BIGINT PRIMARY KEY, a VARCHAR(50) NOT NULL, b VARCHAR(50) NOT NULL, c TEXT NOT NULL,
      d INT NULL, token TEXT, UNIQUE two (a, b), UNIQUE beginning (a(10)), UNIQUE maybe (d), UNIQUE hashed (c), INDEX plain (b))
      """)
    let table = try await scene.store.describe("t")
    #expect(table.primaryKey == ["id"])
    #expect(Set(table.uniqueKeys) == [["a", "b"], ["d"]])
    #expect(table.indexNames[["a", "b"]] == "two")
    let error = try await scene.refusal { _ = try await scene.enqueue(Audience("t", key: ["d"], token: "token")) }
    #expect(error.sentence.contains("may be NULL"))
  }

  @Test func `a key that is spelt in another case meanwhile is still the same row`() async throws {
    let scene = try await MySQLScene(
      "CREATE TABLE t (id VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY, token TEXT)",
      "INSERT INTO t VALUES ('anna', 'one'), ('berta', 'two')")
    _ = try await scene.enqueue(Audience("t", token: "token"))
    let batch = try await scene.claim()
    try await scene.application.run("UPDATE t SET id = 'ANNA ' WHERE id = 'anna'")
    #expect(try await scene.prune(batch).outcomes == [.pruned, .pruned])
  }

  // MARK: What is described

  @Test func `a view is refused, and a table without transactions`() async throws {
    let scene = try await MySQLScene(
      MySQLScene.devices, "CREATE VIEW v AS SELECT * FROM devices",
      "CREATE TABLE m (id INT PRIMARY KEY, token TEXT) ENGINE=MyISAM")
    let view = try await scene.refusal { _ = try await scene.store.describe("v") }
    #expect(view.code == .noSuchTable)
    #expect(view.sentence.contains("is a view"))
    let table = try await scene.refusal { _ = try await scene.store.describe("m") }
    #expect(table.sentence.contains("ENGINE=InnoDB"))
  }

  @Test func `a table that is not there is refused with those that are, and without ours`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    let error = try await scene.refusal { _ = try await scene.store.describe("device") }
    #expect(error.sentence.hasSuffix("it has devices"), "\(error)")
    let schema = try await scene.refusal { _ = try await scene.store.describe(TableName("devices", schema: "nowhere")) }
    #expect(schema.sentence.hasPrefix("there is no database nowhere"), "\(schema)")
  }

  @Test func `a generated token column cannot be cleared`() async throws {
    let scene = try await MySQLScene(
      "CREATE TABLE t (id INT PRIMARY KEY, raw TEXT, token TEXT GENERATED ALWAYS AS (LOWER(raw)) STORED)")
    let error = try await scene.refusal { _ = try await scene.enqueue(Audience("t", token: "token")) }
    #expect(error.code == .tokenNotNullable)
  }

  @Test func `who references the table is named, across databases`() async throws {
    let scene = try await MySQLScene(MySQLScene.devices)
    let other = scene.database.otherName
    let devices = quoted(TableName("devices", schema: scene.database.name))
    try await scene.application.run(
      "CREATE TABLE orders (id INT PRIMARY KEY, device BIGINT, FOREIGN KEY (device) REFERENCES devices (id))",
      "CREATE DATABASE \(other)",
      "CREATE TABLE \(other).notes (id INT PRIMARY KEY, device BIGINT, FOREIGN KEY (device) REFERENCES \(devices) (id))"
    )
    let described = try await scene.store.describe("devices")
    #expect(Set(described.referencedBy) == ["orders.device", "\(other).notes.device"])
  }

  // MARK: Tokens and last-seen

  @Test(arguments: [
    "VARCHAR(300) COLLATE utf8mb4_general_ci", "VARCHAR(300) CHARACTER SET latin1", "TEXT CHARACTER SET utf16",
    "CHAR(100) COLLATE utf8mb4_unicode_ci", "VARBINARY(300)", "BLOB",
  ])
  func `a token is bytes, whatever its type and collation`(_ type: String) async throws {
    let scene = try await MySQLScene(
      "CREATE TABLE t (id INT PRIMARY KEY, token \(type))",
      "INSERT INTO t VALUES (1, 'Text'), (2, 'case'), (3, ''), (4, NULL), (5, 'blank'), (6, 'é'), (7, 'gone')")
    _ = try await scene.enqueue(Audience("t", token: "token"))
    let batch = try await scene.claim()
    #expect(batch.tokens == ["Text", "case", "blank", "é", "gone"])
    // Equal to the old ones under most collations, but not byte by byte.
    try await scene.application.run(
      "UPDATE t SET token = 'CASE' WHERE id = 2", "UPDATE t SET token = 'e' WHERE id = 6", "DELETE FROM t WHERE id = 7")
    #expect(try await scene.prune(batch).outcomes == [.pruned, .spared, .pruned, .spared, .spared])
    #expect(try await scene.application.first("SELECT GROUP_CONCAT(id ORDER BY id) FROM t WHERE token <> ''") == "2,6")
  }

  @Test func `a blank at the end makes another token`() async throws {
    let scene = try await MySQLScene(
      "CREATE TABLE t (id INT PRIMARY KEY, token VARCHAR(50) COLLATE utf8mb4_general_ci)",
      "INSERT INTO t VALUES (1, 'a'), (2, ' ')")
    _ = try await scene.enqueue(Audience("t", token: "token"))
    let batch = try await scene.claim()
    #expect(batch.tokens == ["a", " "])
    try await scene.application.run("UPDATE t SET token = 'a ' WHERE id = 1")
    #expect(try await scene.prune(batch).outcomes == [.spared, .pruned])
  }

  @Test func `a token may be the key, and is cleared of by deleting its row`() async throws {
    let scene = try await MySQLScene(
      "CREATE TABLE t (token VARCHAR(190) COLLATE utf8mb4_general_ci PRIMARY KEY)",
      "INSERT INTO t VALUES ('Abc'), ('def')")
    _ = try await scene.enqueue(Audience("t", token: "token"), policy: .deleteRow)
    let batch = try await scene.claim()
    try await scene.application.run("UPDATE t SET token = 'ABC'  WHERE token = 'abc'")
    #expect(try await scene.prune(batch).outcomes == [.spared, .pruned])
    #expect(try await scene.application.first("SELECT GROUP_CONCAT(token) FROM t") == "ABC")
  }

  @Test(arguments: [
    ("DATETIME(6)", "'2026-01-02 03:04:05.000006'", "'2026-01-02 03:04:05.000007'"),
    ("DATETIME", "'0000-00-00 00:00:00'", "'2026-01-01 00:00:00'"),
    ("TIMESTAMP NULL", "'2026-03-29 02:30:00'", "'2026-03-29 02:30:01'"),
    ("DATE", "'2026-01-01'", "'2026-01-02'"), ("TIME(6)", "'-10:00:00.5'", "'-10:00:00.4'"), ("YEAR", "2026", "2027"),
    ("BIGINT", "-5", "5"), ("BIGINT UNSIGNED", "18446744073709551615", "18446744073709551614"),
    ("DOUBLE", "0.1", "0.2"), ("FLOAT", "0.1", "0.2"), ("DECIMAL(20,5)", "1.00001", "1.00002"),
    ("VARCHAR(50) COLLATE utf8mb4_general_ci", "'Now'", "'now'"), ("VARCHAR(50)", "'a'", "'a '"),
    ("VARBINARY(50)", "X'00'", "X'0000'"), ("ENUM('x', 'y')", "'x'", "'y'"), ("BIT(64)", "b'1'", "b'0'"),
    ("BOOLEAN", "TRUE", "FALSE"), ("JSON", "'{}'", "'[]'"),
  ])
  func `last-seen is compared as it was read`(_ type: String, _ before: String, _ after: String) async throws {
    let scene = try await MySQLScene(
      "SET SESSION sql_mode = ''", "CREATE TABLE t (id INT PRIMARY KEY, token TEXT, seen \(type))")
    try await scene.application.run(
      "INSERT INTO t VALUES (1, 'a', \(before)), (2, 'b', NULL), (3, 'c', \(before)), (4, 'd', NULL), (5, 'e', \(before))"
    )
    _ = try await scene.enqueue(Audience("t", token: "token", lastSeen: "seen"))
    let batch = try await scene.claim()
    try await scene.application.run(
      "UPDATE t SET seen = \(after) WHERE id IN (3, 4)", "UPDATE t SET seen = NULL WHERE id = 5")
    #expect(try await scene.prune(batch).outcomes == [.pruned, .pruned, .spared, .spared, .spared])
  }

  @Test func `a last-seen column that got another type meanwhile spares`() async throws {
    let scene = try await MySQLScene(
      "CREATE TABLE t (id INT PRIMARY KEY, token TEXT, seen VARCHAR(50))",
      "INSERT INTO t VALUES (1, 'a', 'soon'), (2, 'b', NULL)")
    _ = try await scene.enqueue(Audience("t", token: "token", lastSeen: "seen"))
    let batch = try await scene.claim()
    try await scene.application.run("UPDATE t SET seen = NULL", "ALTER TABLE t MODIFY seen DATETIME")
    let store = try MySQLStore(url: scene.database.url, clock: { [clock = scene.clock] in clock.now })
    let rejections = batch.keys.indices.map { batch.rejection($0) }
    _ = try await store.settle(.answers(BatchAnswers(lease: batch.lease, rejections: rejections)))
    let prunes = BatchPrunes(lease: batch.lease, decisions: rejections.map { ($0, .followPolicy) })
    guard case .committed(let committed) = try await store.settle(.prunes(prunes)) else { throw TestFailure("lost") }
    #expect(committed.outcomes == [.spared, .pruned])
  }

  // MARK: Predicates

  @Test func `a value of another type accepts nobody by accident`() async throws {
    let scene = try await MySQLScene(
      "CREATE TABLE t (id INT PRIMARY KEY, token TEXT, city VARCHAR(50) CHARACTER SET latin1, age INT UNSIGNED, born DATE)",
      "INSERT INTO t VALUES (1, 'a', 'Rome', 0, '2000-01-01'), (2, 'b', '0', 5, NULL), (3, 'c', '?', 7, '2001-01-01')")
    let cases: [(Predicate, [Int64])] = [
      (Column("city") == "0", [2]), (Column("city").in(["0", "1"]), [2]), (Column("age") > -1, [1, 2, 3]),
      (Column("age") == "5", [2]), (Column("age").in(["7", 5]), [2, 3]), (!Column("age").in([-1]), [1, 2, 3]),
      (Column("born") == "2000-01-01T00:00:00Z", [1]), (Column("born") > "2000-06-01", [3]),
      // A sign that latin1 does not have is in no list of it, and is no question mark.
      (Column("city").in(["😀", "Rome"]), [1]), (!Column("city").in(["😀", "Rome"]), [2, 3]),
      (Column("city").like("R%"), [1]), (Column("city").like("\\%"), []), (Column("city").like("_"), [2, 3]),
    ]
    for (predicate, ids) in cases {
      _ = try await scene.enqueue(Audience("t", token: "token", where: predicate))
      let result = try await scene.claimResult()
      var found: [Int64] = []
      if case .batch(let batch) = result {
        found = batch.keys.compactMap { if case .integer(let id) = $0.values[0] { id } else { nil } }
        _ = try await scene.store.settle(.answers(batch.delivered()))
      }
      #expect(found == ids, "\(predicate)")
    }
    for predicate in [
      Column("city") == 0, Column("city").in(["a", 0]), Column("age") == "five", Column("born") > 2000,
      Column("born") == "soon",
    ] {
      let error = try await scene.refusal {
        _ = try await scene.enqueue(Audience("t", token: "token", where: predicate))
      }
      #expect(error.code == .invalidPredicate)
      for value in ["five", "2000,", "soon"] { #expect(!"\(error)".contains(value)) }
    }
  }
}
