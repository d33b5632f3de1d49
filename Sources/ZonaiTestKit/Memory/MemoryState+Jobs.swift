import ZonaiCore

extension MemoryState {
  mutating func enqueue(_ request: EnqueueRequest) throws(StoreError) -> Enqueued {
    try requireVersion()
    try bindings(of: request.app).check(request.lanes)
    // Byte by byte: Swift's own `==` takes two spellings of "é" for one.
    let known = request.idempotencyKey.flatMap { key in
      jobs.first { $0.app == request.app && $0.idempotencyKey?.utf8.elementsEqual(key.utf8) == true }
    }
    if let known, AudienceRules.isRepeat(request.definition, of: known.definition) {
      return Enqueued(job: known.account(withTally: true), wasThere: true)
    }
    let definition = try resolve(request)
    if let known {
      guard known.definition == definition else {
        throw StoreError(
          .idempotencyClash,
          "the idempotency key belongs to job \(known.id), which says something else: use another key for another push")
      }
      return Enqueued(job: known.account(withTally: true), wasThere: true)
    }
    jobsMade += 1
    let digits = String(jobsMade)
    let id = JobID("job-" + String(repeating: "0", count: max(0, 9 - digits.count)) + digits)
    var job = MemoryJob(
      id: id, app: request.app, definition: definition, idempotencyKey: request.idempotencyKey, createdAt: now)
    let needed = definition.routes.transports
    job.identities =
      bind(request.lanes, to: request.app).identities(needing: needed)
    jobs.append(job)
    return Enqueued(job: job.account(withTally: true), wasThere: false)
  }

  mutating func list(_ query: JobQuery) throws(StoreError) -> JobListing {
    try requireVersion()
    switch query {
    case .list(let limit, let states, let app):
      let wanted = jobs.reversed().filter { (states?.contains($0.state) ?? true) && (app ?? $0.app) == $0.app }
      return .jobs(wanted.prefix(limit).map { $0.account(withTally: true) })
    case .one(let id): return .job(index(of: id).map { jobs[$0].account(withTally: true) })
    case .count(let request): return .audience(try count(request))
    case .workers: return .workers(workerAccounts)
    }
  }

  private mutating func count(_ request: EnqueueRequest) throws(StoreError) -> AudienceCount {
    try bindings(of: request.app).check(request.lanes)
    let audience = try resolve(request).audience
    var recipients: [Platform: Int] = [:]
    let rows = page(of: audience, after: nil, upTo: nil, limit: .max)
    if let table = tables[audience.table] {
      for row in rows { recipients[platform(of: row, in: table, audience), default: 0] += 1 }
    }
    let column = self.recipients(of: audience).tokenColumn
    let cutOff = rows.count { row in
      guard let table = tables[audience.table], let token = table.value(audience.token, of: row).tokenBytes else {
        return false
      }
      return column?.cutsOff(token[...]) == true
    }
    let tokens = column.flatMap { JobNote.tokensCutOff(cutOff, of: $0, in: audience.table) }
    return AudienceCount(
      audience: audience, recipients: recipients, notes: notes(on: audience) + [tokens].compactMap { $0 })
  }

  /// What there is to note about the table, from the rows with the greatest keys.
  mutating func notes(on audience: Audience) -> [JobNote] {
    guard let lastSeen = audience.lastSeen, let order = tables[audience.table]?.order(by: audience.key),
      let table = tables[audience.table]
    else { return [] }
    let values = order.suffix(LastSeenReview.rows).map { table.value(lastSeen, of: $0) }
    return LastSeenReview.notes(values, of: lastSeen, in: audience.table, now: now)
  }

  mutating func change(_ change: JobChange) throws(StoreError) -> ChangeResult {
    try requireVersion()
    switch change {
    case .cancel(let id):
      let job = try existing(id)
      guard let cancelled = jobs[job].state.after(.cancelled) else { throw wrongState(job, "cancelled") }
      jobs[job].state = cancelled
      jobs[job].finishedAt = now
      return .job(jobs[job].account(withTally: true))
    case .resume(let id, let suspects, let rebound):
      let job = try existing(id)
      guard let resumed = jobs[job].state.after(.resumed) else { throw wrongState(job, "resumed") }
      let bindings = bindings(of: jobs[job].app)
      if rebound {
        jobs[job].identities = bindings.identities(needing: jobs[job].definition.routes.transports)
      } else {
        try bindings.checkResume(of: id, with: jobs[job].identities)
      }
      resume(job, as: resumed, suspects)
      return .job(jobs[job].account(withTally: true))
    case .fail(let lease, let failure):
      let job = try existing(lease.job)
      if let (job, batch) = owned(lease) {
        jobs[job].batches[batch.number]?.giveBack()
        jobs[job].fail(failure, at: now)
      }
      return .job(jobs[job].account(withTally: true))
    case .retain(let milliseconds, let every): return .removed(retain(milliseconds, every: every))
    }
  }

  private mutating func resume(_ job: Int, as state: JobState, _ suspects: SuspectMode) {
    jobs[job].state = state
    jobs[job].error = nil
    jobs[job].finishedAt = nil
    jobs[job].startedAt = jobs[job].startedAt ?? now
    jobs[job].suspects = suspects
    for number in jobs[job].batches.keys {
      jobs[job].batches[number]?.takeovers = 0
      guard let owed = jobs[job].batches[number]?.owed else { continue }
      if suspects == .keep { jobs[job].keptGroups.formUnion(owed.compactMap(\.suspectOf)) }
      // An outage that failed the job has its day again: else the resumed job would fail at its first answer.
      jobs[job].batches[number]?.owed = owed.map { owed in
        var owed = owed
        owed.outageRounds = 0
        owed.outageSince = nil
        return owed
      }
    }
  }

  private func existing(_ id: JobID) throws(StoreError) -> Int {
    guard let job = index(of: id) else { throw StoreError(.notFound, "there is no job \(id)") }
    return job
  }

  private func wrongState(_ job: Int, _ verb: String) -> StoreError {
    StoreError(.wrongState, "job \(jobs[job].id) is \(jobs[job].state.rawValue) and cannot be \(verb)")
  }

  mutating func exchange(_ offer: SecretOffer) throws(StoreError) -> SecretAnswer {
    try requireVersion()
    if let stored = secrets[offer.name], stored.madeAt >= offer.notMadeBefore, stored.endsAt > now {
      return SecretAnswer(secret: stored, now: now)
    }
    if let secret = offer.secret {
      secrets[offer.name] = secret
      secrets = secrets.filter { $0.value.endsAt > now }
    }
    return SecretAnswer(secret: offer.secret, now: now)
  }
}
