import Synchronization
import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let settling: [Flaw] = [
    onAnswers("does not keep reasons apart") { answers in
      for index in answers.tally.indices { answers.tally[index].detail = "" }
    },
    afterSettle("counts transient failures twice") { state, settlement in
      guard case .answers(let answers) = settlement, let job = state.index(of: answers.lease.job) else { return }
      for line in answers.tally where line.outcome == .transientlyFailed {
        state.jobs[job].counts.transientlyFailed += line.count
      }
    },
    Flaw("counts a rejection with its answer") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        let result = try await store.settle(settlement)
        guard case .committed = result else { return result }
        try store.tamper { state in
          switch settlement {
          case .answers(let answers): state.count(answers.rejections, by: 1)
          case .prunes(let prunes): state.count(prunes.decisions.map(\.rejection), by: -1)
          }
        }
        return result
      }
    },
    afterSettle("forgets rejections that the prunes do not name") { state, settlement in
      guard case .prunes = settlement else { return }
      state.eachBatch { batch, _ in batch.rejections = [] }
      state.eachJob { job in
        job.batches = job.batches.filter { !$0.value.owed.isEmpty || $0.value.owner != nil || !$0.value.isAnswered }
      }
    },
    afterSettle("completes a job with its last page") { state, _ in
      state.eachJob { if $0.isAtEnd, let finished = $0.state.after(.finished) { $0.state = finished } }
    },
    afterSettle("keeps the last error") { state, settlement in
      guard case .answers(let answers) = settlement, let failure = answers.failure else { return }
      state.eachJob { if $0.id == answers.lease.job { $0.error = failure } }
    },
    onAnswers("does not stop a job that failed") { $0.failure = nil },
    onAnswers("drops the answers that came with a failure") { if $0.failure != nil { $0.tally = [] } },
    Flaw("does not settle what was stopped") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        if case .answers(let answers) = settlement, let job = try store.state().job(answers.lease.job),
          job.state == .cancelled
        {
          return .leaseLost
        }
        return try await store.settle(settlement)
      }
    },
    afterSettle("completes a job that failed") { state, _ in
      state.eachJob { if $0.state == .failed, $0.isAtEnd, $0.batches.isEmpty { $0.state = .completed } }
    },
    onAnswers("does not count repeats after lost answers") { $0.repeatedAfterLostAnswer = 0 },
    Flaw("does not count failed hooks") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .prunes(var prunes) = settlement else { return try await store.settle(settlement) }
        prunes.hooksFailed = 0
        return try await store.settle(.prunes(prunes))
      }
    },
  ]

  static let owing: [Flaw] = [
    onAnswers("forgets the attempts of those who are owed") { answers in
      for index in answers.owed.indices { answers.owed[index].attempts = 0 }
    },
    onAnswers("does not wait for a not-before time") { answers in
      for index in answers.owed.indices { answers.owed[index].notBefore = 0 }
    },
    onClaim("does not hand over those who rest") { $0.resting = [] },
    rememberedTokens,
    beforeClaim("sends to owed recipients that left the audience") { state in
      state.eachJob { job in
        if job.batches.values.contains(where: { !$0.owed.isEmpty }) { job.definition.audience.predicate = nil }
      }
    },
    afterSettle("forgets who is owed with the prunes") { state, settlement in
      guard case .prunes(let prunes) = settlement else { return }
      state.eachBatch { batch, _ in if batch.number == prunes.lease.batch { batch.owed = [] } }
    },
    Flaw("starts a batch over when its job is resumed") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        let result = try await store.change(change)
        if case .resume = change {
          try store.tamper { state in
            state.eachBatch { batch, _ in
              batch.isAnswered = false
              batch.owed = []
            }
          }
        }
        return result
      }
    },
    onClaim("does not tell the groups that are kept") { $0.keptGroups = [] },
    onAnswers("forgets whose suspect a recipient is") { answers in
      for index in answers.owed.indices { answers.owed[index].suspectOf = nil }
    },
    onAnswers("forgets which token was suspected") { answers in
      for index in answers.owed.indices { answers.owed[index].tokenDigest = nil }
    },
    onAnswers("forgets who was unknown once") { answers in
      for index in answers.owed.indices { answers.owed[index].wasUnknown = false }
    },
    Flaw("remembers an outage over a resume") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        let before = try store.state()
        let result = try await store.change(change)
        try store.tamper { state in
          state.eachBatch { batch, job in
            batch.owed = before.job(job.id)?.batches[batch.number]?.owed ?? batch.owed
          }
        }
        return result
      }
    },
  ]

  /// An owed recipient is sent to with the token of the first claim.
  private static var rememberedTokens: Flaw {
    Flaw("sends to owed recipients with the token of the first claim") { flaw in
      let known = Shared(Mutex<[RowKey: String]>([:]))
      flaw.claim = { (store, request) throws(StoreError) in
        let result = try await store.claim(request)
        guard case .batch(var batch) = result else { return result }
        var rebuilt = Recipients(tokenColumn: batch.recipients.tokenColumn)
        for index in 0..<batch.recipients.count {
          let key = batch.recipients.keys[index]
          let token = known.value.withLock { known in
            let token = known[key] ?? batch.recipients.tokens.token(index).text
            known[key] = token
            return token
          }
          rebuilt.append(
            key: key, token: token, platform: batch.recipients.platform(index),
            lastSeen: batch.recipients.lastSeen(index))
        }
        batch.recipients = rebuilt
        return .batch(batch)
      }
    }
  }

  static let witnesses: [Flaw] = [
    onWitness("takes another platform's deliveries for a witness") { account, state, lease, group in
      account.delivered = state.job(lease.job)?.counts.delivered ?? 0
    },
    onWitness("takes another job's deliveries for a witness") { account, state, _, _ in
      account.delivered = state.jobs.reduce(0) { $0 + $1.counts.delivered }
    },
    onWitness("does not look at the lane as a whole") { account, _, _, _ in
      account.deliveredOnLane = account.delivered
    },
    onWitness("counts circumstantial rejections when they are pruned") { account, state, lease, group in
      let pending = state.job(lease.job)?.batches.values.flatMap(\.rejections).count { $0.group == group } ?? 0
      account.circumstantialRejections = max(0, account.circumstantialRejections - pending)
    },
    onWitness("forgets the record") { account, _, _, _ in account.recordLastDeliveredAt = nil },
    onWitness("keeps one record for all platforms") { account, _, _, _ in
      account.recordLastDeliveredAt = account.laneLastDeliveredAt
    },
    onWitness("counts no circumstantial answers") { account, _, _, _ in account.recordCircumstantialSince = 0 },
  ]

  private static func onWitness(
    _ name: String, _ change: @escaping @Sendable (inout GroupCounts, MemoryState, BatchLease, Group) -> Void
  ) -> Flaw {
    Flaw(name) { flaw in
      flaw.inspect = { (store, request) throws(StoreError) in
        let result = try await store.inspect(request)
        guard case .witnesses(var accounts) = result, case .witnesses(let lease, _) = request else { return result }
        let state = try store.state()
        for group in accounts.keys {
          guard var account = accounts[group] else { continue }
          change(&account, state, lease, group)
          accounts[group] = account
        }
        return .witnesses(accounts)
      }
    }
  }
}

extension MemoryState {
  func job(_ id: JobID) -> MemoryJob? { index(of: id).map { jobs[$0] } }

  /// Counts rejections of whichever job recorded them, as spared.
  fileprivate mutating func count(_ rejections: [Rejection], by sign: Int) {
    guard let job = jobs.indices.last else { return }
    for rejection in rejections {
      jobs[job].count(
        TallyLine(group: rejection.group, outcome: .spared, reason: "counted with its answer", count: sign))
    }
  }
}
