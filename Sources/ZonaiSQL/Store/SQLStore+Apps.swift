import ZonaiCore

/// What an app's transports are bound to, in a table of its own.
extension SQLStore {
  public func bind(_ request: BindRequest) async throws(StoreError) -> AppBindings {
    let known = try await read { connection throws(StoreError) in
      try checkVersion(connection)
      return try bindings(of: request.app, connection)
    }
    try known.check(request.lanes)
    if known.unbound(request.lanes).isEmpty { return known }
    return try await write { connection throws(StoreError) in
      try checkVersion(connection)
      return try bind(request.lanes, to: request.app, connection)
    }
  }

  public func rebind(_ request: BindRequest) async throws(StoreError) -> Rebinding {
    try await write { connection throws(StoreError) in
      let now = try checkedNow(connection)
      // Who claims meanwhile holds its job's row: either it is first, and the job is failed behind
      // it, or it finds the new binding.
      let before = try bindings(of: request.app, connection, lock: dialect.lockClause)
      guard !before.lanes.isEmpty else {
        throw StoreError(
          .notFound,
          "\(request.app) is not bound to anything: its first push or worker binds it; see \"zonai apps list\"")
      }
      var changes: [Rebinding.Change] = []
      for identity in request.lanes.inOrder {
        guard let bound = before.lanes[identity.transport], bound.identity != identity else { continue }
        changes.append(Rebinding.Change(from: bound.identity, to: identity))
        try connection.run(
          sql(
            """
            UPDATE zonai_apps SET identity = \(identity.stored), version = version + 1, bound_at = \(now)
            WHERE app = \(request.app.rawValue) AND transport = \(identity.transport.rawValue)
            """))
      }
      let bindings = try bind(request.lanes, to: request.app, connection)
      let failed = try failOpenJobs(of: before, changes, now, connection)
      try connection.announceWork()
      return Rebinding(bindings: bindings, changes: changes, failedJobs: failed)
    }
  }

  public func apps() async throws(StoreError) -> [AppAccount] {
    try await read { connection throws(StoreError) in
      try checkVersion(connection)
      let now = try now(connection)
      var accounts: [AppName: AppAccount] = [:]
      func account(_ app: String, _ change: (inout AppAccount) -> Void) {
        let name = AppName(rawValue: app)
        change(&accounts[name, default: AppAccount(bindings: AppBindings(app: name))])
      }
      let bound = sql("SELECT transport, identity, version, bound_at, app FROM zonai_apps")
      try connection.run(bound) { row throws(StoreError) in
        let binding = try LaneBinding(row)
        account(row.text(4)) { $0.bindings.lanes[binding.identity.transport] = binding }
      }
      let jobs = sql(
        """
        SELECT app, COUNT(*) FROM zonai_jobs WHERE state IN ('pending', 'running')
        AND app <> \(StoredApp.unread) GROUP BY app
        """)
      try connection.run(jobs) { row throws(StoreError) in
        account(row.text(0)) { $0.openJobs = Int(row.integer(1)) }
      }
      let workers = sql(
        "SELECT app, COUNT(*) FROM zonai_workers WHERE seen_at + lease >= \(now) GROUP BY app")
      try connection.run(workers) { row throws(StoreError) in
        account(row.text(0)) { $0.liveWorkers = Int(row.integer(1)) }
      }
      return accounts.values.sorted { $0.app.rawValue < $1.app.rawValue }
    }
  }

  // MARK: Steps

  func bindings(
    of app: AppName, _ connection: Driver.Connection, lock: StaticString = ""
  ) throws(StoreError) -> AppBindings {
    let statement = sql(
      """
      SELECT transport, identity, version, bound_at FROM zonai_apps WHERE app = \(app.rawValue)
      ORDER BY transport\(words: lock)
      """)
    var bindings = AppBindings(app: app)
    for binding in try connection.all(statement, { row throws(StoreError) in try LaneBinding(row) }) {
      bindings.lanes[binding.identity.transport] = binding
    }
    return bindings
  }

