import Testing
import ZonaiCore

@testable import ZonaiTestKit

/// One mistake that a store can make, as what it does in place of the sound store beneath it.
struct Flaw: Sendable {
  let name: String
  var claim: (@Sendable (InMemoryStore, ClaimRequest) async throws(StoreError) -> ClaimResult)?
  var renew: (@Sendable (InMemoryStore, RenewRequest) async throws(StoreError) -> [RenewedLease])?
  var inspect: (@Sendable (InMemoryStore, InspectRequest) async throws(StoreError) -> Inspection)?
  var takeChecks: (@Sendable (InMemoryStore, CheckBudgetRequest) async throws(StoreError) -> Int)?
  var settle: (@Sendable (InMemoryStore, Settlement) async throws(StoreError) -> SettleResult)?
  var wait: (@Sendable (InMemoryStore, Int64) async throws(StoreError) -> Void)?
  var enqueue: (@Sendable (InMemoryStore, EnqueueRequest) async throws(StoreError) -> Enqueued)?
  var jobs: (@Sendable (InMemoryStore, JobQuery) async throws(StoreError) -> JobListing)?
  var bind: (@Sendable (InMemoryStore, BindRequest) async throws(StoreError) -> AppBindings)?
  var rebind: (@Sendable (InMemoryStore, BindRequest) async throws(StoreError) -> Rebinding)?
  var apps: (@Sendable (InMemoryStore) async throws(StoreError) -> [AppAccount])?
  var change: (@Sendable (InMemoryStore, JobChange) async throws(StoreError) -> ChangeResult)?
  var migrate: (@Sendable (InMemoryStore) async throws(StoreError) -> Migration)?
  var describe: (@Sendable (InMemoryStore, TableName) async throws(StoreError) -> TableDescription)?
  var exchange: (@Sendable (InMemoryStore, SecretOffer) async throws(StoreError) -> SecretAnswer)?
  var close: (@Sendable (InMemoryStore) -> Void)?

  init(_ name: String, _ break: (inout Flaw) -> Void) {
    self.name = name
    `break`(&self)
  }

  static let all: [Flaw] =
    paging + keys + audience + names + tokens + padding + notes + refusals + predicates + values + claiming + sharing
    + leases + takeovers + settling + owing + pruning + sparing + locks + altering + witnesses + weighing + enqueueing
    + recording + life + lists + apps
}

/// A store with one flaw.
final class BrokenStore: TokenStore, JobStore, SchemaStore, SecretStore {
  let sound: InMemoryStore
  let flaw: Flaw

  init(_ sound: InMemoryStore, _ flaw: Flaw) {
    self.sound = sound
    self.flaw = flaw
  }

  func claim(_ request: ClaimRequest) async throws(StoreError) -> ClaimResult {
    if let claim = flaw.claim { try await claim(sound, request) } else { try await sound.claim(request) }
  }

  func renew(_ request: RenewRequest) async throws(StoreError) -> [RenewedLease] {
    if let renew = flaw.renew { try await renew(sound, request) } else { try await sound.renew(request) }
  }

  func inspect(_ request: InspectRequest) async throws(StoreError) -> Inspection {
    if let inspect = flaw.inspect { try await inspect(sound, request) } else { try await sound.inspect(request) }
  }

  func takeChecks(_ request: CheckBudgetRequest) async throws(StoreError) -> Int {
    if let take = flaw.takeChecks { try await take(sound, request) } else { try await sound.takeChecks(request) }
  }

  func settle(_ settlement: Settlement) async throws(StoreError) -> SettleResult {
    if let settle = flaw.settle { try await settle(sound, settlement) } else { try await sound.settle(settlement) }
  }

  /// Never waits, unless that is the flaw: a broken store may have nothing to wake anybody with.
  func waitForWork(milliseconds: Int64) async throws(StoreError) {
    if let wait = flaw.wait { try await wait(sound, milliseconds) } else { await Task.yield() }
  }

  func enqueue(_ request: EnqueueRequest) async throws(StoreError) -> Enqueued {
    if let enqueue = flaw.enqueue { try await enqueue(sound, request) } else { try await sound.enqueue(request) }
  }

