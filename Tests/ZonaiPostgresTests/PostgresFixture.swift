import Synchronization
import ZonaiCore
import ZonaiPostgres
import ZonaiTestKit
import ZonaiTestServers

/// A schema of its own in the shared server's database, the application's connection to it, and a clock to turn.
final class PostgresFixture: StoreFixture {
  let schema: String
  let url: String
  let application: Application
  let clock = TurnableClock()
  let capabilities: StoreCapabilities
  /// What the application's columns hold, by table.
  private let kinds = Mutex<[TableName: [String: ColumnSketch.Kind]]>([:])

  private static let number = Atomic<Int>(0)

  static func make() async throws -> PostgresFixture {
    guard let server = TestServers.postgres else { throw TestFailure(TestServers.noPostgres) }
    let fixture = try PostgresFixture(server)
    try await fixture.application.runAll([
      // Of two that make one extension at a time one fails.
      "BEGIN", "SELECT pg_advisory_xact_lock(20150101)", "CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public",
      "COMMIT", "CREATE SCHEMA \(fixture.schema)", "SET search_path TO \(fixture.schema), public",
    ])
    return fixture
  }

  private init(_ server: String) throws {
    let name = "t\(UInt32.random(in: .min ... .max))_\(PostgresFixture.number.add(1, ordering: .relaxed).newValue)"
    schema = name
    // Sessions begin in a zone of their own.
    url = server + "?options=-csearch_path%3D\(name),public%20-cTimeZone%3DAsia/Kolkata"
    application = try Application(server)
    capabilities = StoreCapabilities(
      locksRows: true, showsLockWaits: true, raisesConflicts: true, otherSchema: name + "_other")
  }

  /// Takes the schemas away again.
  func remove() async throws {
    try await application.run("DROP SCHEMA IF EXISTS \(schema), \(schema)_other CASCADE")
  }

  func open() throws -> PostgresStore { try store() }

  func store(_ change: (inout PostgresOptions) -> Void = { _ in }) throws -> PostgresStore {
    var options = PostgresOptions()
    change(&options)
    return try PostgresStore(url: url, options: options, clock: { [clock] in clock.now })
  }

  func close(_ store: PostgresStore) async { await store.close() }

  // MARK: The application's tables

