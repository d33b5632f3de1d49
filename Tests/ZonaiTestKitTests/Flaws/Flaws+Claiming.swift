import Synchronization
import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let claiming: [Flaw] = [
    noCompareAndSet,
    onRequest("makes the first batch as large as any") { $0.firstBatchSize = $0.batchSize },
    beforeClaim("hands out further batches beside the first") { state in
      state.eachJob { $0.isFirstAnswered = $0.isFirstAnswered || !$0.batches.isEmpty }
    },
    onClaim("does not say which batch is the first") { $0.isFirst = false },
    Flaw("waits for those who are owed before it goes on") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let state = try store.state()
        let isHeld = state.jobs.contains { job in
          job.batches.values.contains { $0.owner == nil && $0.isAnswered && !$0.isDue(at: state.now) }
        }
        return isHeld ? .nothing(Idle()) : try await store.claim(request)
      }
    },
    beforeClaim("serves the oldest job alone") { state in state.eachJob { $0.lastClaimed = 0 } },
    Flaw("goes on with new pages while somebody is owed") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        var held: [JobID: [Int64: MemoryBatch]] = [:]
        try store.tamper { state in
          state.eachJob { job in
            // Only where the key is the usual one: every check of another key looks at owed recipients too.
            guard !job.isAtEnd, job.isFirstAnswered, job.audience.key == ["id"] else { return }
            held[job.id] = job.batches.filter { $0.value.owner == nil }
            job.batches = job.batches.filter { $0.value.owner != nil }
          }
        }
        let result = try await store.claim(request)
        try store.tamper { state in state.eachJob { $0.batches.merge(held[$0.id] ?? [:]) { $1 } } }
        return result
      }
    },
    onRequest("serves jobs whose transports the worker lacks") { $0.lanes = [.fcm, .apns].map(LaneIdentity.scripted) },
    onIdle("does not name the jobs that it cannot serve") { $0.unservable = [] },
    onRequest("does not care for which job is asked") { $0.only = nil },
    onIdle("does not say when something falls due") { $0.nextDueInMilliseconds = nil },
    onIdle("does not count the leases of others") { $0.leasesElsewhere = 0 },
    onIdle("does not count who is owed later") { $0.owedLater = 0 },
    onIdle("takes every waiting for a lease's") { $0.waitsForLease = true },
    onClaim("tells a time of its own") { $0.now = $0.job.createdAt },
    onClaim("tells another lease than it was asked for") { $0.leaseMilliseconds = 60_000 },
    Flaw("stops at a job that cannot be read") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        if try store.state().jobs.contains(where: { $0.isGarbled && $0.state.isOpen }) {
          throw StoreError(.corrupt, "a job cannot be read")
        }
        return try await store.claim(request)
      }
    },
    Flaw("fails again and again where a table is gone") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let result = try await store.claim(request)
        guard case .ended(let job) = result, job.error?.code == .store else { return result }
        try store.tamper { state in state.eachJob { if $0.id == job.id { $0.state = .running } } }
        throw StoreError(.noSuchTable, "no such table")
      }
    },
  ]

  private static func onIdle(_ name: String, _ change: @escaping @Sendable (inout Idle) -> Void) -> Flaw {
    Flaw(name) { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let result = try await store.claim(request)
        guard case .nothing(var idle) = result else { return result }
        change(&idle)
        return .nothing(idle)
      }
    }
  }

  /// A worker that claims right after another gets the same page.
  private static var noCompareAndSet: Flaw {
    Flaw("moves the frontier without looking") { flaw in
      let lastWorker = Shared(Mutex<WorkerID?>(nil))
      flaw.claim = { (store, request) throws(StoreError) in
        let before = try store.state()
        let result = try await store.claim(request)
        let previous = lastWorker.value.withLock { worker in
          defer { worker = request.worker }
          return worker
        }
        if case .batch(let batch) = result, let previous, previous != request.worker,
          let job = before.index(of: batch.job.id)
        {
          try store.tamper { state in
            state.eachJob { if $0.id == batch.job.id { $0.frontier = before.jobs[job].frontier } }
          }
        }
        return result
      }
    }
  }

  static let leases: [Flaw] = [
    Flaw("settles answers by batch and not by fence") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .answers(var answers) = settlement else { return try await store.settle(settlement) }
        answers.lease = try store.state().current(answers.lease)
        return try await store.settle(.answers(answers))
      }
    },
    Flaw("prunes by batch and not by fence") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .prunes(var prunes) = settlement else { return try await store.settle(settlement) }
        prunes.lease = try store.state().current(prunes.lease)
        return try await store.settle(.prunes(prunes))
      }
    },
    Flaw("refuses to settle after the lease's end though nobody took over") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        let state = try store.state()
        if case .answers(let answers) = settlement, let owned = state.owned(answers.lease),
          owned.batch.leaseUntil <= state.now
        {
          return .leaseLost
        }
        return try await store.settle(settlement)
      }
    },
    countsTwice,
    Flaw("renews nothing") { flaw in
      flaw.renew = { (store, request) throws(StoreError) in
        let before = try store.state()
        let renewed = try await store.renew(request)
        try store.tamper { $0.jobs = before.jobs }
        return renewed
      }
    },
    beforeClaim("takes over batches whose lease is alive") { state in
      state.eachBatch { batch, _ in batch.leaseUntil = 0 }
    },
    onRenew("says of every lease that it is owned") { $0.isOwned = true },
    onRenew("does not tell that a job was stopped") { $0.jobState = .running },
    Flaw("renews a batch for whoever asks") { flaw in
      flaw.renew = { (store, request) throws(StoreError) in
        let renewed = try await store.renew(request)
        try store.tamper { state in
          let until = state.now + request.leaseMilliseconds
          state.eachBatch { batch, job in
            if request.leases.contains(where: { $0.job == job.id && $0.batch == batch.number }) {
              batch.leaseUntil = until
            }
          }
        }
        return renewed
      }
    },
    Flaw("lists workers without their leases") { flaw in
      flaw.jobs = { (store, query) throws(StoreError) in
        guard case .workers(var workers) = try await store.jobs(query) else { return try await store.jobs(query) }
        for index in workers.indices { workers[index].leases = 0 }
        return .workers(workers)
      }
    },
  ]

  private static func onRenew(_ name: String, _ change: @escaping @Sendable (inout RenewedLease) -> Void) -> Flaw {
    Flaw(name) { flaw in
      flaw.renew = { (store, request) throws(StoreError) in
        try await store.renew(request).map { lease in
          var lease = lease
          change(&lease)
          return lease
        }
      }
    }
  }

  private static var countsTwice: Flaw {
    Flaw("counts answers again that come again") { flaw in
      let settled = Shared(Mutex<Set<BatchLease>>([]))
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .answers(let answers) = settlement else { return try await store.settle(settlement) }
        if settled.value.withLock({ !$0.insert(answers.lease).inserted }) {
          try store.tamper { state in
            state.eachJob { job in
              if job.id == answers.lease.job { for line in answers.tally { job.count(line) } }
            }
          }
        }
        return try await store.settle(settlement)
      }
    }
  }

  static let takeovers: [Flaw] = [
    beforeClaim("does not count takeovers") { state in state.eachBatch { batch, _ in batch.takeovers = 0 } },
    beforeClaim("does not count what a takeover sends again") { state in
      state.eachBatch { batch, _ in batch.unsettled = 0 }
    },
    onClaim("does not say that a batch was taken over") { $0.isTakeover = false },
    beforeClaim("starts a dead worker's batch over") { state in
      let now = state.now
      state.eachBatch { batch, _ in
        if batch.owner != nil, !batch.isLeased(at: now) { batch.isAnswered = false }
      }
    },
    onClaim("gives rejections new event ids") { batch in
      for index in batch.rejections.indices { batch.rejections[index].eventID += "-again" }
    },
    beforeClaim("forgets the rejections of a dead worker") { state in
      let now = state.now
      state.eachBatch { batch, _ in if !batch.isLeased(at: now) { batch.rejections = [] } }
    },
    afterSettle("takes a lease that was given back for a dead worker's") { state, _ in
      state.eachBatch { batch, _ in
        if batch.owner == nil, batch.fence > 0 {
          batch.owner = WorkerID(rawValue: "ghost")
          batch.leaseUntil = 0
        }
      }
    },
    Flaw("counts the takeovers from before a resume") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        let before = try store.state()
        let result = try await store.change(change)
        try store.tamper { state in
          state.eachBatch { batch, job in
            guard let old = before.index(of: job.id) else { return }
            batch.takeovers = before.jobs[old].batches[batch.number]?.takeovers ?? 0
          }
        }
        return result
      }
    },
    Flaw("hands out a range that grew as a whole") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        var request = request
        let state = try store.state()
        let isLeft = state.jobs.contains { job in
          job.batches.values.contains { $0.owner != nil && !$0.isLeased(at: state.now) }
        }
        if isLeft { request.batchSize = 10_000 }
        return try await store.claim(request)
      }
    },
  ]
}

extension MemoryState {
  /// The lease of whoever owns the batch now.
  func current(_ lease: BatchLease) -> BatchLease {
    guard let job = index(of: lease.job), let batch = jobs[job].batches[lease.batch] else { return lease }
    return BatchLease(job: lease.job, batch: lease.batch, fence: batch.fence)
  }
}
