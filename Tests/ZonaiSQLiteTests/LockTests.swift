import Testing
import ZonaiCore
import ZonaiSQLite
import ZonaiThreads

/// One writer for the whole file: what waits, for how long, and what does not.
@Suite(.timeLimit(.minutes(2))) struct LockTests {
  private static var hasty: SQLiteOptions {
    var options = SQLiteOptions()
    options.limits.writing = 50
    return options
  }

  @Test(arguments: SQLiteFixture.Journal.allCases)
  func `a write that the application holds up is busy at the deadline, and passes`(
    _ journal: SQLiteFixture.Journal
  ) async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices, journal: journal, options: Self.hasty)
    try scene.addDevices(1)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    try scene.application.run("BEGIN IMMEDIATE")
    for _ in 0..<2 {
      let error = await #expect(throws: StoreError.self) { _ = try await scene.claimResult() }
      #expect(error?.code == .busy)
      #expect(error?.isPassing == true)
    }
    try scene.application.run("COMMIT")
    #expect(try await scene.claim().recipients.count == 1)
  }

  @Test func `a write that the application holds up goes on when it is let`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(1)
    try scene.application.run("BEGIN IMMEDIATE")
    async let job = scene.enqueue(Audience("devices", token: "token"))
    // Either order is right; the lock is let go whether or not the enqueue waits for it already.
    try scene.application.run("COMMIT")
    #expect(try await scene.job(job).state == .pending)
  }

  @Test func `reads do not wait for a writer`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices, options: Self.hasty)
    try scene.addDevices(1)
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    try scene.application.run("BEGIN IMMEDIATE")
    #expect(try await scene.job(job).state == .pending)
    try scene.application.run("ROLLBACK")
  }

  @Test func `a settlement that could not be written can be tried again`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices, options: Self.hasty)
    try scene.addDevices(2)
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim()
    try scene.application.run("BEGIN IMMEDIATE")
    await #expect(throws: StoreError.self) { _ = try await scene.store.settle(.answers(batch.delivered())) }
    try scene.application.run("COMMIT")
    #expect(try await scene.job(job).counts.delivered == 0)
    _ = try await scene.store.settle(.answers(batch.delivered()))
    #expect(try await scene.job(job).counts.delivered == 2)
  }

  @Test func `a statement that runs too long is interrupted, and nothing stays of it`() async throws {
    var options = SQLiteOptions()
    options.limits.reading = 100
    let scene = try await SQLiteScene(SQLiteScene.devices, options: options)
    try scene.addDevices(300_000)
    let slow = Self.slow
    let error = await #expect(throws: StoreError.self) {
      _ = try await scene.store.jobs(.count(EnqueueRequest(definition: .news(slow))))
    }
    #expect(error?.code == .tooSlow)
    #expect(error?.isPassing == true)
    #expect(error?.sentence.contains("took longer") == true)
    // The connection is as good as before.
    guard case .jobs(let jobs) = try await scene.store.jobs(.list(limit: 1, states: nil)) else { return }
    #expect(jobs.isEmpty)
  }

  /// A table of many rows and no match makes this one slow.
  private static let slow = Audience(
    "devices", token: "token", where: .or((0..<400).map { Column("seen") == .text("x\($0)") }))

  @Test func `a job whose page takes too long lets others go first, and fails when it happens again and again`()
    async throws
  {
    var options = SQLiteOptions()
    options.limits.reading = 100
    let scene = try await SQLiteScene(SQLiteScene.devices, options: options)
    try scene.addDevices(300_000)
    let slow = try await scene.enqueue(Self.slow)
    let quick = try await scene.enqueue(Audience("devices", token: "token"))
    var ended: Job?
    var served = 0
    for _ in 0..<12 where ended == nil {
      switch try await scene.claimResult() {
      case .batch(let batch):
        #expect(batch.job.id == quick)
        served += 1
        _ = try await scene.store.settle(.answers(batch.delivered()))
      case .ended(let job): ended = job
      case .contended: continue
      case .nothing(let idle): Issue.record("nothing to do: \(idle)")
      }
    }
    #expect(served >= 2)
    #expect(ended?.id == slow)
    #expect(ended?.error?.code == .store)
    for word in ["devices", "seen", "index", "resume"] { #expect(ended?.error?.detail.contains(word) == true) }
    #expect(try await scene.job(quick).state == .running)
    // Resumed, it has its tries again.
    _ = try await scene.store.change(.resume(slow, suspects: .ask))
    for _ in 0..<2 {
      guard case .contended = try await scene.store.claim(.from("berta", only: slow)) else {
        throw TestFailure("the resumed job was not tried again")
      }
    }
  }

  // MARK: Waiting for work

  /// The first wait of a process looks at what was written before it.
  private func settled(_ store: SQLiteStore) async throws {
    try await store.waitForWork(milliseconds: 0)
    try await store.waitForWork(milliseconds: 0)
  }

  @Test func `a write of another connection wakes who waits`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try await settled(scene.store)
    async let waited: Void = scene.store.waitForWork(milliseconds: 600_000)
    try scene.addDevices(1)
    try await waited
  }

  @Test func `a write of this process wakes who waits`() async throws {
    var options = SQLiteOptions()
    options.pollMilliseconds = 600_000
    let scene = try await SQLiteScene(SQLiteScene.devices, options: options)
    try scene.addDevices(1)
    try await settled(scene.store)
    async let waited: Void = scene.store.waitForWork(milliseconds: 600_000)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    try await waited
  }

  @Test func `a wait ends with its task, with its time, and with the store`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try await settled(scene.store)
    let waiting = Task { try await scene.store.waitForWork(milliseconds: 600_000) }
    waiting.cancel()
    try await waiting.value
    try await scene.store.waitForWork(milliseconds: 1)
    async let waited: Void = scene.store.waitForWork(milliseconds: 600_000)
    await scene.store.close()
    try await waited
  }
}