  func create(_ table: TableSketch) async throws {
    if let other = table.name.schema { try await application.run("CREATE SCHEMA IF NOT EXISTS \(quoted(other))") }
    kinds.withLock { kinds in
      kinds[table.name] = Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, $0.kind) })
    }
    var parts = table.columns.map { column in
      "\(quoted(column.name)) \(column.kind.declaration)\(column.isNullable ? "" : " NOT NULL")"
    }
    parts += table.references.map { "FOREIGN KEY (\(quoted($0.column))) REFERENCES \(quoted($0.table))" }
    parts += table.uniqueKeys.map { "UNIQUE (\(list($0)))" }
    if !table.primaryKey.isEmpty { parts.append("PRIMARY KEY (\(list(table.primaryKey)))") }
    try await application.run("CREATE TABLE \(quoted(table.name)) (\(parts.joined(separator: ", ")))")
  }

  func drop(_ table: TableName) async throws { try await application.run("DROP TABLE \(quoted(table))") }

  func alter(_ table: TableName, _ change: TableChange) async throws {
    let clause: String
    switch change {
    case .add(let column):
      clause = "ADD COLUMN \(quoted(column.name)) \(column.kind.declaration)"
      kinds.withLock { $0[table]?[column.name] = column.kind }
    case .drop(let column): clause = "DROP COLUMN \(quoted(column))"
    case .rename(let column, let name):
      clause = "RENAME COLUMN \(quoted(column)) TO \(quoted(name))"
      let kind = kind(column, of: table)
      kinds.withLock { $0[table]?[name] = kind }
    }
    try await application.run("ALTER TABLE \(quoted(table)) \(clause)")
  }

  private func kind(_ column: String, of table: TableName) -> ColumnSketch.Kind {
    kinds.withLock { $0[table]?[column] } ?? .text
  }

  // MARK: Its rows

  func insert(_ rows: [[String: Value]], into table: TableName) async throws {
    try await application.run("BEGIN")
    for row in rows {
      let columns = row.keys.sorted()
      let values = columns.enumerated().map { kind($1, of: table).parameter($0 + 1) }
      try await application.run(
        "INSERT INTO \(quoted(table)) (\(list(columns))) VALUES (\(values.joined(separator: ", ")))",
        columns.map { text(row[$0] ?? .null) })
    }
    try await application.run("COMMIT")
  }

  func update(_ table: TableName, where column: String, is value: Value, set: [String: Value]) async throws {
    let columns = set.keys.sorted()
    let changes = columns.enumerated().map { "\(quoted($1)) = \(kind($1, of: table).parameter($0 + 1))" }
    try await application.run(
      "UPDATE \(quoted(table)) SET \(changes.joined(separator: ", ")) WHERE \(quoted(column)) "
        + "IS NOT DISTINCT FROM \(kind(column, of: table).parameter(columns.count + 1))",
      columns.map { text(set[$0] ?? .null) } + [text(value)])
  }

  func delete(from table: TableName, where column: String, is value: Value) async throws {
    try await application.run("DELETE FROM \(quoted(table)) WHERE \(condition(table, column))", [text(value)])
  }

  func rows(of table: TableName) async throws -> [[String: Value]] {
    let columns = try await application.run(
      """
      SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
      """, [quoted(table)]
    ).compactMap { $0[0] }
    let expressions = columns.map { kind($0, of: table).expression(quoted($0)) }
    return try await application.run("SELECT \(expressions.joined(separator: ", ")) FROM \(quoted(table))").map { row in
      var values: [String: Value] = [:]
      for (column, text) in zip(columns, row) { values[column] = kind(column, of: table).value(text) }
      return values
    }
  }

  private func condition(_ table: TableName, _ column: String) -> String {
    "\(quoted(column)) IS NOT DISTINCT FROM \(kind(column, of: table).parameter(1))"
  }

  // MARK: Trouble

  func refuseChanges(of table: TableName, where column: String, is value: Value, words: String) async throws {
    try await trigger("refuse", on: table, where: column, is: value, "RAISE EXCEPTION '%', \(literal(words));")
  }

  func refuseChanges(of table: TableName, quoting column: String) async throws {
    try await application.runAll([
      """
      CREATE FUNCTION \(schema).quote() RETURNS trigger LANGUAGE plpgsql AS $body$
      BEGIN RAISE EXCEPTION 'guarded: %', OLD.\(quoted(column)); END $body$
      """,
      """
      CREATE TRIGGER quote BEFORE UPDATE OR DELETE ON \(quoted(table)) FOR EACH ROW EXECUTE FUNCTION \(schema).quote()
      """,
    ])
  }

  func raiseConflicts(on table: TableName, where column: String, is value: Value, times: Int) async throws {
    // A sequence goes on whatever is rolled back.
    try await application.run("CREATE SEQUENCE conflicts")
    try await trigger(
      "conflict", on: table, where: column, is: value,
      "IF nextval('\(schema).conflicts') <= \(times) THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01'; END IF;"
    )
  }

  private func trigger(
    _ name: String, on table: TableName, where column: String, is value: Value, _ body: String
  ) async throws {
    try await application.runAll([
      """
      CREATE FUNCTION \(schema).\(name)() RETURNS trigger LANGUAGE plpgsql AS $body$
      BEGIN \(body) IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $body$
      """,
      """
      CREATE TRIGGER \(name) BEFORE UPDATE OR DELETE ON \(quoted(table)) FOR EACH ROW
      WHEN (OLD.\(quoted(column)) IS NOT DISTINCT FROM \(literal(text(value) ?? ""))) EXECUTE FUNCTION \(schema).\(name)()
      """,
    ])
  }

  // MARK: Locks

  func whileLocked(
    _ table: TableName, where column: String, is value: Value, _ body: @Sendable () async throws -> Void
  ) async throws {
    let other = try await anotherApplication()
    try await other.run("BEGIN")
    try await other.run(
      "SELECT 1 FROM \(quoted(table)) WHERE \(condition(table, column)) FOR UPDATE", [text(value)])
    try await body()
    try await other.run("ROLLBACK")
  }

  func whileLockedUntilWaitedFor(
    _ table: TableName, where column: String, is value: Value, then other: Value?, set: [String: Value],
    _ body: @Sendable () async throws -> Void
  ) async throws {
    let holder = try await anotherApplication()
    let process = await holder.process
    func lock() async throws {
      try await holder.run("BEGIN")
      try await holder.run(
        "SELECT 1 FROM \(quoted(table)) WHERE \(condition(table, column)) FOR UPDATE", [text(value)])
    }
    func change() async throws {
      guard let other else { return }
      let columns = set.keys.sorted()
      let changes = columns.enumerated().map { "\(quoted($1)) = \(kind($1, of: table).parameter($0 + 1))" }
      for key in [value, other] {
        try await holder.run(
          "UPDATE \(quoted(table)) SET \(changes.joined(separator: ", ")) WHERE \(quoted(column)) = "
            + kind(column, of: table).parameter(columns.count + 1), columns.map { text(set[$0] ?? .null) } + [text(key)]
        )
      }
    }
    try await lock()
    let isOver = Atomic(false)
    async let going: Void = {
      while !isOver.load(ordering: .acquiring) {
        let waiting = try await application.run(
          "SELECT 1 FROM pg_stat_activity WHERE \(process) = ANY (pg_blocking_pids(pid))")
        if !waiting.isEmpty { break }
        await Task.yield()
      }
      do {
        try await change()
        try await holder.run("COMMIT")
      } catch let failure as TestFailure where failure.number == "40P01" {
        try await holder.run("ROLLBACK")
        try await lock()
        try await change()
        try await holder.run("COMMIT")
      }
    }()
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    isOver.store(true, ordering: .releasing)
    try await going
    try outcome.get()
  }

  func anotherApplication() async throws -> Application {
    let other = try Application(url)
    return other
  }

  // MARK: Damage, time and versions

  func garble(_ job: JobID) async throws {
    try await application.run(
      "UPDATE zonai_jobs SET definition = '{', kept_groups = '{' WHERE id = $1", [job.rawValue])
  }

  func advance(milliseconds: Int64) { clock.advance(milliseconds: milliseconds) }

  func pretendNewerSchema(by builds: Int) async throws {
    try await application.run("UPDATE zonai_meta SET version = version + \(builds)")
  }

  private func list(_ columns: [String]) -> String { columns.map(quoted).joined(separator: ", ") }
}

