import ZonaiCore

extension MemoryState {
  mutating func claim(_ request: ClaimRequest) throws(StoreError) -> ClaimResult {
    try requireVersion()
    try bindings(of: request.app).check(request)
    let bindings = bind(request.lanes, to: request.app)
    see(request.worker, of: request.app, lease: request.leaseMilliseconds)
    var idle = Idle()
    let open = jobs.indices.filter {
      jobs[$0].state.isOpen && jobs[$0].app == request.app && (request.only ?? jobs[$0].id) == jobs[$0].id
    }
    for job in open.sorted(by: { jobs[$0].lastClaimed < jobs[$1].lastClaimed }) {
      guard jobs[job].definition.routes.transports.isSubset(of: request.transports) else {
        idle.unservable.append(jobs[job].id)
        continue
      }
      do throws(JobFailure) {
        jobs[job].identities = try bindings.identities(
          of: jobs[job].identities, needing: jobs[job].definition.routes.transports)
      } catch {
        jobs[job].fail(error, at: now)
        return .ended(jobs[job].account(withTally: false))
      }
      if let result = claim(from: job, request) { return result }
      note(job, in: &idle, for: request.worker)
    }
    return .nothing(idle)
  }

  /// A batch of this job, or the job's end; nil when there is nothing to do just now.
  private mutating func claim(from job: Int, _ request: ClaimRequest) -> ClaimResult? {
    let problem = jobs[job].isGarbled ? "the job cannot be read" : whatIsGone(of: jobs[job].audience)
    if let problem {
      jobs[job].fail(JobFailure(.store, problem), at: now)
      return .ended(jobs[job].account(withTally: false))
    }
    for number in jobs[job].batches.keys.sorted() {
      // Until the first batch is answered there is no other, except the rest of it after it was cut.
      guard let batch = jobs[job].batches[number] else { continue }
      if !jobs[job].isFirstAnswered, number != jobs[job].batches.keys.min() { break }
      guard batch.isDue(at: now) else { continue }
      if let result = reclaim(number, of: job, request) { return result }
    }
    if jobs[job].isFirstAnswered || jobs[job].batches.isEmpty, let page = claimPage(of: job, request) { return page }
    jobs[job].completeIfDone(at: now)
    return jobs[job].state.isOpen ? nil : .ended(jobs[job].account(withTally: false))
  }

  /// A batch that was begun: given back, left by a dead worker, or the rest of one that was cut.
  private mutating func reclaim(_ number: Int64, of job: Int, _ request: ClaimRequest) -> ClaimResult? {
    guard var batch = jobs[job].batches[number] else { return nil }
    let isTakeover = batch.owner != nil
    if isTakeover {
      batch.takeovers += 1
      jobs[job].counts.repeatedByTakeover += batch.unsettled
      batch.giveBack()
      jobs[job].batches[number] = batch
      if batch.takeovers >= 3 {
        let sentence =
          "batch \(number) changed hands three times without being settled: look for what ends its workers, then resume"
        jobs[job].fail(JobFailure(.takeovers, sentence), at: now)
        return .ended(jobs[job].account(withTally: false))
      }
    }
    var recipients = recipients(of: jobs[job].audience)
    var known: [Int: OwedRecipient] = [:]
    var resting: [OwedRecipient] = []
    if batch.isAnswered {
      for owed in batch.owed {
        if owed.notBefore > now {
          resting.append(owed)
        } else if let row = recipientRow(owed.key, of: jobs[job].audience) {
          known[recipients.count] = owed
          append(row, to: &recipients, jobs[job].audience)
        }
      }
    } else {
      var rows = page(of: jobs[job].audience, after: batch.from, upTo: batch.to, limit: request.batchSize + 1)
      if rows.count > request.batchSize {
        rows.removeLast()
        cut(&batch, of: job, after: rows)
      }
      for row in rows { append(row, to: &recipients, jobs[job].audience) }
    }
    if recipients.isEmpty, resting.isEmpty, batch.rejections.isEmpty {
      // Everybody left the table meanwhile.
      jobs[job].batches[number] = nil
      jobs[job].isFirstAnswered = true
      return nil
    }
    return lease(batch, of: job, to: request, recipients, known, resting, isTakeover: isTakeover)
  }

