import Synchronization
import ZonaiCore
import ZonaiThreads

/// The store over any SQL database that has a driver and a dialect.
///
/// Every method is one short transaction on the driver's own threads; a claim is preceded by a read.
public struct SQLStore<Driver: SQLDriver>: Sendable {
  let driver: Driver
  let limits: StoreLimits
  let clock: (@Sendable () -> Int64)?
  let plans = PlanCache(capacity: 16)
  let hasSeenTables = Seen()
  let slow = SlowJobs()
  let knownNotes = KnownNotes()
  let looks = LastLooks()
  let signsOfLife = SignsOfLife()
  let attendance = Attendance()
  package let crowds = Crowds()
  /// The steps that `migrate` takes; what they end in is the version that this build reads and writes.
  var steps = ZonaiSchema.steps

  /// `clock` takes the place of the database's clock, in milliseconds since 1970: for tests, whose clock is one to turn.
  public init(
    driver: Driver, limits: StoreLimits = StoreLimits(), clock: (@Sendable () -> Int64)? = nil
  ) {
    self.driver = driver
    self.limits = limits
    self.clock = clock
  }

  /// Ends connections and threads.
  public func close() async { await driver.close() }
}

/// How long the store may take, in milliseconds, waiting for locks included.
public struct StoreLimits: Sendable, Hashable {
  /// One transaction that writes. The default, 20 seconds, is a third of a lease: a worker whose settling failed can still
  /// try it again.
  public var writing: Int64 = 20_000
  /// One read. The default, five minutes, lets a page be found that lies far behind rows that the predicate leaves out.
  public var reading: Int64 = 300_000
  /// How long `migrate` waits for the leases of workers at work. Two minutes, twice the default lease.
  public var migrating: Int64 = 120_000

  public init() {}
}

extension SQLStore {
  var dialect: Driver.Dialect { driver.dialect }

  func sql(_ text: SQLText, isReused: Bool = true) -> SQLStatement {
    var builder = SQLBuilder(dialect)
    builder.write(text)
    return builder.statement(isReused: isReused)
  }

  func read<Result: Sendable>(
    _ body: @escaping @Sendable (Driver.Connection) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    try await transaction(.read, deadline: MonotonicClock.milliseconds() + limits.reading, body)
  }

  func write<Result: Sendable>(
    _ body: @escaping @Sendable (Driver.Connection) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    try await transaction(.write, deadline: MonotonicClock.milliseconds() + limits.writing, body)
  }

  func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, _ body: @escaping @Sendable (Driver.Connection) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    let result = try await driver.transaction(mode, deadline: deadline, body)
    attendance.noteContact(connectedAt: driver.connectedAt, at: MonotonicClock.milliseconds())
    return result
  }

  /// The store's time.
  func now(_ connection: Driver.Connection) throws(StoreError) -> Int64 {
    if let clock { return clock() }
    let statement = sql("SELECT \(words: dialect.now)")
    guard let now = try connection.first(statement, { row throws(StoreError) in row.integer(0) }) else {
      throw StoreError(.failed, "the database does not tell the time", statement: statement.text)
    }
    return now
  }

  public func waitForWork(milliseconds: Int64) async throws(StoreError) {
    let changes = driver.changes
    if looks.areBehind(changes) { return }
    try await driver.wait(after: changes, deadline: MonotonicClock.milliseconds() + max(0, milliseconds))
  }
}

/// The looks of this store's workers, for all of them.
final class LastLooks: Sendable {
  private let looks = Mutex(Looks())

  func note(_ worker: WorkerID, seen: Int) { looks.withLock { $0.note(worker, seen: seen) } }
  func forget(_ worker: WorkerID) { looks.withLock { $0.forget(worker) } }
  func areBehind(_ changes: Int) -> Bool { looks.withLock { $0.areBehind(changes) } }
}

extension SQLStore: TokenStore, JobStore, SchemaStore, SecretStore {}
