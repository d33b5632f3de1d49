/// What the databases write differently, for the table and the job of the measurement.
protocol HandWords {
  var numbersPlaceholders: Bool { get }
  var now: String { get }
  var lock: String { get }
  var beginReading: String { get }
  var beginWriting: String { get }
  func whenThere(_ key: [String], _ changes: [String]) -> String
  func old(_ column: String) -> String
  func new(_ column: String) -> String
  func page(isFirst: Bool) -> String
  /// The statements that read the rows of so many dead whole, and that prune them, in their order.
  func rows(_ count: Int) -> String
  func prunes(_ count: Int) -> [String]
  /// The values of these.
  func pairs(_ keys: [Int64], _ tokens: [[UInt8]]) -> [HandValue]
}

extension HandWords {
  var numbersPlaceholders: Bool { false }
  func old(_ column: String) -> String { column.split(separator: ".").last.map(String.init) ?? column }
  func new(_ column: String) -> String { "excluded.\(column)" }
  func whenThere(_ key: [String], _ changes: [String]) -> String {
    "ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(changes.joined(separator: ", "))"
  }

  /// `hasToken AND id > ? AND id <= ?`, in order.
  func page(from table: String, hasToken: String, isFirst: Bool) -> String {
    """
    SELECT id, token FROM \(table) WHERE \(hasToken) \(isFirst ? "" : "AND id > ? ")AND id <= ? ORDER BY id LIMIT ?
    """
  }
}

struct HandSQLiteWords: HandWords {
  let now = "CAST(strftime('%s', 'now') AS INTEGER) * 1000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER)"
  let lock = ""
  let beginReading = "BEGIN"
  let beginWriting = "BEGIN IMMEDIATE"

  func page(isFirst: Bool) -> String {
    page(from: "device_tokens", hasToken: "(token <> '' AND token <> x'')", isFirst: isFirst)
  }

  private func values(_ count: Int) -> String {
    "WITH v(n, k, t) AS (VALUES " + Array(repeating: "(?, ?, ?)", count: count).joined(separator: ", ") + ") "
  }

  func rows(_ count: Int) -> String {
    values(count)
      + "SELECT n, d.* FROM v CROSS JOIN device_tokens AS d WHERE d.id = k AND CAST(d.token AS BLOB) = t"
  }

  func prunes(_ count: Int) -> [String] {
    [
      values(count)
        + """
        UPDATE device_tokens AS d SET token = NULL FROM v WHERE d.id = k AND CAST(d.token AS BLOB) = t RETURNING id
        """
    ]
  }

  func pairs(_ keys: [Int64], _ tokens: [[UInt8]]) -> [HandValue] {
    keys.indices.flatMap { [.integer(Int64($0)), .integer(keys[$0]), .bytes(tokens[$0])] }
  }
}

struct HandPostgresWords: HandWords {
  let numbersPlaceholders = true
  let now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
  let lock = " FOR UPDATE"
  let beginReading = """
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout TO 300000; \
    SET LOCAL lock_timeout TO 281250
    """
  let beginWriting = """
    BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout TO 20000; SET LOCAL lock_timeout TO 18750
    """

  func old(_ column: String) -> String { column }

  func page(isFirst: Bool) -> String { page(from: "device_tokens", hasToken: "token <> ''", isFirst: isFirst) }

  private static let pairs = """
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS v(k, t, n) JOIN device_tokens AS d ON d.id = k
    WHERE (d.token::text COLLATE "C") = t
    """

  func rows(_ count: Int) -> String { "SELECT n - 1, d.* \(Self.pairs)" }

  func prunes(_ count: Int) -> [String] {
    [
      """
      WITH l AS MATERIALIZED (SELECT n, d.id AS k \(Self.pairs) ORDER BY ROW(d.id) FOR UPDATE OF d SKIP LOCKED)
      UPDATE device_tokens AS d SET token = NULL FROM l WHERE d.id = l.k RETURNING n - 1
      """
    ]
  }

  func pairs(_ keys: [Int64], _ tokens: [[UInt8]]) -> [HandValue] {
    let texts = tokens.map { "\"" + String(decoding: $0, as: UTF8.self) + "\"" }
    return [
      .text("{" + keys.map { "\($0)" }.joined(separator: ",") + "}"), .text("{" + texts.joined(separator: ",") + "}"),
    ]
  }
}

struct HandMySQLWords: HandWords {
  let now = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000"
  let lock = " FOR UPDATE"
  let beginReading = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
  let beginWriting = "START TRANSACTION READ WRITE"

  func new(_ column: String) -> String { "VALUES(\(column))" }
  func whenThere(_ key: [String], _ changes: [String]) -> String {
    "ON DUPLICATE KEY UPDATE \(changes.joined(separator: ", "))"
  }

  func page(isFirst: Bool) -> String {
    page(from: "device_tokens FORCE INDEX (PRIMARY)", hasToken: "LENGTH(token) > 0", isFirst: isFirst)
  }

  private static let values = """
    JSON_TABLE(?, '$[*]' COLUMNS (n INT PATH '$[0]', t VARCHAR(512) CHARACTER SET ascii PATH '$[1]',
    k BIGINT PATH '$[3]')) AS v
    """
  private static let isPair = """
    d.id = v.k AND CAST(CONVERT(d.token USING utf8mb4) AS BINARY) = UNHEX(v.t)
    """

  func rows(_ count: Int) -> String {
    """
    SELECT STRAIGHT_JOIN n, d.* FROM \(Self.values) JOIN device_tokens AS d FORCE INDEX (PRIMARY) WHERE \(Self.isPair)
    """
  }

  func prunes(_ count: Int) -> [String] {
    let numbers = """
      SELECT STRAIGHT_JOIN n FROM \(Self.values) JOIN device_tokens AS d FORCE INDEX (PRIMARY) WHERE \(Self.isPair)
      """
    return [
      numbers + " FOR UPDATE SKIP LOCKED",
      """
      UPDATE \(Self.values) STRAIGHT_JOIN device_tokens AS d FORCE INDEX (PRIMARY) SET d.token = NULL
      WHERE \(Self.isPair)
      """, numbers,
    ]
  }

  func pairs(_ keys: [Int64], _ tokens: [[UInt8]]) -> [HandValue] {
    let rows = keys.indices.map { "[\($0),\"\(HandRejections.hex(tokens[$0]))\",null,\(keys[$0])]" }
    return [.text("[" + rows.joined(separator: ",") + "]")]
  }
}
