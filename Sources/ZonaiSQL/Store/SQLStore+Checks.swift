import ZonaiCore

extension SQLStore {
  public func takeChecks(_ request: CheckBudgetRequest) async throws(StoreError) -> Int {
    try await write { connection throws(StoreError) in
      guard try owned(request.lease, connection) != nil else { return 0 }
      let id = request.lease.job.rawValue
      let budget = sql("SELECT checks_since, checks FROM zonai_jobs WHERE id = \(id)\(words: dialect.lockClause)")
      let stored = try connection.first(budget) { row throws(StoreError) in
        CheckBudget(since: row.integer(0), used: Int(row.integer(1)))
      }
      guard var budget = stored else { return 0 }
      // The clock is read after the lock: another worker may have begun the hour meanwhile.
      let granted = budget.take(request.wanted, now: try checkedNow(connection))
      try connection.run(
        sql("UPDATE zonai_jobs SET checks_since = \(budget.since), checks = \(budget.used) WHERE id = \(id)"))
      return granted
    }
  }
}