  /// The app's bindings, with those that lanes of this process lacked. Throws `otherBinding` for a
  /// lane that is bound to another identity.
  func bind(
    _ lanes: [LaneIdentity], to app: AppName, _ connection: Driver.Connection
  ) throws(StoreError) -> AppBindings {
    let known = try bindings(of: app, connection)
    try known.check(lanes)
    let missing = known.unbound(lanes)
    guard !missing.isEmpty else { return known }
    let now = try now(connection)
    for identity in missing {
      // A row that is missing cannot be locked: of two that bind at once the second waits here, and
      // keeps the first's row.
      var upsert = SQLBuilder(dialect)
      dialect.appendUpsert(
        into: "zonai_apps",
        [
          ("app", .text(app.rawValue)), ("transport", .text(identity.transport.rawValue)),
          ("identity", .text(identity.stored)), ("version", .integer(0)), ("bound_at", .integer(now)),
        ],
        key: ["app", "transport"], whenThere: [("version", .add)], to: &upsert)
      try connection.run(upsert.statement())
    }
    try connection.run(sql("UPDATE zonai_apps SET version = 1 WHERE app = \(app.rawValue) AND version = 0"))
    let bound = try bindings(of: app, connection)
    try bound.check(lanes)
    return bound
  }

  /// The store's time and the app's bindings, in one look; throws `rebound` when they are not the
  /// claim's any more, as `checkedNow` throws for another version of the tables.
  func checkedLook(
    _ request: ClaimRequest, _ connection: Driver.Connection
  ) throws(StoreError) -> (now: Int64, bindings: AppBindings) {
    guard hasSeenTables.value else {
      try checkVersion(connection)
      return try checkedLook(request, connection)
    }
    let statement = sql(
      """
      SELECT a.transport, a.identity, a.version, a.bound_at, \(words: dialect.now), m.version FROM zonai_meta m
      LEFT JOIN zonai_apps a ON a.app = \(request.app.rawValue) WHERE m.id = 1
      """)
    var (now, version): (Int64, Int?) = (0, nil)
    var bindings = AppBindings(app: request.app)
    try connection.run(statement) { row throws(StoreError) in
      (now, version) = (row.integer(4), Int(row.integer(5)))
      guard !row.isNull(0) else { return }
      let binding = try LaneBinding(row)
      bindings.lanes[binding.identity.transport] = binding
    }
    try check(version: version)
    try bindings.check(request)
    return (clock?() ?? now, bindings)
  }

  /// Fails the app's open jobs that need a transport whose identity changed. One that had no
  /// identities yet gets the old ones: it was enqueued for these.
  private func failOpenJobs(
    of before: AppBindings, _ changes: [Rebinding.Change], _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) -> Int {
    guard !changes.isEmpty else { return 0 }
    let app = before.app
    let needed = sql(
      """
      SELECT DISTINCT transports FROM zonai_jobs WHERE state IN ('pending', 'running') AND app = \(app.rawValue)
      """)
    var failed = 0
    for text in try connection.all(needed, { row throws(StoreError) in row.optionalText(0) }) {
      // A request that no worker has looked at may need any of them.
      let transports = text.map(JobRecord.transports) ?? Set(before.lanes.keys)
      guard let change = changes.first(where: { transports.contains($0.from.transport) }) else { continue }
      let identities = before.identities(needing: transports)
      let failure = AppBindings.failure(of: app, from: change.from, to: change.to)
      var update = SQLBuilder(dialect)
      update.write(
        """
        UPDATE zonai_jobs SET state = \(JobState.failed.rawValue), finished_at = \(now),
        error_code = \(failure.code.rawValue), error_detail = \(failure.detail),
        identities = COALESCE(identities, \(identities.stored))
        WHERE state IN ('pending', 'running') AND app = \(app.rawValue) AND
        """)
      if let text { update.write(" transports = \(text)") } else { update.append(" transports IS NULL") }
      failed += try connection.run(update.statement())
    }
    return failed
  }
}

/// How an app stands in the column `app` of a job.
enum StoredApp {
  /// The app of a job of which only the request is known: SQL of other programs wrote it, and no
  /// trigger or worker has read its document yet.
  static let unread = "?"
}

extension LaneBinding {
  /// Columns `transport, identity, version, bound_at`.
  fileprivate init(_ row: some SQLRow) throws(StoreError) {
    self.init(
      identity: try LaneIdentity(stored: row.text(1)), version: row.integer(2), boundAt: row.integer(3))
  }
}
