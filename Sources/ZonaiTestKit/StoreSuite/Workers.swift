import ZonaiCore

extension TokenStoreConformance {
  /// Who is listed as a worker, and with what.
  static var workers: [Check<Fixture>] {
    [
      check("a worker is listed from the moment it says that it is there, idle or not", law: "section 8, workers") {
        scene in
        try expect(try await scene.workers().count, is: 0, "workers before any came")
        try await scene.sayHello("anna", status: WorkerStatus(host: "one", process: 7))
        let idle = try await scene.worker("anna")
        try expect(idle.leases, is: 0, "an idle worker's leases")
        try expect(idle.jobs, is: [], "an idle worker's jobs")
        try expect(idle.isAlive, is: true, "whether it is alive")
        try await scene.makeDevices(6)
        let job = try await scene.enqueue()
        try await scene.deliver(try await scene.claim("anna", size: 2, first: 2))
        _ = try await scene.claim("anna", size: 2)
        _ = try await scene.claim("berta", size: 2)
        try expect(try await scene.worker("anna").leases, is: 1, "a worker's leases")
        try expect(try await scene.worker("anna").jobs, is: [job], "a worker's jobs")
        try expect(try await scene.worker("berta").status, is: nil, "what a worker told that never told anything")
      },
      check("what a worker tells of itself is listed until it tells otherwise", law: "section 8, workers") { scene in
        let status = WorkerStatus(host: "bücher 'one'", process: 4_194_304, settled: 1200, settledPerSecond: 66.5)
        try await scene.sayHello("anna", status: status)
        let first = try await scene.worker("anna")
        try expect(first.status, is: status, "what it told")
        try await scene.fixture.advance(milliseconds: 20_000)
        try await scene.sayHello("anna", status: nil)
        let silent = try await scene.worker("anna")
        try expect(silent.status, is: status, "what it told, after it told nothing new")
        try expect(silent.startedAt, is: first.startedAt, "when it was first heard of")
        let later = WorkerStatus(host: "bücher 'one'", process: 4_194_304, settled: 9000, settledPerSecond: 0)
        try await scene.sayHello("anna", status: later)
        try expect(try await scene.worker("anna").status, is: later, "what it told last")
      },
      check("a worker that says that it ends is listed no more", law: "section 8, workers") { scene in
        try await scene.sayHello("anna", status: WorkerStatus(host: "one", process: 7))
        try await scene.sayHello("berta", status: WorkerStatus(host: "one", process: 8))
        try await scene.sayHello("anna", status: nil, isLast: true)
        try expect(try await scene.workers().map(\.worker.rawValue), is: ["berta"], "who is listed")
      },
      check(
        "a worker that was not heard of within its lease is not alive, and after a day is forgotten",
        law: "section 8, workers"
      ) { scene in
        try await scene.sayHello("anna", status: nil, lease: 30_000)
        try await scene.sayHello("berta", status: nil, lease: 7_200_000)
        try await scene.fixture.advance(milliseconds: 3_600_000)
        try expect(try await scene.worker("anna").isAlive, is: false, "whether a worker lives after an hour's silence")
        try expectNear(try await scene.worker("anna").lastSeenAgo, 3_600_000, "how long ago it was seen")
        try expect(try await scene.worker("berta").isAlive, is: true, "whether one lives whose lease is two hours")
        try await scene.fixture.advance(milliseconds: 86_400_000)
        try expect(try await scene.workers().count, is: 0, "workers listed after a day's silence")
      },
    ]
  }
}

extension Scene {
  func workers() async throws -> [WorkerAccount] {
    guard case .workers(let workers) = try await store.jobs(.workers) else {
      throw CheckFailure(expected: "a list of workers", found: "something else")
    }
    return workers
  }

  func worker(_ name: String) async throws -> WorkerAccount {
    let workers = try await workers()
    guard let worker = workers.first(where: { $0.worker.rawValue == name }) else {
      throw CheckFailure(expected: "\(name) to be listed", found: "\(workers.map(\.worker.rawValue))")
    }
    return worker
  }

  /// A heartbeat without leases.
  func sayHello(
    _ worker: String, status: WorkerStatus?, lease: Int64 = 60_000, isLast: Bool = false, app: AppName = .standard
  ) async throws {
    _ = try await store.renew(
      RenewRequest(
        worker: WorkerID(rawValue: worker), app: app, leases: [], leaseMilliseconds: lease, status: status,
        isLast: isLast))
  }
}
