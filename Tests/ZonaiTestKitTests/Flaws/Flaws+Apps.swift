import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  /// Mistakes about apps and what they are bound to.
  static let apps: [Flaw] =
    [
      Flaw("serves the jobs of every app") { flaw in
        flaw.claim = { (store, request) throws(StoreError) in
          try store.tamper { state in state.eachJob { $0.app = request.app } }
          return try await store.claim(request)
        }
      },
      Flaw("takes over the batches of every app") { flaw in
        flaw.claim = { (store, request) throws(StoreError) in
          try store.tamper { state in
            let now = state.now
            state.eachJob { job in
              let isLapsed = job.batches.values.contains { $0.owner != nil && !$0.isLeased(at: now) }
              if isLapsed { (job.app, job.identities) = (request.app, []) }
            }
          }
          return try await store.claim(request)
        }
      },
      onEnqueue("knows one app only") { $0.app = .standard },
      Flaw("takes any name for an app") { flaw in
        flaw.enqueue = { (store, request) throws(StoreError) in
          guard request.app.problem != nil else { return try await store.enqueue(request) }
          var renamed = request
          renamed.app = .standard
          return try await store.enqueue(renamed)
        }
      },
      Flaw("keeps idempotency keys over all apps") { flaw in
        flaw.enqueue = { (store, request) throws(StoreError) in
          if let known = try store.state().jobs.first(where: {
            $0.idempotencyKey != nil && $0.idempotencyKey == request.idempotencyKey && $0.app != request.app
          }) {
            return Enqueued(job: known.account(withTally: true), wasThere: true)
          }
          return try await store.enqueue(request)
        }
      },
      Flaw("lists the jobs of all apps") { flaw in
        flaw.jobs = { (store, query) throws(StoreError) in
          guard case .list(let limit, let states, _) = query else { return try await store.jobs(query) }
          return try await store.jobs(.list(limit: limit, states: states))
        }
      },
      Flaw("does not write down the app of a worker") { flaw in
        flaw.renew = { (store, request) throws(StoreError) in
          var request = request
          request.app = .standard
          return try await store.renew(request)
        }
      },
    ] + bindings + rebinds

  private static let bindings: [Flaw] = [
    Flaw("binds an app to whoever comes last") { flaw in
      flaw.bind = { (store, request) throws(StoreError) in
        try store.tamper { $0.apps[request.app] = nil }
        return try await store.bind(request)
      }
    },
    Flaw("binds what is new before it refuses what is wrong") { flaw in
      flaw.bind = { (store, request) throws(StoreError) in
        try store.tamper { $0.bind(request.lanes, to: request.app) }
        return try await store.bind(request)
      }
    },
    onEnqueue("does not look at the lanes of who enqueues") { $0.lanes = [] },
    Flaw("binds an app although its enqueue is refused") { flaw in
      flaw.enqueue = { (store, request) throws(StoreError) in
        _ = try await store.bind(BindRequest(app: request.app, lanes: request.lanes))
        return try await store.enqueue(request)
      }
    },
    Flaw("gives a job that is there to any configuration") { flaw in
      flaw.enqueue = { (store, request) throws(StoreError) in
        if let key = request.idempotencyKey,
          let known = try store.state().jobs.first(where: { $0.app == request.app && $0.idempotencyKey == key }),
          AudienceRules.isRepeat(request.definition, of: known.definition)
        {
          return Enqueued(job: known.account(withTally: true), wasThere: true)
        }
        return try await store.enqueue(request)
      }
    },
    Flaw("claims as whatever the app is bound to") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        var request = request
        let bindings = try store.state().bindings(of: request.app)
        request.lanes = request.lanes.map { bindings.lanes[$0.transport]?.identity ?? $0 }
        return try await store.claim(request)
      }
    },
    onRequest("does not compare versions") { $0.bindingVersions = [:] },
    Flaw("does not keep what a job was claimed as") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let result = try await store.claim(request)
        try store.tamper { state in state.eachJob { $0.identities = [] } }
        return result
      }
    },
    onApps("counts every job as open") { apps, state in
      for index in apps.indices { apps[index].openJobs = state.jobs.count { $0.app == apps[index].app } }
    },
    onApps("counts every worker as alive") { apps, state in
      for index in apps.indices { apps[index].liveWorkers = state.workers.values.count { $0.app == apps[index].app } }
    },
    onApps("lists only apps that are bound") { apps, _ in apps.removeAll { $0.bindings.lanes.isEmpty } },
  ]

  private static let rebinds: [Flaw] = [
    Flaw("rebinds an app and lets its jobs go on") { flaw in
      flaw.rebind = { (store, request) throws(StoreError) in
        let states = try store.state().jobs.map(\.state)
        let rebinding = try await store.rebind(request)
        try store.tamper { state in for job in state.jobs.indices { state.jobs[job].state = states[job] } }
        return rebinding
      }
    },
    Flaw("fails every job at a rebind") { flaw in
      flaw.rebind = { (store, request) throws(StoreError) in
        let rebinding = try await store.rebind(request)
        try store.tamper { state in
          let now = state.now
          state.eachJob { $0.fail(.other, at: now) }
        }
        return rebinding
      }
    },
    Flaw("says that jobs stopped and not why") { flaw in
      flaw.rebind = { (store, request) throws(StoreError) in
        let rebinding = try await store.rebind(request)
        try store.tamper { state in
          state.eachJob {
            if $0.error != nil { $0.error = JobFailure(.rebound, "the app was bound to another project") }
          }
        }
        return rebinding
      }
    },
    Flaw("settles nothing of a job that a rebind failed") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        if case .answers(let answers) = settlement {
          let state = try store.state()
          if state.jobs.first(where: { $0.id == answers.lease.job })?.error?.code == .rebound { return .leaseLost }
        }
        return try await store.settle(settlement)
      }
    },
    Flaw("begins again with version 1") { flaw in
      flaw.rebind = { (store, request) throws(StoreError) in
        let rebinding = try await store.rebind(request)
        try store.tamper { $0.apps[request.app]?.lanes[.fcm]?.version = 1 }
        return rebinding
      }
    },
    Flaw("binds an app that nothing has used by a rebind") { flaw in
      flaw.rebind = { (store, request) throws(StoreError) in
        _ = try? await store.bind(request)
        return try await store.rebind(request)
      }
    },
    Flaw("counts a new version for every rebind") { flaw in
      flaw.rebind = { (store, request) throws(StoreError) in
        let rebinding = try await store.rebind(request)
        guard rebinding.changes.isEmpty else { return rebinding }
        try store.tamper { $0.apps[request.app]?.lanes[.fcm]?.version += 1 }
        return rebinding
      }
    },
    Flaw("resumes jobs of another identity") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        guard case .resume(let id, let suspects, _) = change else { return try await store.change(change) }
        return try await store.change(.resume(id, suspects: suspects, rebound: true))
      }
    },
    Flaw("never resumes a job of another identity") { flaw in
      flaw.change = { (store, change) throws(StoreError) in
        guard case .resume(let id, let suspects, _) = change else { return try await store.change(change) }
        return try await store.change(.resume(id, suspects: suspects))
      }
    },
  ]

  private static func onApps(
    _ name: String, _ change: @escaping @Sendable (inout [AppAccount], MemoryState) -> Void
  ) -> Flaw {
    Flaw(name) { flaw in
      flaw.apps = { (store) throws(StoreError) in
        var apps = try await store.apps()
        change(&apps, try store.state())
        return apps
      }
    }
  }
}
