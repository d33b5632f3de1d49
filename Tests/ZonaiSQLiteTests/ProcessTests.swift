import Testing
import ZonaiCore
import ZonaiSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension ChildTests {
  /// Several processes on one file.
  @Suite struct ProcessTests {
    /// Serves everything there is, as a worker of its own.
    static func drain(_ path: String, worker: String) async throws {
      let store = try SQLiteStore(path: path)
      while true {
        try Task.checkCancellation()
        switch try await store.claim(.from(worker, size: 20)) {
        case .batch(let batch):
          guard case .committed = try await store.settle(.answers(batch.delivered())) else {
            throw TestFailure("a live lease was lost")
          }
        case .ended, .contended: continue
        case .nothing(let idle):
          if idle.nextDueInMilliseconds == nil { return }
          try await store.waitForWork(milliseconds: 100)
        }
      }
    }

    @Test(arguments: SQLiteFixture.Journal.allCases)
    func `two processes share one job, and nobody is sent to twice`(_ journal: SQLiteFixture.Journal) async throws {
      let scene = try await SQLiteScene(SQLiteScene.devices, journal: journal)
      try scene.addDevices(2_000)
      // A trace of every claim: the application's trigger sees what each process commits.
      try scene.application.run("CREATE TABLE claims (worker TEXT, from_key TEXT)")
      try scene.application.run(
        """
        CREATE TRIGGER trace AFTER INSERT ON zonai_batches BEGIN
        INSERT INTO claims VALUES (NEW.worker, NEW.from_key); END
        """)
      let job = try await scene.enqueue(Audience("devices", token: "token"))
      let path = scene.fixture.path
      // One of the two is this process. It keeps the first batch, which is alone, until the other is there to share.
      let store = try SQLiteStore(path: path)
      guard case .batch(let first) = try await store.claim(.from("anna", size: 20)) else {
        throw TestFailure("nothing to share")
      }
      async let other = #expect(processExitsWith: .success) { [path = path as String] in
        ChildTests.limitLife()
        try Application(path: path).run("INSERT INTO claims VALUES ('berta', 'is there')")
        try await ChildTests.ProcessTests.drain(path, worker: "berta")
      }
      while try scene.application.first("SELECT 1 FROM claims WHERE worker = 'berta'") == nil {
        try Task.checkCancellation()
        try await store.waitForWork(milliseconds: 100)
      }
      _ = try await store.settle(.answers(first.delivered()))
      try await Self.drain(path, worker: "anna")
      _ = await other
      let done = try await scene.job(job)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 2_000)
      #expect(done.counts.repeatedByTakeover == 0)
      let ranges = try scene.application.rows("SELECT from_key, COUNT(*) AS n FROM claims GROUP BY 1 HAVING n > 1")
      #expect(ranges.isEmpty)
    }

    @Test func `what a killed process had claimed is taken over, and counted`() async throws {
      let scene = try await SQLiteScene(SQLiteScene.devices)
      try scene.addDevices(7)
      let job = try await scene.enqueue(Audience("devices", token: "token"))
      let path = scene.fixture.path
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        ChildTests.limitLife()
        let store = try SQLiteStore(path: path)
        guard case .batch = try await store.claim(.from("anna", lease: 0)) else { exit(20) }
        kill(getpid(), SIGKILL)
      }
      // The dead process went by the wall clock, this one by a clock that stands in the past.
      let store = try SQLiteStore(path: path)
      guard case .batch(let batch) = try await store.claim(.from("berta")) else {
        throw TestFailure("nothing was taken over")
      }
      #expect(batch.isTakeover)
      #expect(batch.recipients.count == 7)
      _ = try await store.settle(.answers(batch.delivered()))
      let done = try await scene.job(job)
      #expect(done.state == .completed)
      #expect(done.counts.delivered == 7)
      #expect(done.counts.repeatedByTakeover == 7)
    }
  }
}
