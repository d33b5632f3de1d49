/// What a worker needs of a store. Every method is one transaction (a claim may be preceded by reads), and every change is
/// guarded by the batch's fence: a worker that lost its lease commits nothing.
///
/// All times are the store's own clock; callers pass and receive durations, and moments that the store gave them.
public protocol TokenStore: Sendable {
  /// Hands out the next batch that this worker can serve: of the job least recently claimed from, what is owed and due or
  /// was left by a dead worker first, then its next page.
  func claim(_ request: ClaimRequest) async throws(StoreError) -> ClaimResult

  /// Extends the leases of batches that are alive, and tells which of their jobs were stopped. Also how a worker says that
  /// it is there, with leases or without, and that it goes.
  func renew(_ request: RenewRequest) async throws(StoreError) -> [RenewedLease]

  /// Reads what a decision needs: the witnesses of a batch's groups before its first settling, the rows of its rejections
  /// after it.
  func inspect(_ request: InspectRequest) async throws(StoreError) -> Inspection

  /// Counts checks in the other environment before they are made, and says how many of them may be:
  /// what is left of `CheckBudgetRequest.perJobAndHour`; 0 when another worker owns the batch.
  func takeChecks(_ request: CheckBudgetRequest) async throws(StoreError) -> Int

  /// Commits one step of a batch: its answers, then what was done about its rejections.
  func settle(_ settlement: Settlement) async throws(StoreError) -> SettleResult

  /// Returns when there may be new work since the last claim of each worker of this store, or after `milliseconds` at the
  /// latest.
  func waitForWork(milliseconds: Int64) async throws(StoreError)
}

/// The name of a worker, for people who list them: host, process, and a random part.
public struct WorkerID: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public var description: String { rawValue }
}

/// One batch of one job, as its owner names it. The fence rises with every claim of the batch.
public struct BatchLease: Sendable, Hashable {
  public let job: JobID
  public let batch: Int64
  public let fence: Int64

  public init(job: JobID, batch: Int64, fence: Int64) {
    self.job = job
    self.batch = batch
    self.fence = fence
  }
}
