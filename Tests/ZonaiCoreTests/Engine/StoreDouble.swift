import Synchronization
import ZonaiCore
import ZonaiTestKit
import ZonaiThreads

/// A store that fails when it is told to, and counts what it is asked.
final class StoreDouble: TokenStore, JobStore {
  typealias Call = ZonaiEvent.StoreCall

  private struct State {
    var calls: [Call: Int] = [:]
    var failures: [Call: [StoreError]] = [:]
    var contentions = 0
    var searching: (@Sendable () -> Void)?
    var claimed = 0
    var mostClaimed = 0
    var sizes: [BatchLease: Int] = [:]
  }

  private let store: InMemoryStore
  private let state = Monitor(State())
  private let waiting = Mutex<[(call: Call, count: Int, wake: CheckedContinuation<Void, Never>)]>([])

  init(_ store: InMemoryStore) { self.store = store }

  /// The most recipients that were claimed and not settled at once.
  var mostClaimed: Int { state.withLock { $0.mostClaimed } }

  func count(_ call: Call) -> Int { state.withLock { $0.calls[call] ?? 0 } }

  /// The next calls fail with these, one each.
  func fail(_ call: Call, with errors: [StoreError]) {
    state.change { $0.failures[call, default: []] += errors }
  }

  func stopFailing(_ call: Call) { state.change { $0.failures[call] = nil } }

  /// The next claims find that somebody else was quicker.
  func contend(times: Int) { state.change { $0.contentions = times } }

  /// The next claim does this before it writes, and says that its lease began after it.
  func search(_ body: @escaping @Sendable () -> Void) { state.change { $0.searching = body } }

  /// Returns once the call was made, and answered, so many times.
  func wait(for call: Call, count: Int) async {
    await withCheckedContinuation { continuation in
      waiting.withLock { $0.append((call, count, continuation)) }
      wake(call, self.count(call))
    }
  }

  /// The same for a thread that may block.
  func block(for call: Call, count: Int) { _ = state.wait { ($0.calls[call] ?? 0) >= count ? true : nil } }

  private func wake(_ call: Call, _ count: Int) {
    let reached = waiting.withLock { waiting in
      let reached = waiting.filter { $0.call == call && $0.count <= count }
      waiting.removeAll { $0.call == call && $0.count <= count }
      return reached.map(\.wake)
    }
    for continuation in reached { continuation.resume() }
  }

  private func called(_ call: Call) {
    let count = state.change { state in
      state.calls[call, default: 0] += 1
      return state.calls[call] ?? 0
    }
    wake(call, count)
  }

  private func throwIfTold(_ call: Call) throws(StoreError) {
    let error = state.withLock { state -> StoreError? in
      guard let failures = state.failures[call], !failures.isEmpty else { return nil }
      return state.failures[call]?.removeFirst()
    }
    if let error { throw error }
  }

  // MARK: The store

  func claim(_ request: ClaimRequest) async throws(StoreError) -> ClaimResult {
    defer { called(.claim) }
    try throwIfTold(.claim)
    let isContended = state.withLock { state in
      state.contentions -= 1
      return state.contentions >= 0
    }
    if isContended { return .contended }
    let searching = state.withLock { state in
      defer { state.searching = nil }
      return state.searching
    }
    searching?()
    var result = try await store.claim(request)
    if case .batch(var batch) = result {
      if searching != nil {
        batch.ageMilliseconds = 0
        result = .batch(batch)
      }
      state.withLock { state in
        state.claimed += batch.recipients.count
        state.mostClaimed = max(state.mostClaimed, state.claimed)
        state.sizes[batch.lease] = batch.recipients.count
      }
    }
    return result
  }

  func settle(_ settlement: Settlement) async throws(StoreError) -> SettleResult {
    defer { called(.settle) }
    try throwIfTold(.settle)
    let result = try await store.settle(settlement)
    if case .answers(let answers) = settlement {
      state.withLock { $0.claimed -= $0.sizes.removeValue(forKey: answers.lease) ?? 0 }
    }
    return result
  }

  func renew(_ request: RenewRequest) async throws(StoreError) -> [RenewedLease] {
    defer { called(.renew) }
    try throwIfTold(.renew)
    return try await store.renew(request)
  }

  func inspect(_ request: InspectRequest) async throws(StoreError) -> Inspection {
    defer { called(.inspect) }
    try throwIfTold(.inspect)
    return try await store.inspect(request)
  }

  func takeChecks(_ request: CheckBudgetRequest) async throws(StoreError) -> Int {
    try await store.takeChecks(request)
  }

  func waitForWork(milliseconds: Int64) async throws(StoreError) {
    try await store.waitForWork(milliseconds: milliseconds)
  }
  func enqueue(_ request: EnqueueRequest) async throws(StoreError) -> Enqueued { try await store.enqueue(request) }
  func jobs(_ query: JobQuery) async throws(StoreError) -> JobListing { try await store.jobs(query) }
  func change(_ change: JobChange) async throws(StoreError) -> ChangeResult { try await store.change(change) }
  func bind(_ request: BindRequest) async throws(StoreError) -> AppBindings {
    defer { called(.bind) }
    try throwIfTold(.bind)
    return try await store.bind(request)
  }
  func rebind(_ request: BindRequest) async throws(StoreError) -> Rebinding { try await store.rebind(request) }
  func apps() async throws(StoreError) -> [AppAccount] { try await store.apps() }
}
