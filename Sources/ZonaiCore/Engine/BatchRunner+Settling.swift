/// What follows the answers: the store's calls, and the hooks between them.
extension BatchRunner {
  mutating func askHooks(_ questions: [BatchStep.HookQuestion]) {
    for question in questions {
      let rejection = question.rejection
      worker.observer(
        .rejected(
          batch.job.id,
          ZonaiEvent.RejectionReport(
            eventID: rejection.eventID, group: rejection.group, evidence: rejection.evidence, reason: rejection.reason))
      )
    }
    guard let hook = worker.hook(for: batch.job.definition.audience.table) else {
      post.yield(.hooked(HookRound.Outcome(answers: Array(repeating: .followPolicy, count: questions.count))))
      return
    }
    let options = worker.options
    let limits = HookRound.Limits(
      timeout: options.hookTimeoutSeconds.milliseconds, budget: options.hookBudgetSeconds.milliseconds,
      atOnce: options.hooksAtOnce)
    let round = HookRound(
      questions.map { PushRejection($0, of: batch.job) }, hook: hook, threads: worker.hookThreads, clock: worker.clock,
      limits: limits, observer: worker.observer)
    self.round = round
    if isGraceOver { round.giveUp() }
    Task { [post] in post.yield(.hooked(await round.ask())) }
  }

  func inspectWitnesses(_ groups: [Group]) async throws(StoreError) -> BatchEvent {
    let inspection = try await inspect(.witnesses(batch.lease, groups: groups))
    guard case .witnesses(let accounts) = inspection else { throw StoreError.answeredAnotherQuestion }
    return .witnesses(accounts, now: now)
  }

  func inspectRows(_ rejections: [Rejection]) async throws(StoreError) -> BatchEvent {
    let inspection = try await inspect(.rows(batch.lease, rejections))
    guard case .rows(let rows) = inspection, rows.count == rejections.count else {
      throw StoreError.answeredAnotherQuestion
    }
    return .rows(rows)
  }

  private func inspect(_ request: InspectRequest) async throws(StoreError) -> Inspection {
    let store = worker.store
    return try await worker.patience.call(.inspect) { () async throws(StoreError) in try await store.inspect(request) }
  }

  func settle(_ settlement: Settlement) async throws(StoreError) -> SettleResult {
    let store = worker.store
    let result = try await worker.patience.call(.settle) { () async throws(StoreError) in
      try await store.settle(settlement)
    }
    if case .committed(let committed) = result {
      worker.meter.add(settlement.settled(committed))
      worker.observer(.settled(batch.lease, committed.job.state, committed.job.counts))
      for words in committed.refusals { worker.observer(.pruneRefused(batch.job.id, words: words)) }
      worker.note(committed.job)
    }
    return result
  }
}

extension StoreError {
  static let answeredAnotherQuestion = StoreError(
    .failed, "the store answered another question than was asked; this is a fault of the store's adapter")
}

extension Settlement {
  /// How many recipients were settled with it.
  fileprivate func settled(_ committed: Committed) -> Int {
    switch self {
    case .answers(let answers): answers.tally.reduce(0) { $0 + $1.count }
    case .prunes: committed.outcomes.count
    }
  }
}
