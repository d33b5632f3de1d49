import ZonaiCore

extension TokenStoreConformance {
  /// Apps: which jobs belong to one, and what it is bound to.
  static var apps: [Check<Fixture>] { serving + binding + rebinding }

  private static var serving: [Check<Fixture>] {
    [
      check("a worker claims the jobs of its own app, and no others", law: "section 5, apps") { scene in
        try await scene.makeDevices(2)
        let news = try await scene.enqueue(for: "news", .one)
        let shop = try await scene.enqueue(for: "shop", .one)
        let usual = try await scene.enqueue(for: .standard, .one)
        for (app, job) in [(AppName("shop"), shop), (.standard, usual), ("news", news)] {
          let batch = try await scene.claim(for: app, .one)
          try expect(batch.job.id, is: job, "the job that a worker of \(app) gets")
          try expect(batch.job.app, is: app, "its app")
          try await scene.deliver(batch)
          guard case .nothing(let idle) = try await scene.claimOnce(for: app, .one) else {
            throw CheckFailure(expected: "nothing more for \(app)", found: "something")
          }
          try expect(idle.unservable, is: [], "jobs that \(app) cannot serve")
        }
        let other = try await scene.enqueue(for: "news", .one)
        guard case .nothing = try await scene.claimOnce(for: "shop", .one, only: other) else {
          throw CheckFailure(expected: "no claim of another app's job by its id", found: "a claim")
        }
      },
      check("an app's batches are taken over by its own workers alone", law: "section 5, apps") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.enqueue(for: "shop", .one)
        _ = try await scene.claim(for: "shop", .one)
        try await scene.fixture.advance(milliseconds: 120_000)
        guard case .nothing = try await scene.claimOnce(for: "news", .one) else {
          throw CheckFailure(expected: "no takeover by another app", found: "a claim")
        }
        let batch = try await scene.claim(for: "shop", .one)
        try expect(batch.lease.job, is: job, "the job taken over by its own app")
      },
      check("one idempotency key is one job in each app", law: "section 5, apps") { scene in
        try await scene.makeDevices(1)
        let shop = try await scene.store.enqueue(scene.request(for: "shop", .one, key: "monday"))
        let news = try await scene.store.enqueue(scene.request(for: "news", .one, title: "other", key: "monday"))
        let usual = try await scene.store.enqueue(scene.request(key: "monday"))
        try expect(Set([shop.job.id, news.job.id, usual.job.id]).count, is: 3, "jobs of three apps")
        let again = try await scene.store.enqueue(scene.request(for: "shop", .one, key: "monday"))
        try expect(again.job.id, is: shop.job.id, "the job of the same key and app")
        try expect(again.wasThere, is: true, "wasThere of the same key and app")
        try await expectRefusal(.idempotencyClash, "other content under the app's key") {
          _ = try await scene.store.enqueue(scene.request(for: "shop", .one, title: "other", key: "monday"))
        }
        let longest = String(repeating: "k", count: AudienceRules.longestIdempotencyKey)
        let app = AppName(rawValue: String(repeating: "a", count: AppName.longest))
        let first = try await scene.store.enqueue(scene.request(for: app, .one, key: longest))
        let second = try await scene.store.enqueue(scene.request(for: app, .one, key: longest))
        try expect(second.job.id, is: first.job.id, "the job of the longest key of the longest app")
      },
      check("what cannot be the name of an app is refused", law: "section 5, apps") { scene in
        try await scene.makeDevices(1)
        let names = ["a b", "-a", ".", "é", "shop'", "?", String(repeating: "a", count: AppName.longest + 1)]
        for name in names {
          try await expectRefusal(.invalidRequest, "the app \(name)") {
            _ = try await scene.store.enqueue(scene.request(for: AppName(rawValue: name), .one))
          }
        }
        try expect(try await scene.allJobs().count, is: 0, "jobs")
        let job = try await scene.enqueue(for: "Shop-1.test_2", .one)
        try expect(try await scene.job(job).app, is: "Shop-1.test_2", "the job's app")
        guard case .nothing = try await scene.claimOnce(for: "shop-1.test_2", .one) else {
          throw CheckFailure(expected: "names that differ in case to be two apps", found: "one app")
        }
      },
      check("jobs and workers are listed with their app", law: "section 5, apps") { scene in
        try await scene.makeDevices(1)
        let shop = try await scene.enqueue(for: "shop", .one)
        let usual = try await scene.enqueue()
        guard case .jobs(let ofShop) = try await scene.store.jobs(.list(limit: 9, states: nil, app: "shop")),
          case .jobs(let ofUsual) = try await scene.store.jobs(.list(limit: 9, states: [.pending], app: .standard)),
          case .jobs(let ofNone) = try await scene.store.jobs(.list(limit: 9, states: nil, app: "news"))
        else { return }
        try expect(ofShop.map(\.id), is: [shop], "the jobs of one app")
        try expect(ofUsual.map(\.id), is: [usual], "the jobs of the default app")
        try expect(ofNone.count, is: 0, "the jobs of an app that has none")
        try await scene.sayHello("anna", status: WorkerStatus(host: "one", process: 7), app: "shop")
        try await scene.sayHello("berta", status: WorkerStatus(host: "one", process: 8))
        _ = try await scene.claim("carla", for: "shop", .one)
        try expect(
          try await scene.workers().map { "\($0.worker) \($0.app.rawValue)" },
          is: ["anna shop", "berta ", "carla shop"], "the workers with their apps")
      },
    ]
  }

  // MARK: Binding

  private static var binding: [Check<Fixture>] {
    [
      check("the first use of a transport binds its app, and another identity is refused", law: "section 5, apps") {
        scene in
        let both = BindRequest(app: "shop", lanes: [.one, LaneIdentity(.apns, environment: "sandbox", host: "a")])
        let bound = try await scene.store.bind(both)
        try expect(bound.lanes.mapValues(\.identity), is: [.fcm: .one, .apns: both.lanes[1]], "what is bound")
        try expect(bound.lanes[.fcm]?.version, is: 1, "the version of a first binding")
        try await scene.fixture.advance(milliseconds: 5000)
        let again = try await scene.store.bind(both)
        try expect(again.lanes[.fcm]?.version, is: 1, "the version after a second bind")
        try await expectRefusal(.otherBinding, "another project") {
          _ = try await scene.store.bind(BindRequest(app: "shop", lanes: [.other]))
        }
        // Another account of a transport that is not bound yet comes with the one that is wrong:
        // neither is written.
        try await expectRefusal(.otherBinding, "another project beside a new transport") {
          _ = try await scene.store.bind(
            BindRequest(app: "shop", lanes: [.other, .scripted(TransportName(rawValue: "pager"))]))
        }
        let account = try await scene.app("shop")
        try expect(Set(account.bindings.lanes.keys), is: [.fcm, .apns], "the transports that are bound")
        try expect(account.bindings.lanes[.fcm]?.identity, is: .one, "the identity after the refusals")
        _ = try await scene.store.bind(BindRequest(app: "news", lanes: [.other]))
        try expect(try await scene.app("news").bindings.lanes[.fcm]?.identity, is: .other, "another app's identity")
      },
      check("an enqueue binds its app, and from another configuration writes nothing", law: "section 5, apps") {
        scene in
        try await scene.makeDevices(1)
        let job = try await scene.enqueue(for: "shop", .one)
        try expect(try await scene.job(job).identities, is: [.one], "the identities of the job")
        try expect(try await scene.app("shop").bindings.lanes[.fcm]?.identity, is: .one, "what the enqueue bound")
        try await expectRefusal(.otherBinding, "an enqueue from another project") {
          _ = try await scene.enqueue(for: "shop", .other)
        }
        try await expectRefusal(.otherBinding, "a count from another project") {
          _ = try await scene.store.jobs(.count(scene.request(for: "shop", .other)))
        }
        // With the key of a job that is there, too.
        _ = try await scene.store.enqueue(scene.request(for: "shop", .one, key: "monday"))
        try await expectRefusal(.otherBinding, "a repeated enqueue from another project") {
          _ = try await scene.store.enqueue(scene.request(for: "shop", .other, key: "monday"))
        }
        try expect(try await scene.allJobs().count, is: 2, "jobs")
        // An enqueue that is refused for another reason binds nothing.
        var refused = scene.request(for: "news", .other)
        refused.definition.audience.token = "tokn"
        let request = refused
        try await expectRefusal(.noSuchColumn, "a column that is not there") {
          _ = try await scene.store.enqueue(request)
        }
        try expect(try await scene.store.apps().map(\.app), is: ["shop"], "the apps")
      },
      check("a job keeps what it was first claimed as", law: "section 5, apps") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.store.enqueue(EnqueueRequest(app: "shop", definition: scene.request().definition)).job
        try expect(job.identities, is: [], "the identities of a job that a process without lanes enqueued")
        let batch = try await scene.claim(for: "shop", .one, size: 1)
        try expect(try await scene.job(job.id).identities, is: [.one], "its identities after the first claim")
        try expect(try await scene.app("shop").bindings.lanes[.fcm]?.identity, is: .one, "what the claim bound")
        try await scene.deliver(batch)
        let later = try await scene.store.enqueue(EnqueueRequest(app: "shop", definition: scene.request().definition))
        try expect(later.job.identities, is: [.one], "the identities of a job of an app that is bound")
      },
      check("a worker of another configuration claims nothing", law: "section 5, apps") { scene in
        try await scene.makeDevices(2)
        let job = try await scene.enqueue(for: "shop", .one)
        try await expectRefusal(.rebound, "a claim as another project") {
          _ = try await scene.claimOnce(for: "shop", .other)
        }
        try expect(try await scene.job(job).state, is: .pending, "the job's state")
        try expect(try await scene.app("shop").bindings.lanes[.fcm]?.identity, is: .one, "the identity")
        // As itself, under an app of its own.
        guard case .nothing = try await scene.claimOnce(for: "other", .other) else {
          throw CheckFailure(expected: "nothing to do for another app", found: "something")
        }
      },
      check("apps are listed with their bindings, open jobs and live workers", law: "section 5, apps") { scene in
        try await scene.makeDevices(1)
        _ = try await scene.store.bind(BindRequest(app: "bound", lanes: [.one]))
        let ended = try await scene.enqueue(for: "shop", .one)
        _ = try await scene.enqueue(for: "shop", .one)
        let running = try await scene.enqueue(for: "shop", .one)
        try await scene.cancel(ended)
        try await scene.sayHello("anna", status: nil, lease: 30_000, app: "work")
        try await scene.sayHello("berta", status: nil, lease: 7_200_000, app: "work")
        try await scene.fixture.advance(milliseconds: 60_000)
        let batch = try await scene.claim("carla", for: "shop", .one)
        try expect(batch.job.id == running || batch.job.id != ended, "an open job to be claimed")
        let apps = try await scene.store.apps()
        try expect(apps.map(\.app.rawValue), is: ["bound", "shop", "work"], "the apps")
        try expect(apps.map(\.openJobs), is: [0, 2, 0], "their open jobs")
        try expect(apps.map(\.liveWorkers), is: [0, 1, 1], "their live workers")
        try expect(apps.map { $0.bindings.lanes[.fcm]?.identity }, is: [.one, .one, nil], "what they are bound to")
      },
    ]
  }

  // MARK: Rebinding

  private static var rebinding: [Check<Fixture>] {
    [
      check("a rebind ends the claims of the old identity at once, and its jobs", law: "section 5, apps") { scene in
        try await scene.makeDevices(4)
        let versions = try await scene.store.bind(BindRequest(app: "shop", lanes: [.one])).lanes.mapValues(\.version)
        let running = try await scene.enqueue(for: "shop", .one)
        let batch = try await scene.claim(for: "shop", .one, size: 1, versions: versions)
        let pending = try await scene.enqueue(for: "shop", .one)
        let without = try await scene.store.enqueue(
          EnqueueRequest(app: "shop", definition: scene.request().definition)
        ).job.id
        let elsewhere = try await scene.enqueue(for: "news", .one)
        let apns = try await scene.enqueue(for: "shop", .scripted(.apns))
        let rebinding = try await scene.store.rebind(BindRequest(app: "shop", lanes: [.other]))
        try expect(rebinding.changes, is: [Rebinding.Change(from: .one, to: .other)], "what changed")
        try expect(rebinding.failedJobs, is: 3, "the jobs that it failed")
        try expect(rebinding.bindings.lanes[.fcm]?.version, is: 2, "the version after it")
        for job in [running, pending, without] {
          let error = try await scene.job(job).error
          try expect(error?.code.rawValue, is: "rebound", "why a job of the old identity stopped")
          for identity in ["\(LaneIdentity.one)", "\(LaneIdentity.other)"] {
            let sentence = error?.detail ?? ""
            try expect(sentence.contains(identity), "\(identity) in the sentence", found: sentence)
          }
        }
        for job in [elsewhere, apns] { try expect(try await scene.job(job).state, is: .pending, "another job's state") }
        try await expectRefusal(.rebound, "a claim of a worker of the old identity") {
          _ = try await scene.claimOnce(for: "shop", .one, versions: versions)
        }
        // What it has in flight is settled: those answers were really given.
        try await scene.deliver(batch)
        try expect(try await scene.job(running).counts.delivered, is: 1, "delivered")
        guard case .nothing = try await scene.claimOnce(for: "shop", .other) else {
          throw CheckFailure(expected: "nothing to do for the new identity", found: "something")
        }
      },
      check("a worker that began before a rebind claims nothing, whatever it is bound to now", law: "section 5, apps") {
        scene in
        try await scene.makeDevices(1)
        let versions = try await scene.store.bind(BindRequest(app: "shop", lanes: [.one])).lanes.mapValues(\.version)
        _ = try await scene.store.rebind(BindRequest(app: "shop", lanes: [.other]))
        _ = try await scene.store.rebind(BindRequest(app: "shop", lanes: [.one]))
        let job = try await scene.enqueue(for: "shop", .one)
        try await expectRefusal(.rebound, "a claim under an old version") {
          _ = try await scene.claimOnce(for: "shop", .one, versions: versions)
        }
        let now = try await scene.store.bind(BindRequest(app: "shop", lanes: [.one])).lanes.mapValues(\.version)
        try expect(now[.fcm], is: 3, "the version after two rebinds")
        try expect(try await scene.claim(for: "shop", .one, versions: now).job.id, is: job, "the job under the new one")
      },
      check("a rebind to what an app is bound to changes nothing", law: "section 5, apps") { scene in
        try await scene.makeDevices(1)
        try await expectRefusal(.notFound, "an app that nothing has used") {
          _ = try await scene.store.rebind(BindRequest(app: "shop", lanes: [.one]))
        }
        try expect(try await scene.store.apps().count, is: 0, "apps")
        let job = try await scene.enqueue(for: "shop", .one)
        let versions = try await scene.store.bind(BindRequest(app: "shop", lanes: [.one])).lanes.mapValues(\.version)
        let same = try await scene.store.rebind(BindRequest(app: "shop", lanes: [.one, .scripted(.apns)]))
        try expect(same.changes, is: [], "what changed")
        try expect(same.failedJobs, is: 0, "the jobs that it failed")
        try expect(same.bindings.lanes[.apns]?.identity, is: .scripted(.apns), "a transport that was not bound")
        let batch = try await scene.claim(for: "shop", .one, versions: versions)
        try expect(batch.job.id, is: job, "the job, claimed as before")
      },
      check("a resume refuses a job of another identity, unless it is told", law: "section 5, apps") { scene in
        try await scene.makeDevices(3)
        let job = try await scene.enqueue(for: "shop", .one)
        let batch = try await scene.claim(for: "shop", .one, size: 1)
        try await scene.deliver(batch)
        _ = try await scene.store.rebind(BindRequest(app: "shop", lanes: [.other]))
        let stopped = try await scene.job(job)
        try await expectRefusal(.otherBinding, "a resume of a job of the old identity") { try await scene.resume(job) }
        let refused = try await scene.job(job)
        try expect(refused.state, is: .failed, "the state after the refusal")
        try expect(refused.error, is: stopped.error, "the error after the refusal")
        guard case .job(let resumed) = try await scene.store.change(.resume(job, suspects: .ask, rebound: true)) else {
          throw CheckFailure(expected: "the resumed job", found: "something else")
        }
        try expect(resumed.state, is: .running, "the state after a resume that was told")
        try expect(resumed.identities, is: [.other], "what it belongs to from then on")
        let rest = try await scene.claim(for: "shop", .other)
        try expect(rest.ids, is: [2, 3], "what is left of it")
        try await scene.deliver(rest)
        // One that was stopped before, for another reason, belongs to the old identity as well.
        let cancelled = try await scene.enqueue(for: "shop", .other)
        try await scene.cancel(cancelled)
        _ = try await scene.store.rebind(BindRequest(app: "shop", lanes: [.one]))
        try await expectRefusal(.otherBinding, "a resume of a cancelled job") { try await scene.resume(cancelled) }
        // Bound to its identity again, it goes on without a word.
        _ = try await scene.store.rebind(BindRequest(app: "shop", lanes: [.other]))
        try expect(try await scene.resume(cancelled).state, is: .running, "the state under its own identity")
      },
    ]
  }
}

