import ZonaiCore

extension SQLStore {
  public func settle(_ settlement: Settlement) async throws(StoreError) -> SettleResult {
    do throws(StoreError) {
      return try await commit(settlement)
    } catch {
      // Its owner can do no more for a batch that cannot be read, which the claim that finds it fails, nor for one whose job
      // was removed meanwhile.
      guard error.isUnreadable || error.code == .notFound else { throw error }
      return .leaseLost
    }
  }

  private func commit(_ settlement: Settlement) async throws(StoreError) -> SettleResult {
    switch settlement {
    case .answers(let answers):
      if let line = answers.tally.first(where: { $0.outcome.isRejection }) {
        throw StoreError(
          .invalidRequest, "\(line.outcome.rawValue) is counted with the prunes, not with the answers")
      }
      return try await write { connection throws(StoreError) in try settle(answers, connection) }
    case .prunes(let prunes): return try await settle(prunes)
    }
  }

  private func settle(
    _ answers: BatchAnswers, _ connection: Driver.Connection
  ) throws(StoreError) -> SettleResult {
    // A second time on the same claim is a repeat of a commit whose answer was lost: nothing counts twice.
    guard var batch = try owned(answers.lease, connection, lock: dialect.lockClause), !batch.isSettling else {
      return .leaseLost
    }
    let now = try checkedNow(connection)
    let circumstantial = answers.circumstantialByGroup
    let answers = try weighed(answers, now, connection)
    batch.isSettling = true
    batch.unsettled = 0
    batch.owed = answers.owed.map { owed in
      var owed = owed
      owed.notBefore += now
      return owed
    }
    // What an earlier claim recorded and this one has not dealt with stays.
    let known = Set(batch.rejections.map(\.eventID))
    let recorded = answers.rejections.filter { !known.contains($0.eventID) }
    batch.rejections += recorded
    try close(batch, of: answers.lease.job, isThrough: batch.rejections.isEmpty, now, connection)
    // From here on rows are locked that every batch of the job wants, and of the lane: they come last, and in one order.
    try add(answers.tally, recorded: recorded, 1, to: answers.lease.job, connection)
    try remember(answers, circumstantial: circumstantial, now, connection)
    guard var record = try record(answers.lease.job, connection, lock: dialect.lockClause) else {
      throw missing(answers.lease.job)
    }
    var added = JobCounts()
    for line in answers.tally { added.add(line) }
    added.repeatedAfterLostAnswer = answers.repeatedAfterLostAnswer
    if batch.isFirst {
      record.firstBatch = .answered
      // Until now nobody else could claim from the job.
      try connection.announceWork()
    }
    try add(added, to: &record, connection)
    if let failure = answers.failure { try fail(&record, failure, now, connection) }
    let job = try completeOrShow(record, now, connection)
    return .committed(Committed(job: job, recorded: recorded))
  }

  /// Weighs circumstantial rejections by the job's counts.
  ///
  /// Settlements that weigh take turns: each locks one line of the job's account that no other
  /// statement touches. Settlements that do not weigh add only deliveries and outcomes to what is
  /// decided by. The job's row stays free, since every batch needs it.
  private func weighed(
    _ answers: BatchAnswers, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) -> BatchAnswers {
    guard !answers.circumstantial.isEmpty else { return answers }
    let id = answers.lease.job
    var turn = SQLBuilder(dialect)
    dialect.appendUpsert(
      into: "zonai_tally",
      [
        ("job", .text(id.rawValue)), ("line", "weighing"), ("transport", ""), ("fingerprint", ""), ("platform", ""),
        ("outcome", "weighing"), ("evidence", ""), ("reason", ""), ("detail", ""), ("count", 0),
      ],
      key: ["job", "line"], whenThere: [("count", .add)], to: &turn)
    try connection.run(turn.statement())
    guard let record = try record(id, connection) else { throw missing(id) }
    let groups = Set(answers.circumstantialByGroup.keys).union(answers.deliveredGroups)
    // The record of a lane decides only in a job of one recipient, whose account no other
    // settlement changes.
    let counts = try counts(
      id, Array(groups), connection, lock: answers.isSole ? dialect.lockClause : "")
    return answers.weighed(against: counts, keptGroups: record.keptGroups, now: now)
  }

  // MARK: The batch

  /// Ends the batch, or gives its lease back when somebody is still owed; its owner keeps it while it is not through.
  func close(
    _ batch: BatchRecord, of job: JobID, isThrough: Bool, _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) {
    if isThrough, batch.rejections.isEmpty, batch.owed?.isEmpty == true {
      try connection.run(
        sql("DELETE FROM zonai_batches WHERE job = \(job.rawValue) AND batch = \(batch.batch)"))
      return
    }
    let owed = batch.owed ?? []
    let owedDueAt = owed.map(\.notBefore).min()
    let suspects = Set(owed.compactMap(\.suspectOf))
    // A range that nobody has answered yet, and rejections without their prune, wait for nothing.
    let dueAt = batch.rejections.isEmpty ? owedDueAt ?? now : now
    let worker = isThrough ? nil : batch.worker
    try connection.run(
      sql(
        """
        UPDATE zonai_batches SET owed = \(batch.owed?.stored), owed_count = \(owed.count),
        owed_due_at = \(owedDueAt), resting_count = \(owed.count { $0.notBefore > now }),
        suspects = \(suspects.isEmpty ? nil : Array(suspects).stored),
        rejections = \(batch.rejections.isEmpty ? nil : batch.rejections.stored),
        unsettled = \(isThrough ? 0 : batch.unsettled), is_settling = \(isThrough ? false : batch.isSettling),
        worker = \(worker), due_at = \(worker == nil ? dueAt : batch.dueAt)
        WHERE job = \(job.rawValue) AND batch = \(batch.batch)
        """))
    if worker == nil, dueAt <= now { try connection.announceWork() }
  }

