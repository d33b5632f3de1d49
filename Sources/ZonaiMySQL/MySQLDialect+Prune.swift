import ZonaiCore
import ZonaiSQL

extension MySQLDialect {
  /// Locks the rows that match and that nobody holds; waits once, for a second, for the first of those that somebody holds,
  /// and takes what is free by then; the others stay as they are. Then the policy is carried out on what is locked.
  public func prune(
    _ target: PruneTarget, _ pairs: [Rejection], policy: Policy, on connection: MySQLConnection
  ) throws(StoreError) -> Set<Int> {
    guard policy != .none else { return [] }
    var locked = try numbers(target, pairs, Array(pairs.indices), lock: " FOR UPDATE SKIP LOCKED", connection)
    if locked.count < pairs.count {
      let others = pairs.indices.filter { !locked.contains($0) }
      // As it was committed last: a row that no longer matches is not waited for.
      let held = try numbers(target, pairs, others, lock: "", connection)
      locked.formUnion(try late(target, pairs, held.sorted(), connection))
    }
    let wanted = locked.sorted()
    guard let statement = pruneStatement(target, wanted.map { pairs[$0] }, policy: policy), !wanted.isEmpty else {
      return []
    }
    try connection.run(statement)
    // A trigger may have put the token back, and the count of rows does not tell which.
    let kept = try numbers(target, pairs, wanted, lock: "", connection)
    return locked.subtracting(kept)
  }

  /// The numbers of the pairs among `wanted` that match.
  private func numbers(
    _ target: PruneTarget, _ pairs: [Rejection], _ wanted: [Int], lock: StaticString, _ connection: MySQLConnection
  ) throws(StoreError) -> Set<Int> {
    guard !wanted.isEmpty else { return [] }
    let statement = selectNumbers(target, wanted.map { pairs[$0] }, lock: lock)
    return Set(try connection.all(statement) { row throws(StoreError) in wanted[Int(row.integer(0))] })
  }

  private func late(
    _ target: PruneTarget, _ pairs: [Rejection], _ held: [Int], _ connection: MySQLConnection
  ) throws(StoreError) -> Set<Int> {
    guard let first = held.first else { return [] }
    // Where a wait in vain ends the whole transaction, none is begun.
    if !connection.losesAllOnTimeout {
      _ = try connection.waitingBriefly { () throws(StoreError) in
        try numbers(target, pairs, [first], lock: " FOR UPDATE", connection)
      }
    }
    return try numbers(target, pairs, held, lock: " FOR UPDATE SKIP LOCKED", connection)
  }
}