/// A value as a parameter's text.
private func text(_ value: Value) -> String? {
  switch value {
  case .null: nil
  case .boolean(let boolean): "\(boolean)"
  case .integer(let integer): "\(integer)"
  case .real(let real): "\(real)"
  case .text(let text): text
  case .bytes(let bytes): "\\x" + bytes.hex
  }
}

extension ColumnSketch.Kind {
  fileprivate var declaration: String {
    switch self {
    case .integer: "bigint"
    case .smallInteger: "integer"
    case .real: "double precision"
    case .text: "text"
    case .fixedText: "char(40)"
    case .caseInsensitiveText: "citext"
    case .uuid: "uuid"
    case .blob: "bytea"
    case .boolean: "boolean"
    case .timestamp, .moment: "timestamptz"
    case .wallClock: "timestamp"
    }
  }

  fileprivate func parameter(_ number: Int) -> String {
    switch self {
    case .integer: "$\(number)::bigint"
    case .smallInteger: "$\(number)::integer"
    case .real: "$\(number)::double precision"
    case .text: "$\(number)::text"
    case .fixedText: "$\(number)::bpchar"
    case .caseInsensitiveText: "$\(number)::citext"
    case .uuid: "$\(number)::uuid"
    case .blob: "$\(number)::bytea"
    case .boolean: "$\(number)::text::boolean"
    case .timestamp: "(timestamptz '1970-01-01 00:00:00+00' + $\(number)::bigint * interval '1 millisecond')"
    case .moment: "($\(number)::timestamp AT TIME ZONE 'UTC')"
    case .wallClock: "$\(number)::timestamp"
    }
  }

  fileprivate func expression(_ column: String) -> String {
    switch self {
    case .boolean: "\(column)::int"
    case .blob: "encode(\(column), 'hex')"
    case .timestamp: "(extract(epoch FROM \(column)) * 1000)::bigint"
    case .moment: "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')"
    case .wallClock: "to_char(\(column), 'YYYY-MM-DD HH24:MI:SS.US')"
    case .fixedText: "\(column)::text"
    default: column
    }
  }

  fileprivate func value(_ text: String?) -> Value {
    guard let text else { return .null }
    switch self {
    case .integer, .smallInteger, .boolean, .timestamp: return Int64(text).map { .integer($0) } ?? .null
    case .real: return Double(text).map { .real($0) } ?? .null
    case .blob: return [UInt8](hex: text).map { .bytes($0) } ?? .null
    case .text, .fixedText, .caseInsensitiveText, .uuid, .moment, .wallClock: return .text(text)
    }
  }
}