  /// Keeps the first rows, and leaves the others of a range that grew to a batch of their own.
  private mutating func cut(_ batch: inout MemoryBatch, of job: Int, after rows: [Int]) {
    guard let last = rows.last, let table = tables[jobs[job].audience.table] else { return }
    let middle = table.key(jobs[job].audience.key, of: last)
    let rest = jobs[job].addBatch(after: middle, upTo: batch.to)
    jobs[job].batches[rest.number] = rest
    batch.to = middle
  }

  private mutating func claimPage(of job: Int, _ request: ClaimRequest) -> ClaimResult? {
    guard !jobs[job].isAtEnd else { return nil }
    let isFirst = !jobs[job].isFirstAnswered
    let audience = jobs[job].audience
    if jobs[job].lastKey == nil { jobs[job].lastKey = lastKey(of: audience) }
    if let started = jobs[job].state.after(.claimed) {
      jobs[job].state = started
      jobs[job].startedAt = now
      jobs[job].notes = notes(on: audience)
    }
    guard let lastKey = jobs[job].lastKey else {
      jobs[job].isAtEnd = true
      return nil
    }
    let limit = isFirst ? min(request.firstBatchSize, request.batchSize) : request.batchSize
    let rows = page(of: audience, after: jobs[job].frontier, upTo: lastKey, limit: limit)
    guard let last = rows.last, let table = tables[audience.table] else {
      jobs[job].isAtEnd = true
      return nil
    }
    let reached = table.key(audience.key, of: last)
    let batch = jobs[job].addBatch(after: jobs[job].frontier, upTo: reached)
    jobs[job].frontier = reached
    jobs[job].isAtEnd = rows.count < limit || ValueOrder.compare(reached, lastKey) >= 0
    jobs[job].isSole = isFirst && batch.number == 1 && rows.count == 1 && jobs[job].isAtEnd
    var recipients = recipients(of: audience)
    for row in rows { append(row, to: &recipients, audience) }
    return lease(batch, of: job, to: request, recipients, [:], [], isTakeover: false)
  }

  private mutating func lease(
    _ batch: MemoryBatch, of job: Int, to request: ClaimRequest, _ recipients: Recipients,
    _ owed: [Int: OwedRecipient], _ resting: [OwedRecipient], isTakeover: Bool
  ) -> ClaimResult {
    var batch = batch
    batch.fence += 1
    batch.owner = request.worker
    batch.leaseUntil = now + request.leaseMilliseconds
    batch.isSettling = false
    batch.unsettled = recipients.count
    jobs[job].batches[batch.number] = batch
    claims += 1
    jobs[job].lastClaimed = claims
    return .batch(
      ClaimedBatch(
        lease: BatchLease(job: jobs[job].id, batch: batch.number, fence: batch.fence),
        job: jobs[job].account(withTally: false), recipients: recipients, owed: owed, resting: resting,
        rejections: batch.rejections, isFirst: !jobs[job].isFirstAnswered,
        isSole: jobs[job].isSole && recipients.count + resting.count + batch.rejections.count == 1,
        isTakeover: isTakeover, keptGroups: jobs[job].keptGroups, now: now,
        leaseMilliseconds: request.leaseMilliseconds))
  }

  /// What a job without anything to claim is waiting for.
  private func note(_ job: Int, in idle: inout Idle, for worker: WorkerID) {
    for batch in jobs[job].batches.values {
      let later = batch.owed.filter { $0.notBefore > now }
      idle.owedLater += later.count
      if batch.isLeased(at: now) {
        if batch.owner != worker { idle.leasesElsewhere += 1 }
        idle.note(batch.leaseUntil - now, isLease: true)
      } else if let first = later.map(\.notBefore).min() {
        idle.note(first - now, isLease: false)
      }
    }
  }
}

extension Idle {
  fileprivate mutating func note(_ milliseconds: Int64, isLease: Bool) {
    guard milliseconds < nextDueInMilliseconds ?? .max else { return }
    nextDueInMilliseconds = milliseconds
    waitsForLease = isLease
  }
}
