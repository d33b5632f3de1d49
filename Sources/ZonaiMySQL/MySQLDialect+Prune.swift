import ZonaiCore
import ZonaiSQL
import ZonaiThreads

extension MySQLDialect {
  /// How long a prune waits for rows that the application holds, in milliseconds, all of them together. The last wait may
  /// end a second later: these servers count whole ones.
  private static let patience: Int64 = 1500

  /// Locks the rows that match: first those that nobody holds, then, for a while, those that are let go meanwhile. The
  /// others stay as they are. Then the policy is carried out on what is locked.
  public func prune(
    _ target: PruneTarget, _ pairs: [Rejection], policy: Policy, on connection: MySQLConnection
  ) throws(StoreError) -> Set<Int> {
    guard policy != .none else { return [] }
    var locked = try numbers(target, pairs, Array(pairs.indices), lock: .skipping, connection)
    let end = MonotonicClock.milliseconds() + MySQLDialect.patience
    while locked.count < pairs.count {
      // As it was committed last: a row that no longer matches is not waited for.
      let others = pairs.indices.filter { !locked.contains($0) }
      let held = try numbers(target, pairs, others, lock: .none, connection).sorted()
      guard let first = held.first else { break }
      let isFree = try wait(for: first, target, pairs, until: end, connection)
      locked.formUnion(try numbers(target, pairs, held, lock: .skipping, connection))
      if !isFree { break }
    }
    let wanted = locked.sorted()
    guard let statement = pruneStatement(target, wanted.map { pairs[$0] }, policy: policy), !wanted.isEmpty else {
      return []
    }
    try connection.run(statement)
    // A trigger may have put the token back, and the count of rows does not tell which.
    let kept = try numbers(target, pairs, wanted, lock: .none, connection)
    return locked.subtracting(kept)
  }

  private enum RowLock {
    case none, skipping, waiting

    var clause: StaticString {
      switch self {
      case .none: ""
      case .skipping: " FOR UPDATE SKIP LOCKED"
      case .waiting: " FOR UPDATE"
      }
    }
  }

  /// The numbers of the pairs among `wanted` that match.
  private func numbers(
    _ target: PruneTarget, _ pairs: [Rejection], _ wanted: [Int], lock: RowLock, _ connection: MySQLConnection
  ) throws(StoreError) -> Set<Int> {
    guard !wanted.isEmpty else { return [] }
    let statement = selectNumbers(target, wanted.map { pairs[$0] }, lock: lock.clause)
    return Set(try connection.all(statement) { row throws(StoreError) in wanted[Int(row.integer(0))] })
  }

  /// Whether the row was let go in time. It is ours from then on, or does not match any more.
  private func wait(
    for number: Int, _ target: PruneTarget, _ pairs: [Rejection], until end: Int64, _ connection: MySQLConnection
  ) throws(StoreError) -> Bool {
    // Where a wait in vain ends the whole transaction, none is begun.
    guard !connection.losesAllOnTimeout, MonotonicClock.milliseconds() < end else { return false }
    let waited = try connection.waitingBriefly { () throws(StoreError) in
      try numbers(target, pairs, [number], lock: .waiting, connection)
    }
    return waited != nil
  }
}
