import ZonaiCore

extension MemoryState {
  mutating func settle(_ settlement: Settlement) throws(StoreError) -> SettleResult {
    try requireVersion()
    switch settlement {
    case .answers(let answers): return try settle(answers)
    case .prunes(let prunes): return try settle(prunes)
    }
  }

  private mutating func settle(_ answers: BatchAnswers) throws(StoreError) -> SettleResult {
    if let line = answers.tally.first(where: { $0.outcome.isRejection }) {
      throw StoreError(.invalidRequest, "\(line.outcome) is counted with the prunes, not with the answers")
    }
    guard let (job, leased) = owned(answers.lease), !leased.isSettling else { return .leaseLost }
    let circumstantial = answers.circumstantialByGroup
    var counts: [Group: GroupCounts] = [:]
    for group in circumstantial.keys { counts[group] = self.counts(of: group, in: answers.lease.job) }
    let answers = answers.weighed(against: counts, keptGroups: jobs[job].keptGroups, now: now)
    var batch = leased
    for line in answers.tally { jobs[job].count(line) }
    remember(answers, circumstantial: circumstantial)
    jobs[job].counts.repeatedAfterLostAnswer += answers.repeatedAfterLostAnswer
    jobs[job].isFirstAnswered = true
    batch.isAnswered = true
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
    if let failure = answers.failure { jobs[job].fail(failure, at: now) }
    close(batch, of: job, if: batch.rejections.isEmpty)
    return .committed(Committed(job: jobs[job].account(withTally: false), recorded: recorded))
  }

  mutating func takeChecks(_ request: CheckBudgetRequest) throws(StoreError) -> Int {
    try requireVersion()
    guard let (job, _) = owned(request.lease) else { return 0 }
    return jobs[job].checks.take(request.wanted, now: now)
  }

  private mutating func settle(_ prunes: BatchPrunes) throws(StoreError) -> SettleResult {
    guard let (job, leased) = owned(prunes.lease) else { return .leaseLost }
    var batch = leased
    var committed = Committed(job: jobs[job].account(withTally: false))
    for (rejection, decision) in prunes.decisions {
      guard let recorded = batch.rejections.firstIndex(where: { $0.eventID == rejection.eventID }) else {
        throw StoreError(.invalidRequest, "only a rejection that was recorded with its batch's answers can be pruned")
      }
      var detail = ""
      let outcome = carryOut(decision, on: batch.rejections[recorded], of: job, &committed.refusals, &detail)
      committed.outcomes.append(outcome)
      jobs[job].count(
        TallyLine(
          group: rejection.group, outcome: outcome, evidence: rejection.evidence, reason: rejection.reason,
          detail: detail, count: 1))
      batch.rejections.remove(at: recorded)
    }
    jobs[job].counts.hooksFailed += prunes.hooksFailed
    close(batch, of: job, if: true)
    committed.job = jobs[job].account(withTally: false)
    return .committed(committed)
  }

  /// Ends the batch, or gives its lease back when somebody is still owed; without `isThrough` its owner keeps it.
  private mutating func close(_ batch: MemoryBatch, of job: Int, if isThrough: Bool) {
    var batch = batch
    if isThrough { batch.giveBack() }
    let isDone = isThrough && batch.owed.isEmpty && batch.rejections.isEmpty
    jobs[job].batches[batch.number] = isDone ? nil : batch
    jobs[job].completeIfDone(at: now)
  }

  private mutating func carryOut(
    _ decision: BatchPrunes.Decision, on rejection: Rejection, of job: Int, _ refusals: inout [String],
    _ detail: inout String
  ) -> TallyLine.Outcome {
    let audience = jobs[job].audience
    let policy = jobs[job].definition.policy
    switch decision {
    case .keep: return .kept
    case .spare:
      detail = cause(of: rejection, in: audience)?.sentence ?? ""
      return .spared
    case .followPolicy: break
    }
    if policy == .none { return .kept }
    guard let row = row(of: rejection, in: audience), !isLocked(row, of: audience.table) else {
      detail = cause(of: rejection, in: audience)?.sentence ?? ""
      return .spared
    }
    if let refused = refusal(of: row, in: audience.table, policy) {
      let words = Rejection.words(refused, without: [rejection])
      refusals.append(words)
      detail = SpareCause.refused(words)
      return .spared
    }
    if policy == .deleteRow {
      tables[audience.table]?.remove(at: row)
    } else {
      tables[audience.table]?.set(audience.token, to: .null, at: row)
    }
    return .pruned
  }

  /// What had changed in a row that is spared; nil where it is only held, and where the audience
  /// names no last-seen column.
  private mutating func cause(of rejection: Rejection, in audience: Audience) -> SpareCause? {
    guard audience.lastSeen != nil, row(of: rejection, in: audience) == nil else { return nil }
    var withoutLastSeen = rejection
    withoutLastSeen.lastSeen = nil
    return row(of: withoutLastSeen, in: audience) == nil ? .tokenChanged : .lastSeenChanged
  }

  private func isLocked(_ row: Int, of table: TableName) -> Bool {
    locks.contains { $0.table == table && holds(table, row, $0.column, $0.value) }
  }

  private func refusal(of row: Int, in table: TableName, _ policy: Policy) -> String? {
    if let refusal = refusals.first(where: { $0.table == table && holds(table, row, $0.column, $0.value) }) {
      return refusal.words
    }
    if let column = quotations[table] { return "guarded: \(tables[table]?.value(column, of: row).spelled ?? "")" }
    guard policy == .deleteRow, let key = tables[table]?.sketch.primaryKey.first,
      let value = tables[table]?.value(key, of: row)
    else { return nil }
    for other in tables.values {
      for reference in other.sketch.references
      where reference.table == table && !rows(of: other.sketch.name, where: reference.column, is: value).isEmpty {
        return "the row is still referenced from \(other.sketch.name).\(reference.column)"
      }
    }
    return nil
  }

  func holds(_ table: TableName, _ row: Int, _ column: String, _ value: Value) -> Bool {
    tables[table].map { ValueOrder.same($0.value(column, of: row), value) } ?? false
  }

  /// Keeps the record of the lanes, which outlives the job.
  private mutating func remember(_ answers: BatchAnswers, circumstantial: [Group: Int]) {
    for line in answers.tally where line.outcome == .delivered && line.count > 0 {
      lanes[LaneKey(line.group)] = LaneRecord(lastDeliveredAt: now)
    }
    for (group, count) in circumstantial {
      lanes[LaneKey(group), default: LaneRecord()].circumstantialSince += count
    }
  }
}
