import ZonaiCore

/// Lanes of tests, whose identity says nothing beyond their transport.
extension LaneIdentity {
  /// The transport at a test's server, without an account.
  public static func scripted(_ transport: TransportName) -> LaneIdentity {
    LaneIdentity(transport, host: LaneIdentity.testHost)
  }
}

extension Lane {
  /// A lane of the identity `.scripted(transport)`.
  public init(transport: TransportName, fingerprint: String, retryFloorMilliseconds: Int64 = 0) {
    self.init(
      identity: .scripted(transport), fingerprint: fingerprint, retryFloorMilliseconds: retryFloorMilliseconds)
  }
}

extension ClaimRequest {
  /// A claim of the default app with a scripted lane for each of these transports.
  public init(
    worker: WorkerID, transports: Set<TransportName>, batchSize: Int = 500, firstBatchSize: Int = 50,
    leaseMilliseconds: Int64 = 60_000, only: JobID? = nil
  ) {
    self.init(
      worker: worker, lanes: transports.map(LaneIdentity.scripted), batchSize: batchSize,
      firstBatchSize: firstBatchSize, leaseMilliseconds: leaseMilliseconds, only: only)
  }
}
