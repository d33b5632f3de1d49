import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  /// Lists of workers, and of jobs that should be gone.
  static let lists: [Flaw] = [
    onWorkers("lists only workers that have something to do") { $0.removeAll { $0.leases == 0 } },
    onWorkers("takes every worker for alive") { workers in
      for index in workers.indices { workers[index].isAlive = true }
    },
    Flaw("forgets what a worker told with the next heartbeat") { flaw in
      flaw.renew = { (store, request) throws(StoreError) in
        let renewed = try await store.renew(request)
        try store.tamper { $0.workers[request.worker]?.status = request.status }
        return renewed
      }
    },
    Flaw("keeps workers on the list that said that they end") { flaw in
      flaw.renew = { (store, request) throws(StoreError) in
        var request = request
        request.isLast = false
        return try await store.renew(request)
      }
    },
    Flaw("removes old jobs whenever anybody asks") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        guard case .retain(let milliseconds, _) = change else { return try await store.change(change) }
        return try await store.change(.retain(milliseconds: milliseconds))
      }
    },
    Flaw("fails over a batch whose job was removed") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        if case .answers(let answers) = settlement, try store.state().index(of: answers.lease.job) == nil {
          throw StoreError(.notFound, "there is no such job")
        }
        return try await store.settle(settlement)
      }
    },
  ]

  private static func onWorkers(
    _ name: String, _ change: @escaping @Sendable (inout [WorkerAccount]) -> Void
  ) -> Flaw {
    Flaw(name) { flaw in
      flaw.jobs = { (store, query) throws(StoreError) in
        guard case .workers(var workers) = try await store.jobs(query) else { return try await store.jobs(query) }
        change(&workers)
        return .workers(workers)
      }
    }
  }
}