  // MARK: Counting

  /// Adds to the job's counts, in its row and in the record at hand.
  func add(
    _ added: JobCounts, to record: inout JobRecord, _ connection: Driver.Connection
  ) throws(StoreError) {
    record.counts += added
    try connection.run(
      sql(
        """
        UPDATE zonai_jobs SET delivered = delivered + \(added.delivered),
        permanently_rejected = permanently_rejected + \(added.permanentlyRejected),
        transiently_failed = transiently_failed + \(added.transientlyFailed), expired = expired + \(added.expired),
        pruned = pruned + \(added.pruned), spared = spared + \(added.spared), kept = kept + \(added.kept),
        repeated_after_lost_answer = repeated_after_lost_answer + \(added.repeatedAfterLostAnswer),
        hooks_failed = hooks_failed + \(added.hooksFailed), first_batch = \(record.firstBatch.rawValue)
        WHERE id = \(record.id.rawValue)
        """))
  }

  /// Adds lines to the job's account, and rejections whose prune is to come (or has come, with -1). Always in the same
  /// order: two batches of one job must not wait for each other crosswise.
  func add(
    _ lines: [TallyLine], recorded: [Rejection], _ sign: Int, to job: JobID, _ connection: Driver.Connection
  ) throws(StoreError) {
    var stored: [StoredLine: Int] = [:]
    for line in lines where line.count != 0 { stored[StoredLine(line), default: 0] += line.count }
    stored = try bounded(stored, job, connection)
    for rejection in recorded { stored[StoredLine(recorded: rejection), default: 0] += sign }
    for (line, count) in stored.sorted(by: { $0.key < $1.key }) {
      var upsert = SQLBuilder(dialect)
      dialect.appendUpsert(
        into: "zonai_tally",
        [
          ("job", .text(job.rawValue)), ("line", .text(line.digest)), ("transport", .text(line.transport)),
          ("fingerprint", .text(line.fingerprint)), ("platform", .text(line.platform)),
          ("outcome", .text(line.outcome)), ("evidence", .text(line.evidence)), ("reason", .text(line.reason)),
          ("detail", .text(line.detail)), ("count", .integer(Int64(count))),
        ],
        key: ["job", "line"], whenThere: [("count", .add)], to: &upsert)
      try connection.run(upsert.statement())
    }
  }

  /// The lines, of which those that would be too many are without their details.
  private func bounded(
    _ lines: [StoredLine: Int], _ job: JobID, _ connection: Driver.Connection
  ) throws(StoreError) -> [StoredLine: Int] {
    guard lines.keys.contains(where: { !$0.detail.isEmpty }) else { return lines }
    let statement = sql("SELECT line FROM zonai_tally WHERE job = \(job.rawValue) AND detail <> ''")
    var known = Set(try connection.all(statement) { row throws(StoreError) in row.text(0) })
    var bounded: [StoredLine: Int] = [:]
    for (line, count) in lines.sorted(by: { $0.key < $1.key }) {
      let isNew = !line.detail.isEmpty && !known.contains(line.digest)
      if isNew, known.count < TallyLine.mostDetails { known.insert(line.digest) }
      let kept = isNew && !known.contains(line.digest) ? line.withoutDetail : line
      bounded[kept, default: 0] += count
    }
    return bounded
  }

  /// Keeps the record of the lanes, which outlives the job.
  private func remember(
    _ answers: BatchAnswers, circumstantial: [Group: Int], _ now: Int64, _ connection: Driver.Connection
  ) throws(StoreError) {
    let delivered = answers.deliveredGroups
    let groups = delivered.union(circumstantial.keys).filter { !$0.fingerprint.isEmpty }
    for group in groups.sorted(by: { $0.order < $1.order }) {
      let hasDelivered = delivered.contains(group)
      let circumstantial = circumstantial[group] ?? 0
      var upsert = SQLBuilder(dialect)
      var columns: [(StaticString, Value)] = [
        ("transport", .text(StoredWord.of(group.transport.rawValue))),
        ("fingerprint", .text(StoredWord.of(group.fingerprint))),
        ("platform", .text(StoredWord.of(group.platform.name))),
        ("circumstantial_since", .integer(Int64(circumstantial))),
      ]
      // A delivery ends the count of circumstantial answers, which begins anew with this batch's.
      var changes: [(StaticString, UpsertChange)] = [("circumstantial_since", hasDelivered ? .replace : .add)]
      if hasDelivered {
        columns.append(("last_delivered_at", .integer(now)))
        changes.append(("last_delivered_at", .replace))
      }
      dialect.appendUpsert(
        into: "zonai_lanes", columns, key: ["transport", "fingerprint", "platform"], whenThere: changes, to: &upsert)
      try connection.run(upsert.statement())
    }
  }
}

extension BatchAnswers {
  fileprivate var deliveredGroups: Set<Group> {
    Set(tally.lazy.filter { $0.outcome == .delivered && $0.count > 0 }.map(\.group))
  }
}

extension JobCounts {
  mutating func add(_ line: TallyLine) {
    switch line.outcome {
    case .delivered: delivered += line.count
    case .transientlyFailed: transientlyFailed += line.count
    case .expired: expired += line.count
    case .pruned: pruned += line.count
    case .spared: spared += line.count
    case .kept: kept += line.count
    }
    if line.outcome.isRejection { permanentlyRejected += line.count }
  }
}
