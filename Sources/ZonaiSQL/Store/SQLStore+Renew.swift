import ZonaiCore
import ZonaiThreads

extension SQLStore {
  public func renew(_ request: RenewRequest) async throws(StoreError) -> [RenewedLease] {
    let deadline = MonotonicClock.milliseconds() + limits.writing
    return try await driver.transaction(.renew, deadline: deadline) { connection throws(StoreError) in
      let now = try now(connection)
      let until = now + request.leaseMilliseconds
      var renewed: [RenewedLease] = []
      for lease in request.leases {
        let matched = try connection.run(
          sql(
            """
            UPDATE zonai_batches SET due_at = \(until) WHERE job = \(lease.job.rawValue) AND batch = \(lease.batch)
            AND fence = \(lease.fence) AND worker = \(request.worker.rawValue)
            """))
        // A job that was removed has nothing more to send either.
        let state = try anyRecord(lease.job, connection)?.state ?? .cancelled
        renewed.append(RenewedLease(lease: lease, isOwned: matched > 0, jobState: state))
      }
      try remember(request.worker, now, connection)
      return renewed
    }
  }
}
