import ZonaiCore

/// What transactions of the application do to those of the store.
extension MemoryDatabase {
  /// How a transaction of the application that holds rows goes on.
  public enum LockEnd: Sendable {
    /// It stays until `unlock`.
    case never
    /// It commits once a store waits for one of its rows. With `crossing` it changes rows of that value first, crosswise to
    /// the store, and has its way: the store's attempt is undone.
    case commit(crossing: Value?, set: [String: Value])
  }

  /// Holds such rows as an open transaction of the application does, until `unlock` or until it goes on by itself.
  public func lock(
    _ table: TableName, where column: String, is value: Value, untilWaitedFor end: LockEnd = .never
  ) -> MemoryRowLock {
    let lock = MemoryRowLock(id: clock.makeSleeper())
    change { $0.locks.append(MemoryState.RowLock(id: lock.id, table: table, column: column, value: value, end: end)) }
    return lock
  }

  public func unlock(_ lock: MemoryRowLock) {
    change { state in
      guard let index = state.locks.firstIndex(where: { $0.id == lock.id }) else { return }
      state.goOn(state.locks.remove(at: index))
    }
  }

  /// The next `times` prunes of such rows are undone with all that came with them, as those of a dead-lock's victim.
  public func raiseConflicts(on table: TableName, where column: String, is value: Value, times: Int) {
    change {
      $0.conflicts.append(MemoryState.RowConflict(table: table, column: column, value: value, left: times))
    }
  }

  /// Lets the transactions of the application go on that hold what is to be pruned, and says whether that undid the store's
  /// attempt, which is then to be made again.
  func undoesAttempt(at prunes: BatchPrunes) -> Bool {
    change { state in
      guard let job = state.job(of: prunes.lease), job.definition.policy != .none else { return false }
      var isUndone = false
      for (rejection, decision) in prunes.decisions where decision == .followPolicy {
        let table = job.audience.table
        guard let row = state.row(of: rejection, in: job.audience) else { continue }
        for (index, lock) in state.locks.enumerated().reversed()
        where lock.table == table && state.holds(table, row, lock.column, lock.value) {
          guard case .commit(let crossing, _) = lock.end else { continue }
          state.goOn(state.locks.remove(at: index))
          if crossing != nil { isUndone = true }
        }
        for (index, conflict) in state.conflicts.enumerated()
        where conflict.left > 0 && conflict.table == table && state.holds(table, row, conflict.column, conflict.value) {
          state.conflicts[index].left -= 1
          return true
        }
      }
      return isUndone
    }
  }
}

/// Rows that the application holds.
public struct MemoryRowLock: Sendable {
  let id: Int
}

extension MemoryState {
  struct RowLock: Sendable {
    var id: Int
    var table: TableName
    var column: String
    var value: Value
    var end: MemoryDatabase.LockEnd
  }

  struct RowConflict: Sendable {
    var table: TableName
    var column: String
    var value: Value
    var left: Int
  }

  fileprivate func job(of lease: BatchLease) -> MemoryJob? { index(of: lease.job).map { jobs[$0] } }

  /// The application's transaction does what it still wanted to.
  fileprivate mutating func goOn(_ lock: RowLock) {
    guard case .commit(let crossing, let set) = lock.end else { return }
    guard let crossing else { return }
    for value in [lock.value, crossing] { update(lock.table, where: lock.column, is: value, set: set) }
  }
}