  func jobs(_ query: JobQuery) async throws(StoreError) -> JobListing {
    if let jobs = flaw.jobs { try await jobs(sound, query) } else { try await sound.jobs(query) }
  }

  func change(_ change: JobChange) async throws(StoreError) -> ChangeResult {
    if let flawed = flaw.change { try await flawed(sound, change) } else { try await sound.change(change) }
  }

  func bind(_ request: BindRequest) async throws(StoreError) -> AppBindings {
    if let bind = flaw.bind { try await bind(sound, request) } else { try await sound.bind(request) }
  }

  func rebind(_ request: BindRequest) async throws(StoreError) -> Rebinding {
    if let rebind = flaw.rebind { try await rebind(sound, request) } else { try await sound.rebind(request) }
  }

  func apps() async throws(StoreError) -> [AppAccount] {
    if let apps = flaw.apps { try await apps(sound) } else { try await sound.apps() }
  }

  func migrate() async throws(StoreError) -> Migration {
    if let migrate = flaw.migrate { try await migrate(sound) } else { try await sound.migrate() }
  }

  func describe(_ table: TableName) async throws(StoreError) -> TableDescription {
    if let describe = flaw.describe { try await describe(sound, table) } else { try await sound.describe(table) }
  }

  func exchange(_ offer: SecretOffer) async throws(StoreError) -> SecretAnswer {
    if let exchange = flaw.exchange { try await exchange(sound, offer) } else { try await sound.exchange(offer) }
  }
}

/// The in-memory fixture, whose handles have a flaw.
struct BrokenFixture: StoreFixture {
  let memory = MemoryFixture()
  let flaw: Flaw

  var capabilities: StoreCapabilities { memory.capabilities }

  func open() async throws -> BrokenStore { BrokenStore(try await memory.open(), flaw) }
  func close(_ store: BrokenStore) async {
    if let close = flaw.close { close(store.sound) } else { await memory.close(store.sound) }
  }
  func create(_ table: TableSketch) async throws { try await memory.create(table) }
  func drop(_ table: TableName) async throws { try await memory.drop(table) }
  func alter(_ table: TableName, _ change: TableChange) async throws { try await memory.alter(table, change) }
  func insert(_ rows: [[String: Value]], into table: TableName) async throws {
    try await memory.insert(rows, into: table)
  }
  func update(_ table: TableName, where column: String, is value: Value, set: [String: Value]) async throws {
    try await memory.update(table, where: column, is: value, set: set)
  }
  func delete(from table: TableName, where column: String, is value: Value) async throws {
    try await memory.delete(from: table, where: column, is: value)
  }
  func rows(of table: TableName) async throws -> [[String: Value]] { try await memory.rows(of: table) }
  func refuseChanges(of table: TableName, where column: String, is value: Value, words: String) async throws {
    try await memory.refuseChanges(of: table, where: column, is: value, words: words)
  }
  func refuseChanges(of table: TableName, quoting column: String) async throws {
    try await memory.refuseChanges(of: table, quoting: column)
  }
  func whileLocked(
    _ table: TableName, where column: String, is value: Value, _ body: @Sendable () async throws -> Void
  ) async throws {
    try await memory.whileLocked(table, where: column, is: value, body)
  }
  func whileLockedUntilWaitedFor(
    _ table: TableName, where column: String, is value: Value, then other: Value?, set: [String: Value],
    _ body: @Sendable () async throws -> Void
  ) async throws {
    try await memory.whileLockedUntilWaitedFor(table, where: column, is: value, then: other, set: set, body)
  }
  func raiseConflicts(on table: TableName, where column: String, is value: Value, times: Int) async throws {
    try await memory.raiseConflicts(on: table, where: column, is: value, times: times)
  }
  func garble(_ job: JobID) async throws { try await memory.garble(job) }
  func advance(milliseconds: Int64) async throws { try await memory.advance(milliseconds: milliseconds) }
  func pretendNewerSchema(by builds: Int) async throws { try await memory.pretendNewerSchema(by: builds) }
}
