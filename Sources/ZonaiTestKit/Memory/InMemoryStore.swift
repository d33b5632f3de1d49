import Synchronization
import ZonaiCore

/// A store in memory that keeps every law of the real ones: for tests of an application, and to show what a store owes.
///
/// Two handles on one `MemoryDatabase` are two workers on one database. Its tables are there from the start; time passes
/// when `database.clock` is turned.
public final class InMemoryStore: TokenStore, JobStore, SchemaStore, SecretStore {
  public let database: MemoryDatabase
  private let looks = Mutex(Looks())
  private let isClosed = Mutex(false)

  /// `isMigrated` says whether Zonai's own tables are there already, as after `migrate`.
  public init(on database: MemoryDatabase = MemoryDatabase(), isMigrated: Bool = true) {
    self.database = database
    if isMigrated { database.setSchemaVersion(MemoryState.currentVersion) }
  }

  /// Ends this handle: what is asked of it later throws `unavailable`.
  public func close() { isClosed.withLock { $0 = true } }

  private func requireOpen() throws(StoreError) {
    guard isClosed.withLock({ $0 }) else { return }
    throw StoreError(.unavailable, "the store was closed: open it again")
  }

  public func claim(_ request: ClaimRequest) async throws(StoreError) -> ClaimResult {
    try requireOpen()
    let changes = database.changes
    let result = try database.transaction(isNews: \.isNews) { (state) throws(StoreError) in try state.claim(request) }
    looks.withLock { looks in
      if result.isNews { looks.forget(request.worker) } else { looks.note(request.worker, seen: changes) }
    }
    return result
  }

  public func renew(_ request: RenewRequest) async throws(StoreError) -> [RenewedLease] {
    try requireOpen()
    // A worker that says that it is there makes no work for anybody.
    return try database.transaction(isNews: { _ in false }) { (state) throws(StoreError) in try state.renew(request) }
  }

  public func inspect(_ request: InspectRequest) async throws(StoreError) -> Inspection {
    try requireOpen()
    return try database.read { (state) throws(StoreError) in try state.inspect(request) }
  }

  public func takeChecks(_ request: CheckBudgetRequest) async throws(StoreError) -> Int {
    try requireOpen()
    return try database.transaction(isNews: { _ in false }) { (state) throws(StoreError) in
      try state.takeChecks(request)
    }
  }

  public func settle(_ settlement: Settlement) async throws(StoreError) -> SettleResult {
    try requireOpen()
    // An attempt that a dead-lock ended leaves nothing behind, and is made again.
    if case .prunes(let prunes) = settlement { while database.undoesAttempt(at: prunes) {} }
    return try database.transaction { (state) throws(StoreError) in try state.settle(settlement) }
  }

  /// Returns with the next change of the database since the last claim of each worker that uses this handle, when the clock was turned far enough, or
  /// when the task is cancelled.
  public func waitForWork(milliseconds: Int64) async throws(StoreError) {
    let changes = database.changes
    if looks.withLock({ $0.areBehind(changes) }) { return }
    await database.waitForChange(after: changes, milliseconds: milliseconds)
  }

  public func enqueue(_ request: EnqueueRequest) async throws(StoreError) -> Enqueued {
    try requireOpen()
    return try database.transaction { (state) throws(StoreError) in try state.enqueue(request) }
  }

  public func jobs(_ query: JobQuery) async throws(StoreError) -> JobListing {
    try requireOpen()
    return try database.read { (state) throws(StoreError) in try state.list(query) }
  }

  public func change(_ change: JobChange) async throws(StoreError) -> ChangeResult {
    try requireOpen()
    return try database.transaction(isNews: \.isNews) { (state) throws(StoreError) in try state.change(change) }
  }

  public func bind(_ request: BindRequest) async throws(StoreError) -> AppBindings {
    try requireOpen()
    return try database.transaction(isNews: { _ in false }) { (state) throws(StoreError) in try state.bind(request) }
  }

  public func rebind(_ request: BindRequest) async throws(StoreError) -> Rebinding {
    try requireOpen()
    return try database.transaction { (state) throws(StoreError) in try state.rebind(request) }
  }

  public func apps() async throws(StoreError) -> [AppAccount] {
    try requireOpen()
    return try database.read { (state) throws(StoreError) in try state.appAccounts() }
  }

  public func migrate() async throws(StoreError) -> Migration {
    try requireOpen()
    return try database.transaction { (state) throws(StoreError) in try state.migrate() }
  }

  public func describe(_ table: TableName) async throws(StoreError) -> TableDescription {
    try requireOpen()
    return try database.read { (state) throws(StoreError) in try state.describe(table) }
  }

  public func exchange(_ offer: SecretOffer) async throws(StoreError) -> SecretAnswer {
    try requireOpen()
    return try database.transaction { (state) throws(StoreError) in try state.exchange(offer) }
  }
}

extension ClaimResult {
  /// Whether a claim changed what other workers may find.
  fileprivate var isNews: Bool { if case .nothing = self { false } else { true } }
}

extension ChangeResult {
  fileprivate var isNews: Bool { if case .removed(0) = self { false } else { true } }
}
