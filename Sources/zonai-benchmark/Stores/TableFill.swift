import ZonaiCore

/// The application's table, and Zonai's beside it.
enum TableFill {
  static func run(_ options: StoreOptions) async throws {
    switch options.database {
    case .sqlite: try fill(try HandSQLite(options.place), options)
    case .postgres: try fill(try HandPostgres(options.place), options)
    case .mysql: try fill(try HandMySQL(options.place), options)
    }
    let store = try Stores.open(options)
    _ = try await store.migrate()
  }

  /// Anew when it has another number of rows; else those whose token was cleared get it back.
  private static func fill(_ database: some HandDatabase, _ options: StoreOptions) throws {
    for text in options.database.make { try database.execute(text) }
    let count = try database.run(try database.prepare("SELECT COUNT(*) FROM device_tokens"), [])
    if Int(count) == options.rows {
      try database.execute("UPDATE device_tokens SET token = \(options.database.token("id")) WHERE token IS NULL")
    } else {
      try database.execute(options.database.empty)
      try database.execute(options.database.rows(options.rows))
    }
    for text in options.database.tidy { try database.execute(text) }
  }
}

extension StoreOptions.Database {
  fileprivate var make: [String] {
    let columns = "(id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, token VARCHAR(200))"
    switch self {
    case .sqlite:
      // The primary key is the row's number.
      return [
        "PRAGMA journal_mode=WAL",
        "CREATE TABLE IF NOT EXISTS device_tokens (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, token TEXT)",
      ]
    case .postgres: return ["CREATE TABLE IF NOT EXISTS device_tokens \(columns)"]
    case .mysql:
      return ["CREATE TABLE IF NOT EXISTS device_tokens \(columns) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"]
    }
  }

  fileprivate var empty: String { self == .sqlite ? "DELETE FROM device_tokens" : "TRUNCATE TABLE device_tokens" }

  fileprivate func token(_ number: String) -> String {
    switch self {
    case .sqlite: "printf('%064x', \(number))"
    case .postgres: "lpad(to_hex(\(number)), 64, '0')"
    case .mysql: "LPAD(LOWER(HEX(\(number))), 64, '0')"
    }
  }

  fileprivate func rows(_ count: Int) -> String {
    guard count > 0 else { return "SELECT 1" }
    switch self {
    case .sqlite:
      return """
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < \(count))
        INSERT INTO device_tokens SELECT n, n, \(token("n")) FROM n
        """
    case .postgres:
      return "INSERT INTO device_tokens SELECT n, n, \(token("n")) FROM generate_series(1, \(count)) AS n"
    // MariaDB's engine of sequences.
    case .mysql: return "INSERT INTO device_tokens SELECT seq, seq, \(token("seq")) FROM seq_1_to_\(count)"
    }
  }

  /// What an idle hour would have done.
  fileprivate var tidy: [String] {
    switch self {
    case .sqlite: ["PRAGMA wal_checkpoint(TRUNCATE)"]
    case .postgres: ["VACUUM ANALYZE device_tokens", "CHECKPOINT"]
    case .mysql: ["ANALYZE TABLE device_tokens"]
    }
  }
}
