import ZonaiCore

extension MemoryState {
  func bindings(of app: AppName) -> AppBindings { apps[app] ?? AppBindings(app: app) }

  /// The app's bindings, with those that were missing; none of these lanes is bound to another
  /// identity.
  @discardableResult
  mutating func bind(_ lanes: [LaneIdentity], to app: AppName) -> AppBindings {
    var bindings = bindings(of: app)
    for identity in bindings.unbound(lanes) {
      bindings.lanes[identity.transport] = LaneBinding(identity: identity, version: 1, boundAt: now)
    }
    if !bindings.lanes.isEmpty { apps[app] = bindings }
    return bindings
  }

  mutating func bind(_ request: BindRequest) throws(StoreError) -> AppBindings {
    try requireVersion()
    try bindings(of: request.app).check(request.lanes)
    return bind(request.lanes, to: request.app)
  }

  mutating func rebind(_ request: BindRequest) throws(StoreError) -> Rebinding {
    try requireVersion()
    guard let before = apps[request.app] else {
      throw StoreError(.notFound, "\(request.app) is not bound to anything: its first push or worker binds it")
    }
    var changes: [Rebinding.Change] = []
    for identity in request.lanes.inOrder {
      guard let bound = before.lanes[identity.transport], bound.identity != identity else { continue }
      changes.append(Rebinding.Change(from: bound.identity, to: identity))
      apps[request.app]?.lanes[identity.transport] = LaneBinding(
        identity: identity, version: bound.version + 1, boundAt: now)
    }
    let bindings = bind(request.lanes, to: request.app)
    var failed = 0
    for job in jobs.indices where jobs[job].app == request.app && jobs[job].state.isOpen {
      let needed = jobs[job].definition.routes.transports
      guard let change = changes.first(where: { needed.contains($0.from.transport) }) else { continue }
      if jobs[job].identities.isEmpty {
        jobs[job].identities = before.identities(needing: needed)
      }
      jobs[job].fail(AppBindings.failure(of: request.app, from: change.from, to: change.to), at: now)
      failed += 1
    }
    return Rebinding(bindings: bindings, changes: changes, failedJobs: failed)
  }

  func appAccounts() throws(StoreError) -> [AppAccount] {
    try requireVersion()
    var accounts = apps.mapValues { AppAccount(bindings: $0) }
    for job in jobs where job.state.isOpen {
      accounts[job.app, default: AppAccount(bindings: AppBindings(app: job.app))].openJobs += 1
    }
    for worker in workers.values where now - worker.seenAt <= worker.lease {
      accounts[worker.app, default: AppAccount(bindings: AppBindings(app: worker.app))].liveWorkers += 1
    }
    return accounts.values.sorted { $0.app.rawValue < $1.app.rawValue }
  }
}
