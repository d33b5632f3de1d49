import Synchronization
import ZonaiCore
import ZonaiThreads

extension SQLStore {
  public func describe(_ table: TableName) async throws(StoreError) -> TableDescription {
    try await read { [dialect] connection throws(StoreError) in try dialect.describe(table, on: connection) }
  }

  public func migrate() async throws(StoreError) -> Migration {
    let deadline = MonotonicClock.milliseconds() + limits.migrating
    while true {
      let changes = driver.changes
      let step = try await write { connection throws(StoreError) in try migrate(connection) }
      switch step {
      case .done(var migration):
        do throws(StoreError) {
          let note = try await write { connection throws(StoreError) in try makePushRoutine(connection) }
          if let note { migration.notes.append(note) }
        } catch {
          guard error.code == .denied else { throw error }
          migration.notes.append(error.sentence)
        }
        return migration
      case .leasesOpen(let milliseconds):
        let now = MonotonicClock.milliseconds()
        guard now < deadline else {
          throw StoreError(
            .busy,
            "workers are in the middle of batches, and Zonai's tables cannot be upgraded under them: stop them, or "
              + "wait until they have settled, and run migrate again")
        }
        try await driver.wait(after: changes, deadline: min(deadline, now + milliseconds))
      }
    }
  }

  private enum MigrationStep: Sendable {
    case done(Migration)
    /// Somebody works with the old tables, for so many milliseconds at most.
    case leasesOpen(Int64)
  }

  private func migrate(_ connection: Driver.Connection) throws(StoreError) -> MigrationStep {
    try dialect.lockForMigration(on: connection)
    let from = try storedVersion(connection) ?? 0
    let to = steps.count
    guard from <= to else { throw newer(from) }
    if from == to { return .done(Migration(from: from, to: to)) }
    if from > 0 {
      let now = try now(connection)
      let lease = sql("SELECT MAX(due_at) FROM zonai_batches WHERE worker IS NOT NULL AND due_at > \(now)")
      let end = try connection.first(lease) { row throws(StoreError) in row.optionalInteger(0) }
      if let end = end ?? nil { return .leasesOpen(end - now) }
      let wait = try waitForOwners(now, connection)
      if wait > 0 { return .leasesOpen(wait) }
    }
    for statement in ZonaiSchema.meta.statements(dialect) { try connection.run(statement) }
    for table in steps[from...].joined() {
      for statement in table.statements(dialect) { try connection.run(statement) }
    }
    var version = SQLBuilder(dialect)
    dialect.appendUpsert(
      into: "zonai_meta", [("id", 1), ("version", .integer(Int64(to)))], key: ["id"],
      whenThere: [("version", .replace)], to: &version)
    try connection.run(version.statement())
    return .done(Migration(from: from, to: to))
  }

  /// For how long owners of leases that ended may still come back, since the database was away.
  private func waitForOwners(_ now: Int64, _ connection: Driver.Connection) throws(StoreError) -> Int64 {
    let owned = sql(
      """
      SELECT MAX(CASE WHEN w.lease IS NULL THEN 60000 ELSE w.lease END) FROM zonai_batches b
      LEFT JOIN zonai_workers w ON w.worker = b.worker WHERE b.worker IS NOT NULL
      """)
    let lease = try connection.first(owned) { row throws(StoreError) in row.optionalInteger(0) }
    guard let lease = lease ?? nil else { return 0 }
    return try attendance.left(connectedAt: driver.connectedAt, lease: lease, now: now) { () throws(StoreError) in
      try driver.uptime(on: connection)
    }
  }

  private func makePushRoutine(_ connection: Driver.Connection) throws(StoreError) -> String? {
    try dialect.lockForMigration(on: connection)
    return try dialect.makePushRoutine(on: connection)
  }

  /// Throws unless Zonai's tables are there and of this build's version.
  func checkVersion(_ connection: Driver.Connection) throws(StoreError) {
    try check(version: try storedVersion(connection))
  }

  /// The store's time, after the version was checked. What changes something asks for it once it holds the row that it
  /// changes: a migration waits for whoever held one, and nobody gets one behind it and goes on with the old tables.
  func checkedNow(_ connection: Driver.Connection) throws(StoreError) -> Int64 {
    guard hasSeenTables.value else {
      try checkVersion(connection)
      return try now(connection)
    }
    let statement = sql("SELECT \(words: dialect.now), version FROM zonai_meta WHERE id = 1")
    let found = try connection.first(statement) { row throws(StoreError) in
      (now: row.integer(0), version: Int(row.integer(1)))
    }
    try check(version: found?.version)
    return clock?() ?? found?.now ?? 0
  }

  func check(version: Int?) throws(StoreError) {
    guard let version else {
      throw StoreError(
        .notMigrated, "Zonai's tables are not in this database: create them with \"zonai migrate\"")
    }
    if version > steps.count { throw newer(version) }
    if version < steps.count {
      throw StoreError(
        .schemaVersion,
        "Zonai's tables have version \(version), this Zonai wants \(steps.count): upgrade them with "
          + "\"zonai migrate\"")
    }
  }

  private func newer(_ version: Int) -> StoreError {
    StoreError(
      .schemaVersion,
      "Zonai's tables have version \(version), from a newer Zonai; this one knows \(steps.count): use the newer one"
    )
  }

  /// nil when there are no tables.
  private func storedVersion(_ connection: Driver.Connection) throws(StoreError) -> Int? {
    // Asked rather than tried: databases have no number of their own for a missing table, and some end the transaction.
    if !hasSeenTables.value {
      guard try dialect.hasOwnTable("zonai_meta", on: connection) else { return nil }
      hasSeenTables.set()
    }
    return try connection.first(sql("SELECT version FROM zonai_meta WHERE id = 1")) { row throws(StoreError) in
      Int(row.integer(0))
    }
  }
}

/// Whether something was seen once, in this process.
final class Seen: Sendable {
  private let flag = Atomic(false)

  var value: Bool { flag.load(ordering: .relaxed) }
  func set() { flag.store(true, ordering: .relaxed) }
}
