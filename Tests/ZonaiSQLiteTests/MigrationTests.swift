import Synchronization
import Testing
import ZonaiCore
import ZonaiSQLite

@testable import ZonaiSQL

/// What an upgrade of Zonai's own tables will do, shown with a step that no release has.
@Suite(.timeLimit(.minutes(2))) struct MigrationTests {
  private static let next = ZonaiTable(
    name: "zonai_next", columns: [.integer("id"), .optionalText("note")], primaryKey: ["id"])

  private func newer(
    _ scene: SQLiteScene, waits: Int64 = 50, asked: @escaping @Sendable () -> Void = {}
  ) throws -> SQLiteStore {
    var options = SQLiteOptions()
    options.limits.migrating = waits
    var store = try SQLiteStore(
      path: scene.fixture.path, options: options,
      clock: { [clock = scene.fixture.clock] in
        asked()
        return clock.now
      })
    store.steps.append([Self.next])
    return store
  }

  @Test func `an upgrade adds what is new, keeps what is there, and shuts old workers out`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(1)
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    let newer = try newer(scene)
    let error = await #expect(throws: StoreError.self) { _ = try await newer.claim(.from("anna")) }
    #expect(error?.code == .schemaVersion)
    #expect(try await newer.migrate() == Migration(from: 1, to: 2))
    #expect(try await newer.migrate() == Migration(from: 2, to: 2))
    #expect(try scene.application.first("SELECT COUNT(*) FROM zonai_next") == 0)
    guard case .batch(let batch) = try await newer.claim(.from("anna")) else { throw TestFailure("no batch") }
    #expect(batch.job.id == job)
    let shutOut = await #expect(throws: StoreError.self) { _ = try await scene.claimResult() }
    #expect(shutOut?.code == .schemaVersion)
  }

  @Test func `an upgrade waits for the leases of workers, and not for the dead`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(1)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    _ = try await scene.claim(lease: 60_000)
    // The store asks for the time once for each look at the leases.
    let looks = Looks()
    let newer = try newer(scene) { looks.count.add(1, ordering: .relaxed) }
    let error = await #expect(throws: StoreError.self) { _ = try await newer.migrate() }
    #expect(error?.code == .busy)
    #expect(looks.count.load(ordering: .relaxed) < 20, "it goes round and round")
    #expect(try scene.application.first("SELECT version FROM zonai_meta") == 1)
    scene.fixture.advance(milliseconds: 60_001)
    #expect(try await newer.migrate() == Migration(from: 1, to: 2))
  }

  @Test func `two upgrades at once wait for the same lease, and one of them does it`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(1)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim(lease: 60_000)
    let (asked, looked) = AsyncStream<Void>.makeStream()
    let migrations = try await withThrowingTaskGroup(of: Migration.self) { group in
      for _ in 0..<2 {
        let store = try newer(scene, waits: 100_000) { looked.yield() }
        group.addTask { try await store.migrate() }
      }
      // Both have seen the lease; its owner settles, and that ends it.
      var looks = asked.makeAsyncIterator()
      for _ in 0..<2 { await looks.next() }
      #expect(try scene.application.first("SELECT version FROM zonai_meta") == 1)
      guard case .committed = try await scene.store.settle(.answers(batch.delivered())) else {
        throw TestFailure("the lease was lost")
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(migrations.map(\.from).sorted() == [1, 2])
  }

  @Test func `a worker that is late behind an upgrade commits nothing, and its batch is taken over`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(3)
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    let late = try await scene.claim(lease: 60_000)
    scene.fixture.advance(milliseconds: 60_001)
    let newer = try newer(scene)
    #expect(try await newer.migrate() == Migration(from: 1, to: 2))
    let renewal = RenewRequest(worker: WorkerID(rawValue: "anna"), leases: [late.lease], leaseMilliseconds: 60_000)
    let calls: [(String, () async throws -> Void)] = [
      ("answers", { _ = try await scene.store.settle(.answers(late.delivered())) }),
      ("a renewal", { _ = try await scene.store.renew(renewal) }),
      ("a failure", { _ = try await scene.store.change(.fail(late.lease, JobFailure(.message, "no"))) }),
    ]
    for (name, call) in calls {
      let error = await #expect(throws: StoreError.self, "\(name)") { try await call() }
      #expect(error?.code == .schemaVersion, "\(name)")
    }
    guard case .job(let before?) = try await newer.jobs(.one(job)) else { return }
    #expect(before.counts.settled == 0)
    guard case .batch(let taken) = try await newer.claim(.from("berta")) else { throw TestFailure("no batch") }
    #expect(taken.isTakeover)
    #expect(taken.recipients.count == 3)
  }

  @Test func `a step that was interrupted may be run again`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    let newer = try newer(scene)
    // The table of the step is there, its version is not.
    for statement in Self.next.statements(SQLiteDialect()) { try scene.application.run(statement.text) }
    #expect(try await newer.migrate() == Migration(from: 1, to: 2))
  }

  @Test func `two that migrate at once are one`() async throws {
    let fixture = try SQLiteFixture()
    let stores = [try fixture.open(), try fixture.open(), try fixture.open()]
    let migrations = try await withThrowingTaskGroup(of: Migration.self) { group in
      for store in stores { group.addTask { try await store.migrate() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(migrations.map(\.from).sorted() == [0, 1, 1])
  }
}

private final class Looks: Sendable {
  let count = Atomic(0)
}
