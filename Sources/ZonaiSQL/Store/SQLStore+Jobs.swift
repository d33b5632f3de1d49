import ZonaiCore

extension SQLStore {
  public func jobs(_ query: JobQuery) async throws(StoreError) -> JobListing {
    try await read { connection throws(StoreError) in
      try checkVersion(connection)
      switch query {
      case .list(let limit, let states, let app): return .jobs(try list(limit, states, app, connection))
      case .one(let id): return .job(try account(id, connection))
      case .count(let request): return .audience(try count(request, connection))
      case .workers: return .workers(try workers(connection))
      }
    }
  }

  private func list(
    _ limit: Int, _ states: Set<JobState>?, _ app: AppName?, _ connection: Driver.Connection
  ) throws(StoreError) -> [Job] {
    var builder = SQLBuilder(dialect)
    // A job that is being removed has a state that nobody asks for.
    builder.write("SELECT \(words: JobRecord.columns) FROM zonai_jobs WHERE state <> \(JobRecord.removed)")
    if let states {
      guard !states.isEmpty else { return [] }
      builder.append(" AND state IN (")
      builder.list(states.map(\.rawValue).sorted()) { $1.bind(.text($0)) }
      builder.append(")")
    }
    if let app { builder.write(" AND app = \(app.rawValue)") }
    builder.write(" ORDER BY created_at DESC, id DESC LIMIT \(max(0, limit))")
    let records = try connection.all(builder.statement()) { row throws(StoreError) in JobRecord(row) }
    var jobs: [Job] = []
    for record in records { jobs.append(try account(record, connection)) }
    return jobs
  }

  /// The job with its tally; nil when there is none.
  func account(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> Job? {
    guard let record = try anyRecord(id, connection) else { return nil }
    return try account(record, connection)
  }

  private func account(_ record: JobRecord, _ connection: Driver.Connection) throws(StoreError) -> Job {
    try shown(record, tally: try tally(record.id, connection), connection)
  }

  func tally(_ id: JobID, _ connection: Driver.Connection) throws(StoreError) -> [TallyLine] {
    let statement = sql(
      """
      SELECT \(words: StoredLine.columns), count FROM zonai_tally WHERE job = \(id.rawValue)
      ORDER BY \(words: StoredLine.columns)
      """)
    return try connection.all(statement) { row throws(StoreError) in
      StoredLine(row).line(Int(row.integer(7)))
    }.compactMap { $0 }
  }

  // MARK: Audiences

  private func count(
    _ request: EnqueueRequest, _ connection: Driver.Connection
  ) throws(StoreError) -> AudienceCount {
    try bindings(of: request.app, connection).check(request.lanes)
    let plan = try resolve(request, connection)
    var recipients: [Platform: Int] = [:]
    var builder = SQLBuilder(dialect)
    builder.append("SELECT COUNT(*), ")
    if plan.target.token.capacity == nil {
      builder.append("0")
    } else {
      builder.append("SUM(CASE WHEN ")
      dialect.appendIsCutOff(plan.target.token, to: &builder)
      builder.append(" THEN 1 ELSE 0 END)")
    }
    if let platform = plan.platform {
      builder.append(", ")
      dialect.appendExact(platform, to: &builder)
    }
    builder.append(" FROM ")
    builder.identifier(plan.target.table)
    builder.append(" WHERE ")
    // A capacity is bound before it, so a condition that was rendered earlier does not fit here.
    if let predicate = plan.definition.audience.predicate {
      builder.append("(")
      try builder.predicate(predicate, in: plan.table)
      builder.append(") AND ")
    }
    dialect.appendHasToken(plan.target.token, to: &builder)
    if let platform = plan.platform {
      builder.append(" GROUP BY ")
      dialect.appendExact(platform, to: &builder)
    }
    var fixed = Platform.unknown
    if case .fixed(let platform) = plan.definition.audience.platform { fixed = platform }
    var statement = builder.statement()
    statement.readsWholeTable = true
    var cutOff = 0
    try connection.run(statement) { row throws(StoreError) in
      let count = Int(row.integer(0))
      cutOff += Int(row.integer(1))
      let platform = plan.platform == nil ? fixed : Platform(row.text(2))
      // Two spellings of one platform are one.
      if count > 0 { recipients[platform, default: 0] += count }
    }
    let tokens = JobNote.tokensCutOff(cutOff, of: plan.target.token, in: plan.target.table)
    return AudienceCount(
      audience: plan.definition.audience, recipients: recipients,
      notes: try notes(on: plan, connection) + [tokens].compactMap { $0 })
  }
}
