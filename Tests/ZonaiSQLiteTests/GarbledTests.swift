import Testing
import ZonaiCore
import ZonaiSQLite

/// A slip of somebody's hand in Zonai's own tables costs the job that it met, and no other.
@Suite(.timeLimit(.minutes(2))) struct GarbledTests {
  /// Each meets the first job alone, whose first batch was given back with somebody owed.
  @Test(arguments: [
    "UPDATE zonai_jobs SET definition = 'x'",
    "UPDATE zonai_jobs SET definition = '{}'",
    "UPDATE zonai_jobs SET predicate = '[1'",
    "UPDATE zonai_jobs SET kept_groups = ''",
    "UPDATE zonai_jobs SET suspects = 'perhaps'",
    "UPDATE zonai_jobs SET frontier = '7'",
    "UPDATE zonai_jobs SET last_key = '{}'",
    "UPDATE zonai_jobs SET first_batch = 9",
    "UPDATE zonai_jobs SET identities = '[{}]'",
    "UPDATE zonai_batches SET owed = '[{}]'",
    "UPDATE zonai_batches SET to_key = 'x'",
    "UPDATE zonai_batches SET rejections = '{'",
  ])
  func `a job that cannot be read fails with a sentence, and the others go on`(_ slip: String) async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(3)
    let audience = Audience("devices", token: "token", where: Column("id") > 0)
    let garbled = try await scene.enqueue(audience)
    let batch = try await scene.claim()
    let owed = batch.keys.map { OwedRecipient(key: $0, attempts: 1, notBefore: 0) }
    _ = try await scene.store.settle(.answers(BatchAnswers(lease: batch.lease, owed: owed)))
    try scene.application.run(slip)
    let sound = try await scene.enqueue(audience)
    let store = try SQLiteStore(path: scene.fixture.path, clock: { [clock = scene.fixture.clock] in clock.now })
    var served: Set<JobID> = []
    var failed: Job?
    for _ in 0..<4 {
      switch try await store.claim(.from("berta")) {
      case .batch(let batch):
        served.insert(batch.job.id)
        _ = try await store.settle(.answers(batch.delivered()))
      case .ended(let job): failed = job
      case .contended, .nothing: continue
      }
    }
    #expect(served == [sound])
    #expect(failed?.id == garbled)
    #expect(failed?.state == .failed)
    #expect(failed?.error?.detail.contains("cannot be read") == true)
    guard case .jobs(let listed) = try await store.jobs(.list(limit: 10, states: nil)) else { return }
    #expect(listed.map(\.id) == [sound, garbled])
    #expect(listed.map(\.state) == [.completed, .failed])
  }

  @Test func `a garbled batch under way is lost to its worker, whose other batches go on`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(3)
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim()
    try scene.application.run("UPDATE zonai_batches SET rejections = '{'")
    guard case .leaseLost = try await scene.store.settle(.answers(batch.delivered())) else {
      throw TestFailure("a batch that cannot be read was settled")
    }
    #expect(
      try await scene.store.renew(.init(worker: .init(rawValue: "anna"), leases: [batch.lease], leaseMilliseconds: 1))
        .count == 1)
    scene.fixture.advance(milliseconds: 61_000)
    guard case .ended(let ended) = try await scene.claimResult() else { throw TestFailure("the job goes on") }
    #expect(ended.id == job)
    #expect(ended.state == .failed)
  }
}
