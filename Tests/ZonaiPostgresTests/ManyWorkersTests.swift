import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiSQL
import ZonaiTestKit
import ZonaiTestServers
import ZonaiThreads

/// Several workers and rows that somebody holds, in the way only a database with locks of rows has.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct ManyWorkersTests {
  private static let news = JobDefinition(
    message: PushMessage(title: "news"), audience: Audience("devices", token: "token"), policy: .clearColumn,
    routes: Routes(apple: .fcm, android: .fcm, unknown: .fcm))

  private func with(
    devices: Int, _ body: (PostgresFixture, PostgresStore) async throws -> Void
  ) async throws {
    try await Turns.shared.take { try await prepared(devices: devices, body) }
  }

  private func prepared(
    devices: Int, _ body: (PostgresFixture, PostgresStore) async throws -> Void
  ) async throws {
    let fixture = try await PostgresFixture.make()
    let store = try fixture.open()
    do {
      _ = try await store.migrate()
      try await fixture.application.run("CREATE TABLE devices (id BIGINT PRIMARY KEY, token TEXT)")
      try await fixture.application.run(
        "INSERT INTO devices SELECT i, 'token-' || i FROM generate_series(1, \(devices)) AS i")
      try await body(fixture, store)
    } catch {
      await store.close()
      try await fixture.remove()
      throw error
    }
    await store.close()
    try await fixture.remove()
  }

  /// Asks again until it is so.
  private func until(_ isSo: () async throws -> Bool) async throws {
    let end = MonotonicClock.milliseconds() + 60_000
    while try await !isSo() {
      guard MonotonicClock.milliseconds() < end else { throw TestFailure("it never came to that") }
    }
  }

  private func request(_ worker: String, size: Int = 10, only: JobID? = nil) -> ClaimRequest {
    ClaimRequest(
      worker: WorkerID(rawValue: worker), transports: [.fcm], batchSize: size, firstBatchSize: size, only: only)
  }

  private func enqueue(_ store: PostgresStore) async throws -> JobID {
    try await store.enqueue(EnqueueRequest(definition: Self.news)).job.id
  }

  private func answers(_ batch: ClaimedBatch) -> BatchAnswers {
    let group = Group(transport: .fcm, fingerprint: "project", platform: .unknown)
    return BatchAnswers(
      lease: batch.lease,
      tally: [TallyLine(group: group, outcome: .delivered, reason: "delivered", count: batch.recipients.count)])
  }

  @Test func `a job whose row is held is passed over while there is another`() async throws {
    try await with(devices: 20) { fixture, store in
      let held = try await enqueue(store)
      let other = try await enqueue(store)
      try await fixture.application.runAll([
        "BEGIN", "SELECT 1 FROM zonai_jobs WHERE id = '\(held)' FOR UPDATE",
      ])
      guard case .batch(let batch) = try await store.claim(request("anna")) else {
        throw TestFailure("nothing was claimed")
      }
      #expect(batch.job.id == other)
      try await fixture.application.run("ROLLBACK")
      guard case .batch(let next) = try await store.claim(request("anna")) else {
        throw TestFailure("nothing was claimed")
      }
      #expect(next.job.id == held)
    }
  }

  @Test func `where every job is held that is not no work: the first is waited for`() async throws {
    try await with(devices: 20) { fixture, store in
      let jobs = [try await enqueue(store), try await enqueue(store)]
      let holder = try await fixture.application.run("SELECT pg_backend_pid()")[0][0] ?? ""
      try await fixture.application.runAll(["BEGIN", "SELECT 1 FROM zonai_jobs FOR UPDATE"])
      async let claimed = store.claim(request("anna"))
      let watcher = try Application(fixture.url)
      // The claim has come to the lock when the server says so, of this lock: others test on the same server.
      try await until {
        try await watcher.run(
          "SELECT 1 FROM pg_stat_activity WHERE pg_blocking_pids(pid) @> ARRAY[\(holder)::int] LIMIT 1"
        ).isEmpty == false
      }
      try await fixture.application.run("COMMIT")
      guard case .batch(let batch) = try await claimed else { throw TestFailure("nothing was claimed") }
      #expect(batch.job.id == jobs[0])
    }
  }

  @Test func `a row that is held for long ends the claim, and says that somebody is quicker`() async throws {
    try await with(devices: 20) { fixture, store in
      _ = try await enqueue(store)
      try await fixture.application.runAll(["BEGIN", "SELECT 1 FROM zonai_jobs FOR UPDATE"])
      guard case .contended = try await store.claim(request("anna")) else { throw TestFailure("not contended") }
      try await fixture.application.run("COMMIT")
    }
  }

  @Test func `many workers page through one job, each page is handed out once, and few are read in vain`() async throws
  {
    try await with(devices: 6_000) { fixture, store in
      let job = try await enqueue(store)
      guard case .batch(let first) = try await store.claim(request("first")) else { throw TestFailure("no batch") }
      _ = try await store.settle(.answers(answers(first)))
      let handed = try await withThrowingTaskGroup(of: (keys: [RowKey], inVain: Int).self) { group in
        for number in 1...6 {
          let other = try fixture.open()
          group.addTask {
            var keys: [RowKey] = []
            while true {
              switch try await other.claim(request("worker-\(number)")) {
              case .batch(let batch):
                for index in 0..<batch.recipients.count { keys.append(batch.recipients.keys[index]) }
                guard case .committed = try await other.settle(.answers(answers(batch))) else {
                  throw TestFailure("a live lease was lost")
                }
              case .ended, .contended: continue
              case .nothing(let idle):
                if idle.leasesElsewhere == 0 {
                  await other.close()
                  return (keys, other.crowds.account.inVain)
                }
                try await other.waitForWork(milliseconds: 20)
              }
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let keys = handed.flatMap(\.keys)
      #expect(keys.count == 5_990)
      #expect(Set(keys.map(\.identity)).count == 5_990)
      // Of 599 pages.
      let inVain = handed.reduce(0) { $0 + $1.inVain }
      #expect(inVain < 200, "pages read in vain")
      guard case .job(let done?) = try await store.jobs(.one(job)) else { return }
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 6_000)
      #expect(done.counts.repeatedByTakeover == 0)
    }
  }

  @Test func `workers that remove old jobs at once remove each once, and none that is resumed meanwhile`() async throws
  {
    try await with(devices: 1) { fixture, store in
      var jobs: [JobID] = []
      for _ in 0..<60 { jobs.append(try await enqueue(store)) }
      for job in jobs { _ = try await store.change(.cancel(job)) }
      fixture.clock.advance(milliseconds: 7_200_000)
      let others = [try fixture.open(), try fixture.open(), try fixture.open()]
      let counts = try await withThrowingTaskGroup(of: (removed: Int, resumed: Int).self) { group in
        for other in others {
          group.addTask {
            guard case .removed(let count) = try await other.change(.retain(milliseconds: 3_600_000)) else {
              throw TestFailure("no count")
            }
            return (count, 0)
          }
        }
        let wanted = jobs.shuffled()
        group.addTask {
          var resumed = 0
          for job in wanted.prefix(20) {
            do {
              _ = try await store.change(.resume(job, suspects: .ask))
              resumed += 1
            } catch let error as StoreError {
              guard error.code == .notFound else { throw error }
            }
          }
          return (0, resumed)
        }
        return try await group.reduce(into: (removed: 0, resumed: 0)) { sum, part in
          sum = (sum.removed + part.removed, sum.resumed + part.resumed)
        }
      }
      for other in others { await other.close() }
      #expect(counts.removed + counts.resumed == 60)
      guard case .jobs(let left) = try await store.jobs(.list(limit: 100, states: nil)) else { return }
      #expect(left.count == counts.resumed)
      #expect(left.allSatisfy { $0.state == .running })
      #expect(try await fixture.application.run("SELECT count(*) FROM zonai_jobs") == [["\(counts.resumed)"]])
    }
  }

  @Test func `a resume and settlings of the same job do not wait for each other crosswise`() async throws {
    try await with(devices: 400) { fixture, store in
      let job = try await enqueue(store)
      guard case .batch(let first) = try await store.claim(request("first")) else { throw TestFailure("no batch") }
      _ = try await store.settle(.answers(answers(first)))
      var batches: [ClaimedBatch] = []
      while batches.count < 20, case .batch(let batch) = try await store.claim(request("anna")) {
        batches.append(batch)
      }
      try await fixture.application.run("UPDATE zonai_batches SET takeovers = 1")
      let others = [try fixture.open(), try fixture.open(), try fixture.open()]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, other) in others.enumerated() {
          let mine = batches.indices.filter { $0 % others.count == number }.map { batches[$0] }
          group.addTask {
            for batch in mine {
              guard case .committed = try await other.settle(.answers(answers(batch))) else {
                throw TestFailure("a live lease was lost")
              }
            }
          }
        }
        let leases = batches.map(\.lease)
        group.addTask {
          for _ in 0..<20 {
            _ = try await store.change(.cancel(job))
            _ = try await store.change(.resume(job, suspects: .ask))
            _ = try await store.renew(
              RenewRequest(
                worker: WorkerID(rawValue: "anna"), leases: leases.shuffled(), leaseMilliseconds: 60_000))
          }
        }
        try await group.waitForAll()
      }
      for other in others { await other.close() }
      // The server counts the dead-locks that it had to end.
      guard case .job(let done?) = try await store.jobs(.one(job)) else { return }
      #expect(done.counts.delivered == 210)
    }
  }
}
