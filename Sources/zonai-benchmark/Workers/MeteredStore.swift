import Synchronization
import ZonaiCore

/// The store, with a watch on its calls.
final class MeteredStore: TokenStore, JobStore {
  struct Calls {
    var count = 0
    var nanoseconds: Int64 = 0
  }
  struct Account {
    var claims = Calls()
    var settles = Calls()
    var inspects = Calls()
    /// Claims that somebody else was quicker with.
    var contended = 0
    /// Claims that found nothing to do.
    var idle = 0
  }

  private let store: any Stores.Whole
  private let account = Mutex(Account())

  init(_ store: any Stores.Whole) { self.store = store }

  var calls: Account { account.withLock { $0 } }

  func claim(_ request: ClaimRequest) async throws(StoreError) -> ClaimResult {
    let start = Moment.now()
    let result = try await store.claim(request)
    let spent = Moment.now().wall - start.wall
    account.withLock { account in
      account.claims.add(spent)
      switch result {
      case .contended: account.contended += 1
      case .nothing: account.idle += 1
      case .batch, .ended: break
      }
    }
    return result
  }

  func takeChecks(_ request: CheckBudgetRequest) async throws(StoreError) -> Int {
    try await store.takeChecks(request)
  }

  func settle(_ settlement: Settlement) async throws(StoreError) -> SettleResult {
    let start = Moment.now()
    let result = try await store.settle(settlement)
    let spent = Moment.now().wall - start.wall
    account.withLock { $0.settles.add(spent) }
    return result
  }

  func inspect(_ request: InspectRequest) async throws(StoreError) -> Inspection {
    let start = Moment.now()
    let result = try await store.inspect(request)
    let spent = Moment.now().wall - start.wall
    account.withLock { $0.inspects.add(spent) }
    return result
  }

  func renew(_ request: RenewRequest) async throws(StoreError) -> [RenewedLease] { try await store.renew(request) }
  func waitForWork(milliseconds: Int64) async throws(StoreError) {
    try await store.waitForWork(milliseconds: milliseconds)
  }
  func enqueue(_ request: EnqueueRequest) async throws(StoreError) -> Enqueued { try await store.enqueue(request) }
  func jobs(_ query: JobQuery) async throws(StoreError) -> JobListing { try await store.jobs(query) }
  func change(_ change: JobChange) async throws(StoreError) -> ChangeResult { try await store.change(change) }
  func bind(_ request: BindRequest) async throws(StoreError) -> AppBindings { try await store.bind(request) }
  func rebind(_ request: BindRequest) async throws(StoreError) -> Rebinding { try await store.rebind(request) }
  func apps() async throws(StoreError) -> [AppAccount] { try await store.apps() }
}

extension MeteredStore.Calls {
  fileprivate mutating func add(_ spent: Int64) {
    count += 1
    nanoseconds += spent
  }
}