extension LaneIdentity {
  static let one = LaneIdentity(.fcm, account: "project-one", host: "fcm.example")
  static let other = LaneIdentity(.fcm, account: "project-\"two\"", host: "fcm.example")
}

extension Scene {
  func request(
    for app: AppName, _ lane: LaneIdentity, title: String = "news", key: String? = nil
  ) -> EnqueueRequest {
    let transport = lane.transport
    var request = request(
      title: title, key: key, routes: Routes(apple: transport, android: transport, unknown: transport))
    request.app = app
    request.lanes = [lane]
    return request
  }

  func enqueue(for app: AppName, _ lane: LaneIdentity) async throws -> JobID {
    try await store.enqueue(request(for: app, lane)).job.id
  }

  func claimOnce(
    _ worker: String = "anna", for app: AppName, _ lane: LaneIdentity, size: Int = 500,
    versions: [TransportName: Int64] = [:], only: JobID? = nil
  ) async throws -> ClaimResult {
    try await claimOnce(
      ClaimRequest(
        worker: WorkerID(rawValue: worker), app: app, lanes: [lane], bindingVersions: versions, batchSize: size,
        firstBatchSize: size, only: only))
  }

  func claim(
    _ worker: String = "anna", for app: AppName, _ lane: LaneIdentity, size: Int = 500,
    versions: [TransportName: Int64] = [:], file: StaticString = #fileID, line: UInt = #line
  ) async throws -> ClaimedBatch {
    let result = try await claimOnce(worker, for: app, lane, size: size, versions: versions)
    if case .batch(let batch) = result { return batch }
    throw CheckFailure(expected: "a batch of \(app) to be claimed", found: result.word, file: file, line: line)
  }

  func app(_ name: AppName) async throws -> AppAccount {
    let apps = try await store.apps()
    guard let account = apps.first(where: { $0.app == name }) else {
      throw CheckFailure(expected: "\(name) to be listed", found: "\(apps.map(\.app))")
    }
    return account
  }
}
