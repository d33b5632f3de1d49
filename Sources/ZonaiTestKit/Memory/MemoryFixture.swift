import ZonaiCore

/// The store suite's fixture for `InMemoryStore`; a fixture of a real database has this shape.
public struct MemoryFixture: StoreFixture {
  public let database = MemoryDatabase()
  public let capabilities = StoreCapabilities(
    locksRows: true, showsLockWaits: true, raisesConflicts: true, otherSchema: "other \"schema\"")

  public init() {}

  public func open() async throws -> InMemoryStore { InMemoryStore(on: database, isMigrated: false) }

  public func close(_ store: InMemoryStore) async { store.close() }

  public func create(_ table: TableSketch) async throws { database.create(table) }

  public func drop(_ table: TableName) async throws { database.drop(table) }

  public func alter(_ table: TableName, _ change: TableChange) async throws { database.alter(table, change) }

  public func insert(_ rows: [[String: Value]], into table: TableName) async throws {
    database.insert(rows, into: table)
  }

  public func update(_ table: TableName, where column: String, is value: Value, set: [String: Value]) async throws {
    database.update(table, where: column, is: value, set: set)
  }

  public func delete(from table: TableName, where column: String, is value: Value) async throws {
    database.delete(from: table, where: column, is: value)
  }

  public func rows(of table: TableName) async throws -> [[String: Value]] { database.rows(of: table) }

  public func refuseChanges(of table: TableName, where column: String, is value: Value, words: String) async throws {
    database.refuseChanges(of: table, where: column, is: value, words: words)
  }

  public func refuseChanges(of table: TableName, quoting column: String) async throws {
    database.refuseChanges(of: table, quoting: column)
  }

  public func whileLocked(
    _ table: TableName, where column: String, is value: Value, _ body: @Sendable () async throws -> Void
  ) async throws {
    let lock = database.lock(table, where: column, is: value)
    defer { database.unlock(lock) }
    try await body()
  }

  public func whileLockedUntilWaitedFor(
    _ table: TableName, where column: String, is value: Value, then other: Value?, set: [String: Value],
    _ body: @Sendable () async throws -> Void
  ) async throws {
    let lock = database.lock(table, where: column, is: value, untilWaitedFor: .commit(crossing: other, set: set))
    defer { database.unlock(lock) }
    try await body()
  }

  public func raiseConflicts(
    on table: TableName, where column: String, is value: Value, times: Int
  ) async throws {
    database.raiseConflicts(on: table, where: column, is: value, times: times)
  }

  public func garble(_ job: JobID) async throws { database.garble(job) }

  public func advance(milliseconds: Int64) async throws { database.clock.advance(milliseconds: milliseconds) }

  public func pretendNewerSchema(by builds: Int) async throws {
    database.setSchemaVersion(MemoryState.currentVersion + builds)
  }
}
