import ZonaiCore
import ZonaiSQL
import ZonaiThreads

extension PostgresDialect {
  /// How long a prune waits for rows that the application holds, in milliseconds, all of them together. Less than the second
  /// after which PostgreSQL looks for dead-locks, so that the application is not chosen as the victim of one on our account.
  private static let patience: Int64 = 900

  public func prune(
    _ target: PruneTarget, _ pairs: [Rejection], policy: Policy, on connection: PostgresConnection
  ) throws(StoreError) -> Set<Int> {
    var pruned = try pruneUnlocked(target, pairs, Array(pairs.indices), policy, connection)
    let end = MonotonicClock.milliseconds() + PostgresDialect.patience
    // Whoever is left does not match any more, or is held by somebody: those are tried once more as they are let go.
    while pruned.count < pairs.count {
      let left = try stillMatching(target, pairs, but: pruned, connection)
      guard let first = left.first,
        try waitFor(target, pairs[first], until: end, connection)
      else { break }
      let more = try pruneUnlocked(target, pairs, left, policy, connection)
      // A trigger may let nothing of a change come about.
      if more.isEmpty { break }
      pruned.formUnion(more)
    }
    return pruned
  }

  private func pruneUnlocked(
    _ target: PruneTarget, _ pairs: [Rejection], _ indexes: [Int], _ policy: Policy, _ connection: PostgresConnection
  ) throws(StoreError) -> Set<Int> {
    guard let statement = pruneStatement(target, indexes.map { pairs[$0] }, policy: policy) else { return [] }
    return Set(try connection.all(statement) { row throws(StoreError) in indexes[Int(row.integer(0))] })
  }

  private func stillMatching(
    _ target: PruneTarget, _ pairs: [Rejection], but pruned: Set<Int>, _ connection: PostgresConnection
  ) throws(StoreError) -> [Int] {
    let left = pairs.indices.filter { !pruned.contains($0) }
    let statement = matching(target, left.map { pairs[$0] })
    return try connection.all(statement) { row throws(StoreError) in left[Int(row.integer(0))] }
  }

  /// Locks the row, if it is let go in time. It is ours from then on, or does not match any more.
  private func waitFor(
    _ target: PruneTarget, _ pair: Rejection, until end: Int64, _ connection: PostgresConnection
  ) throws(StoreError) -> Bool {
    let left = end - MonotonicClock.milliseconds()
    guard left > 0 else { return false }
    try connection.run(SQLStatement(text: "SAVEPOINT zonai_lock", values: []))
    do throws(StoreError) {
      try connection.withLockLimit(milliseconds: left) { () throws(StoreError) in
        _ = try connection.run(matching(target, [pair], clause: " FOR UPDATE OF zonai_t"))
      }
      try connection.run(SQLStatement(text: "RELEASE SAVEPOINT zonai_lock", values: []))
      return true
    } catch {
      guard error.code == .busy, !connection.wasVictim else { throw error }
      try connection.run(SQLStatement(text: "ROLLBACK TO SAVEPOINT zonai_lock", values: []))
      try connection.run(SQLStatement(text: "RELEASE SAVEPOINT zonai_lock", values: []))
      return false
    }
  }
}
