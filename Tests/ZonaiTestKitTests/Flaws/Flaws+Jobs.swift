import Synchronization
import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let enqueueing: [Flaw] =
    [
      onEnqueue("loses the application's own words") { $0.definition.attribution = [:] },
      onEnqueue("does not look at idempotency keys") { if $0.idempotencyKey != "" { $0.idempotencyKey = nil } },
      Flaw("gives the job of an idempotency key whatever it says") { flaw in
        flaw.enqueue = { (store, request) throws(StoreError) in
          if let known = try store.state().jobs.first(where: {
            $0.idempotencyKey != nil && $0.idempotencyKey == request.idempotencyKey
          }) {
            return Enqueued(job: known.account(withTally: true), wasThere: true)
          }
          return try await store.enqueue(request)
        }
      },
      Flaw("looks at the table before it looks at idempotency keys") { flaw in
        flaw.enqueue = { (store, request) throws(StoreError) in
          _ = try await store.describe(request.definition.audience.table)
          return try await store.enqueue(request)
        }
      },
      Flaw("lists jobs oldest first") { flaw in
        flaw.jobs = { (store, query) throws(StoreError) in
          guard case .jobs(let jobs) = try await store.jobs(query) else { return try await store.jobs(query) }
          return .jobs(jobs.reversed())
        }
      },
      Flaw("counts rows and not recipients") { flaw in
        flaw.jobs = { (store, query) throws(StoreError) in
          guard case .audience(var count) = try await store.jobs(query) else { return try await store.jobs(query) }
          count.recipients[.unknown] = try store.state().tables[count.audience.table]?.rows.count
          return .audience(count)
        }
      },
      onEnqueue("does not hear that deleting is meant") { $0.deletesReferencedRows = false },
      Flaw("writes first and checks later") { flaw in
        flaw.enqueue = { (store, request) throws(StoreError) in
          do throws(StoreError) {
            return try await store.enqueue(request)
          } catch {
            try store.tamper { state in
              state.jobsMade += 1
              state.jobs.append(
                MemoryJob(
                  id: JobID("job-\(state.jobsMade)"), definition: request.definition, idempotencyKey: nil,
                  createdAt: state.now))
            }
            throw error
          }
        }
      },
      Flaw("refuses every token column that must not be NULL") { flaw in
        flaw.enqueue = { (store, request) throws(StoreError) in
          let audience = request.definition.audience
          let table = try await store.describe(audience.table)
          if table.column(audience.token)?.isNullable == false {
            throw StoreError(.tokenNotNullable, "the token column is NOT NULL: make it nullable")
          }
          return try await store.enqueue(request)
        }
      },
    ] + lenient

  /// Each lets one kind of mistake through.
  private static let lenient: [Flaw] = [
    .noSuchTable, .noSuchColumn, .noUsableKey, .tokenNotNullable, .referencedRows, .invalidPredicate, .invalidRequest,
  ].map { (code: StoreError.Code) in
    Flaw("does not refuse what is \(code.rawValue)") { flaw in
      flaw.enqueue = { (store, request) throws(StoreError) in
        do throws(StoreError) {
          return try await store.enqueue(request)
        } catch {
          guard error.code == code else { throw error }
          let job = MemoryJob(id: JobID("any"), definition: request.definition, idempotencyKey: nil, createdAt: 0)
          return Enqueued(job: job.account(withTally: false), wasThere: false)
        }
      }
    }
  }

  /// Takes the last look of anybody for the look of whoever waits. A sound store beneath would sleep; this one gives up.
  private static var forgetsLooks: Flaw {
    Flaw("takes one worker's look for another's") { flaw in
      let lastLook = Shared(Mutex(0))
      flaw.claim = { (store, request) throws(StoreError) in
        let changes = store.database.changes
        let result = try await store.claim(request)
        lastLook.value.withLock { $0 = changes }
        return result
      }
      flaw.wait = { (store, milliseconds) throws(StoreError) in
        guard milliseconds > 1000 else { return }
        for _ in 0..<10_000 {
          if store.database.changes != lastLook.value.withLock({ $0 }) { return }
          await Task.yield()
        }
        throw StoreError(.failed, "nobody wakes this worker")
      }
    }
  }

  static let life: [Flaw] = [
    Flaw("cancels in words only") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        let before = try store.state()
        let result = try await store.change(change)
        if case .cancel = change { try store.tamper { $0.jobs = before.jobs } }
        return result
      }
    },
    Flaw("takes a change that does not fit for done") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        do throws(StoreError) {
          return try await store.change(change)
        } catch  where error.code == .wrongState {
          return .removed(0)
        }
      }
    },
    Flaw("keeps the lease of a job that cannot run") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        let before = try store.state()
        let result = try await store.change(change)
        if case .fail(let lease, _) = change, let old = before.job(lease.job)?.batches[lease.batch] {
          try store.tamper { state in state.eachBatch { batch, _ in if batch.number == lease.batch { batch = old } } }
        }
        return result
      }
    },
    Flaw("fails a job for a worker that lost its lease") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        if case .fail(let lease, let failure) = change {
          try store.tamper { state in
            let now = state.now
            state.eachJob { if $0.id == lease.job { $0.fail(failure, at: now) } }
          }
        }
        return try await store.change(change)
      }
    },
    Flaw("removes jobs by their age") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        guard case .retain(let milliseconds, _) = change else { return try await store.change(change) }
        let before = try store.state().jobs.count
        try store.tamper { state in
          let now = state.now
          state.jobs.removeAll { $0.createdAt < now - milliseconds }
        }
        return .removed(before - (try store.state().jobs.count))
      }
    },
    forgetsLooks,
    Flaw("cannot wait") { flaw in
      flaw.wait = { (_, _) throws(StoreError) in throw StoreError(.failed, "waiting is not supported") }
    },
    Flaw("migrates when nobody asked") { flaw in
      flaw.enqueue = { (store, request) throws(StoreError) in
        if try store.state().version == 0 { _ = try await store.migrate() }
        return try await store.enqueue(request)
      }
    },
    Flaw("migrates from nothing each time") { flaw in
      flaw.migrate = { (store) throws(StoreError) in
        try store.tamper { state in
          if state.version == 1 {
            state.version = 0
            state.jobs = []
          }
        }
        return try await store.migrate()
      }
    },
    Flaw("works on tables of a newer build") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        try store.tamper { if $0.version > 0 { $0.version = 1 } }
        return try await store.claim(request)
      }
    },
    Flaw("does not see unique keys") { flaw in
      flaw.describe = { (store, table) throws(StoreError) in
        var description = try await store.describe(table)
        description.uniqueKeys = []
        return description
      }
    },
    Flaw("keeps the last secret that is offered") { flaw in
      flaw.exchange = { (store, offer) throws(StoreError) in
        if let secret = offer.secret { try store.tamper { $0.secrets[offer.name] = secret } }
        return try await store.exchange(offer)
      }
    },
    Flaw("hands out a secret that has ended") { flaw in
      flaw.exchange = { (store, offer) throws(StoreError) in
        try store.tamper { state in
          state.secrets = state.secrets.mapValues { Secret(value: $0.value, madeAt: $0.madeAt) }
        }
        return try await store.exchange(offer)
      }
    },
  ]
}
