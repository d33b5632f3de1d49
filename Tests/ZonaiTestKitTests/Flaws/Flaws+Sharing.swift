import Synchronization
import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let sharing: [Flaw] = [
    afterClaim("hands one dead worker's batch to everybody who comes") { state, batch in
      guard batch.isTakeover else { return }
      state.eachBatch { open, _ in if open.number == batch.lease.batch { open.leaseUntil = 0 } }
    },
    refusesRenewals,
    countsPrunesTwice,
    writesWhatItRead,
    countsBeforeItLocks,
    Flaw("goes on after it was closed") { $0.close = { _ in } },
    Flaw("makes a job of each enqueue that comes at once") { flaw in
      let atOnce = Shared(Mutex(0))
      flaw.enqueue = { (store, request) throws(StoreError) in
        await overlap(atOnce) {}
        let isCrowded = atOnce.value.withLock { $0 > 1 }
        defer { atOnce.value.withLock { $0 -= 1 } }
        var request = request
        if isCrowded { request.idempotencyKey = nil }
        return try await store.enqueue(request)
      }
    },
  ]

  /// Counts whoever is within, and gives the others time to come.
  private static func overlap(_ atOnce: Shared<Mutex<Int>>, _ body: () -> Void) async {
    atOnce.value.withLock { $0 += 1 }
    for _ in 0..<200 {
      if atOnce.value.withLock({ $0 > 1 }) { return }
      await Task.yield()
    }
  }

  /// A renewal behind a settling finds its handle busy.
  private static var refusesRenewals: Flaw {
    Flaw("cannot renew while it settles") { flaw in
      let settling = Shared(Mutex(0))
      flaw.settle = { (store, settlement) throws(StoreError) in
        settling.value.withLock { $0 += 1 }
        defer { settling.value.withLock { $0 -= 1 } }
        for _ in 0..<200 { await Task.yield() }
        return try await store.settle(settlement)
      }
      flaw.renew = { (store, request) throws(StoreError) in
        for _ in 0..<1000 {
          if settling.value.withLock({ $0 > 0 }) { throw StoreError(.busy, "the handle is busy") }
          await Task.yield()
        }
        return try await store.renew(request)
      }
    }
  }

  private static var countsPrunesTwice: Flaw {
    Flaw("counts prunes again that come again") { flaw in
      let settled = Shared(Mutex<Set<BatchLease>>([]))
      flaw.settle = { (store, settlement) throws(StoreError) in
        let result = try await store.settle(settlement)
        guard case .prunes(let prunes) = settlement else { return result }
        if settled.value.withLock({ !$0.insert(prunes.lease).inserted }) {
          try store.tamper { state in
            state.eachJob { job in
              guard job.id == prunes.lease.job else { return }
              for (rejection, _) in prunes.decisions {
                job.count(TallyLine(group: rejection.group, outcome: .pruned, reason: rejection.reason, count: 1))
              }
            }
          }
        }
        return result
      }
    }
  }

  /// Two settlements at once: the second writes the counts that it read before the first.
  private static var writesWhatItRead: Flaw {
    Flaw("writes the counts that it read") { flaw in
      let atOnce = Shared(Mutex(0))
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .answers(let answers) = settlement else { return try await store.settle(settlement) }
        let read = try store.state().job(answers.lease.job)
        await overlap(atOnce) {}
        defer { atOnce.value.withLock { $0 -= 1 } }
        let result = try await store.settle(settlement)
        guard case .committed = result, let read else { return result }
        try store.tamper { state in
          state.eachJob { job in
            guard job.id == read.id else { return }
            job.counts = read.counts
            job.tally = read.tally
            for line in answers.tally { job.count(line) }
          }
        }
        return result
      }
    }
  }

  /// Two batches that end at once each see the other open.
  private static var countsBeforeItLocks: Flaw {
    Flaw("counts what is open before it locks the job") { flaw in
      let atOnce = Shared(Mutex(0))
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .answers(let answers) = settlement else { return try await store.settle(settlement) }
        let open = try store.state().job(answers.lease.job)?.batches.count ?? 0
        await overlap(atOnce) {}
        defer { atOnce.value.withLock { $0 -= 1 } }
        let result = try await store.settle(settlement)
        if open > 1 {
          try store.tamper { state in
            state.eachJob { job in
              if job.id == answers.lease.job, job.state == .completed, job.batches.isEmpty { job.state = .running }
            }
          }
        }
        return result
      }
    }
  }

  static let recording: [Flaw] = [
    Flaw("cannot write down a zero character") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        if case .answers(let answers) = settlement, answers.failure?.detail.contains("\0") == true {
          throw StoreError(.failed, "the database takes no such text")
        }
        return try await store.settle(settlement)
      }
    },
    onAnswers("takes reasons in either case for one") { answers in
      for index in answers.tally.indices {
        let reason = answers.tally[index].reason.rawValue
        answers.tally[index].reason = Reason(rawValue: reason == "UNREGISTERED" ? "Unregistered" : reason)
      }
    },
    onAnswers("counts in thirty-two bits") { answers in
      for index in answers.tally.indices { answers.tally[index].count = min(answers.tally[index].count, 0x7fff_ffff) }
    },
    onEnqueue("takes idempotency keys in either case for one") { request in
      request.idempotencyKey = request.idempotencyKey?.lowercased()
    },
    onEnqueue("takes a blank at an idempotency key's end for nothing") { request in
      guard let key = request.idempotencyKey, key.hasSuffix(" ") else { return }
      request.idempotencyKey = String(key.dropLast())
    },
    Flaw("takes workers' names in either case for one") { flaw in
      flaw.renew = { (store, request) throws(StoreError) in
        var request = request
        let owners = try store.state().jobs.flatMap(\.batches.values).compactMap(\.owner)
        if let owner = owners.first(where: { $0.rawValue.lowercased() == request.worker.rawValue.lowercased() }) {
          request.worker = owner
        }
        return try await store.renew(request)
      }
    },
    Flaw("prunes before it looks at what was recorded") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        do throws(StoreError) {
          return try await store.settle(settlement)
        } catch {
          guard case .prunes(let prunes) = settlement else { throw error }
          try store.tamper { state in
            state.eachRow(of: prunes) { table, row, _, audience in table.set(audience.token, to: .null, at: row) }
          }
          throw error
        }
      }
    },
    Flaw("counts answers before it looks at them") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        do throws(StoreError) {
          return try await store.settle(settlement)
        } catch {
          guard case .answers(let answers) = settlement else { throw error }
          try store.tamper { state in
            state.eachJob { job in
              if job.id == answers.lease.job { for line in answers.tally { job.count(line) } }
            }
          }
          throw error
        }
      }
    },
  ]
}
