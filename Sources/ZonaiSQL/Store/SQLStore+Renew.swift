import ZonaiCore
import ZonaiThreads

extension SQLStore {
  public func renew(_ request: RenewRequest) async throws(StoreError) -> [RenewedLease] {
    try await transaction(.renew, deadline: MonotonicClock.milliseconds() + limits.writing) {
      connection throws(StoreError) in
      let now = try checkedNow(connection)
      let until = now + request.leaseMilliseconds
      var renewed: [BatchLease: RenewedLease] = [:]
      // Who locks several rows does it in their order: two that went crosswise would wait for each other.
      for lease in request.leases.sorted(by: { ($0.job.rawValue, $0.batch) < ($1.job.rawValue, $1.batch) }) {
        let matched = try connection.run(
          sql(
            """
            UPDATE zonai_batches SET due_at = \(until) WHERE job = \(lease.job.rawValue) AND batch = \(lease.batch)
            AND fence = \(lease.fence) AND worker = \(request.worker.rawValue)
            """))
        // A job that was removed has nothing more to send either.
        let state = try anyRecord(lease.job, connection)?.state ?? .cancelled
        renewed[lease] = RenewedLease(lease: lease, isOwned: matched > 0, jobState: state)
      }
      if request.isLast {
        try forget(request.worker, connection)
      } else {
        try remember(
          request.worker, of: request.app, request.status, lease: request.leaseMilliseconds, now, connection)
      }
      return request.leases.compactMap { renewed[$0] }
    }
  }
}
