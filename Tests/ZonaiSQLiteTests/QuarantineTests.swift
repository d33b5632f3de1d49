import Synchronization
import Testing
import ZonaiCore
import ZonaiThreads

@testable import ZonaiSQL
@testable import ZonaiSQLite

/// A driver of a database that can be away, as servers can.
private final class DistantDriver: SQLDriver {
  private let file: SQLiteDriver
  private let arrival: Mutex<(connectedAt: Int64, uptime: Int64?)>

  init(_ file: SQLiteDriver, uptime: Int64?) {
    self.file = file
    arrival = Mutex((MonotonicClock.milliseconds(), uptime))
  }

  /// The database was away until now.
  func comeBack() { arrival.withLock { $0.connectedAt = MonotonicClock.milliseconds() } }

  var dialect: SQLiteDialect { file.dialect }
  var changes: Int { file.changes }
  var connectedAt: Int64? { arrival.withLock { $0.connectedAt } }
  func uptime(on connection: SQLiteConnection) throws(StoreError) -> Int64? { arrival.withLock { $0.uptime } }
  func wait(after seen: Int, deadline: Int64) async throws(StoreError) {
    try await file.wait(after: seen, deadline: deadline)
  }
  func close() async { await file.close() }
  func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, _ body: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    try await file.transaction(mode, deadline: deadline, body)
  }
}

/// Who takes over what after the database was away.
@Suite(.timeLimit(.minutes(2))) struct QuarantineTests {
  private let scene: SQLiteScene
  private let job: JobID

  init() async throws {
    scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(6)
    job = try await scene.enqueue(Audience("devices", token: "token"))
  }

  private func worker(
    uptime: Int64?, limits: StoreLimits = StoreLimits()
  ) throws -> (SQLStore<DistantDriver>, DistantDriver) {
    let driver = DistantDriver(
      try SQLiteDriver(path: scene.fixture.path, options: SQLiteOptions()), uptime: uptime)
    return (SQLStore(driver: driver, limits: limits, clock: { [clock = scene.fixture.clock] in clock.now }), driver)
  }

  private func nothing(_ store: SQLStore<DistantDriver>) async throws -> Idle {
    guard case .nothing(let idle) = try await store.claim(.from("berta")) else {
      throw TestFailure("something was claimed")
    }
    return idle
  }

  @Test func `within a lease of the server's start nothing is taken over, and the answer says when`() async throws {
    let lost = try await scene.claim("anna", lease: 60_000)
    scene.fixture.advance(milliseconds: 600_000)
    let (store, _) = try worker(uptime: 1_000)
    let idle = try await nothing(store)
    #expect(idle.waitsForLease)
    #expect(idle.leasesElsewhere == 1)
    let due = idle.nextDueInMilliseconds ?? 0
    #expect((54_000...59_000).contains(due))
    // The owner is alive: it renews a lease that nobody took, and settles.
    let renewed = try await scene.store.renew(
      RenewRequest(worker: WorkerID(rawValue: "anna"), leases: [lost.lease], leaseMilliseconds: 60_000))
    #expect(renewed.map(\.isOwned) == [true])
    guard case .committed = try await scene.store.settle(.answers(lost.delivered())) else {
      throw TestFailure("the lease was lost")
    }
    #expect(try await scene.job(job).counts.repeatedByTakeover == 0)
  }

  @Test func `after it the dead are taken over`() async throws {
    _ = try await scene.claim("anna", lease: 60_000)
    scene.fixture.advance(milliseconds: 600_000)
    let (store, _) = try worker(uptime: 1_000)
    _ = try await nothing(store)
    scene.fixture.advance(milliseconds: 60_000)
    guard case .batch(let batch) = try await store.claim(.from("berta")) else { throw TestFailure("no batch") }
    #expect(batch.isTakeover)
  }

  @Test func `what was given back, and new pages, wait for nobody`() async throws {
    let first = try await scene.claim("anna", lease: 60_000)
    _ = try await scene.store.settle(
      .answers(BatchAnswers(lease: first.lease, owed: first.keys.map { OwedRecipient(key: $0, attempts: 1) })))
    let (store, _) = try worker(uptime: 1_000)
    guard case .batch(let batch) = try await store.claim(.from("berta")) else { throw TestFailure("no batch") }
    #expect(!batch.isTakeover)
    #expect(batch.recipients.count == 6)
  }

  @Test func `a worker that came to a server that had been running leaves the others a moment`() async throws {
    _ = try await scene.claim("anna", lease: 60_000)
    scene.fixture.advance(milliseconds: 61_000)
    let (store, _) = try worker(uptime: 86_400_000)
    let due = try await nothing(store).nextDueInMilliseconds ?? 0
    #expect((5_000...15_000).contains(due))
    scene.fixture.advance(milliseconds: 10_000)
    guard case .batch = try await store.claim(.from("berta")) else { throw TestFailure("no batch") }
  }

  @Test func `a short break costs nobody a wait`() async throws {
    let (store, driver) = try worker(uptime: 86_400_000)
    _ = try await scene.claim("anna", lease: 60_000)
    _ = try await nothing(store)
    scene.fixture.advance(milliseconds: 61_000)
    driver.comeBack()
    guard case .batch = try await store.claim(.from("berta")) else { throw TestFailure("no batch") }
  }

  @Test func `a migration does not upgrade the tables under owners that were kept from renewing`() async throws {
    _ = try await scene.claim("anna", lease: 60_000)
    scene.fixture.advance(milliseconds: 600_000)
    var limits = StoreLimits()
    limits.migrating = 50
    var (store, _) = try worker(uptime: 1_000, limits: limits)
    store.steps.append([ZonaiTable(name: "zonai_next", columns: [.integer("id")], primaryKey: ["id"])])
    let newer = store
    let error = await #expect(throws: StoreError.self) { _ = try await newer.migrate() }
    #expect(error?.code == .busy)
    scene.fixture.advance(milliseconds: 60_000)
    #expect(try await newer.migrate() == Migration(from: 1, to: 2))
  }
}
