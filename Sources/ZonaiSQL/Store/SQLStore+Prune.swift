import Synchronization
import ZonaiCore

extension SQLStore {
  /// Carries out what was decided, counts it, and ends the batch.
  ///
  /// A prune that the database refuses is undone alone. Some refusals end the whole transaction (SQLite's
  /// `RAISE(ROLLBACK)`); then it is begun again without the pair that caused it.
  func settle(_ prunes: BatchPrunes) async throws(StoreError) -> SettleResult {
    let caution = PruneCaution(pairsAtOnce: dialect.pairsAtOnce)
    while true {
      do throws(StoreError) {
        return try await write { connection throws(StoreError) in
          caution.begin()
          return try settle(prunes, caution, connection)
        }
      } catch {
        // Rolled back: nothing of it stays.
        if error.code == StoreError.changedHands.code { return .leaseLost }
        guard caution.grew else { throw error }
      }
    }
  }

  private func settle(
    _ prunes: BatchPrunes, _ caution: PruneCaution, _ connection: Driver.Connection
  ) throws(StoreError) -> SettleResult {
    let id = prunes.lease.job
    guard let before = try owned(prunes.lease, connection) else { return .leaseLost }
    let recorded = Dictionary(before.rejections.map { ($0.eventID, $0) }) { first, _ in first }
    var decisions: [(rejection: Rejection, decision: BatchPrunes.Decision)] = []
    for (rejection, decision) in prunes.decisions {
      guard let rejection = recorded[rejection.eventID] else {
        throw StoreError(
          .invalidRequest, "only a rejection that was recorded with its batch's answers can be pruned")
      }
      decisions.append((rejection, decision))
    }

    // Rows of the application first, Zonai's own after them: everybody locks in this order.
    let definition = try definition(id, connection)
    let wanted = decisions.indices.filter { decisions[$0].decision == .followPolicy && definition.policy != .none }
    let pruned = try prune(
      wanted.map { decisions[$0].rejection }, of: id, policy: definition.policy, caution, connection)
    guard var batch = try owned(prunes.lease, connection, lock: dialect.lockClause, before: before) else {
      // Somebody took the batch over while we waited for the rows: what was pruned here must not stay.
      throw StoreError.changedHands
    }
    let outcomes = decisions.map { rejection, decision -> TallyLine.Outcome in
      switch decision {
      case .keep: .kept
      case .spare: .spared
      case .followPolicy where definition.policy == .none: .kept
      case .followPolicy: pruned.done.contains(rejection.eventID) ? .pruned : .spared
      }
    }

    let spared = decisions.indices.filter { outcomes[$0] == .spared }.map { decisions[$0].rejection }
    let causes = try causes(of: spared.filter { pruned.refusals[$0.eventID] == nil }, of: id, connection)
    let now = try checkedNow(connection)
    var lines: [TallyLine] = []
    var added = JobCounts()
    for (index, outcome) in outcomes.enumerated() {
      let rejection = decisions[index].rejection
      let line = TallyLine(
        group: rejection.group, outcome: outcome, evidence: rejection.evidence, reason: rejection.reason,
        detail: pruned.refusals[rejection.eventID].map { SpareCause.refused($0) } ?? causes[rejection.eventID]?.sentence
          ?? "", count: 1)
      lines.append(line)
      added.add(line)
    }
    added.hooksFailed = prunes.hooksFailed
    let settled = Set(decisions.map(\.rejection.eventID))
    batch.rejections.removeAll { settled.contains($0.eventID) }
    try close(batch, of: id, isThrough: true, now, connection)
    try add(lines, recorded: decisions.map(\.rejection), -1, to: id, connection)
    guard var record = try record(id, connection, lock: dialect.lockClause) else { throw missing(id) }
    try add(added, to: &record, connection)
    let job = try completeOrShow(record, now, connection)
    let refusals = decisions.compactMap { pruned.refusals[$0.rejection.eventID] }
    return .committed(Committed(job: job, outcomes: outcomes, refusals: refusals))
  }

  /// What had changed in rows that were spared, by event id; nothing where the audience names no
  /// last-seen column, for then it can only be the token, and nothing for a row that another session held.
  private func causes(
    of spared: [Rejection], of job: JobID, _ connection: Driver.Connection
  ) throws(StoreError) -> [String: SpareCause] {
    guard !spared.isEmpty, let target = plans[job]?.target, target.lastSeen != nil else { return [:] }
    var withoutLastSeen = target
    withoutLastSeen.lastSeen = nil
    var causes: [String: SpareCause] = [:]
    for start in stride(from: 0, to: spared.count, by: dialect.pairsAtOnce) {
      let some = Array(spared[start..<min(spared.count, start + dialect.pairsAtOnce)])
      for rejection in some { causes[rejection.eventID] = .tokenChanged }
      try connection.run(dialect.selectPairs(withoutLastSeen, some)) { row throws(StoreError) in
        causes[some[Int(row.integer(0))].eventID] = .lastSeenChanged
      }
      try connection.run(dialect.selectPairs(target, some)) { row throws(StoreError) in
        causes[some[Int(row.integer(0))].eventID] = nil
      }
    }
    return causes
  }

  // MARK: Rows

  private struct Pruned {
    /// Event ids of the pairs whose row still matched, and was changed.
    var done: Set<String> = []
    /// The database's words, by event id.
    var refusals: [String: String] = [:]
  }

  private func prune(
    _ pairs: [Rejection], of job: JobID, policy: Policy, _ caution: PruneCaution, _ connection: Driver.Connection
  ) throws(StoreError) -> Pruned {
    var pruned = Pruned()
    guard !pairs.isEmpty else { return pruned }
    let target: PruneTarget
    do throws(StoreError) {
      target = try plan(job, connection).target
    } catch {
      guard error.isAboutTheTable else { throw error }
      // The table or a column is gone: no row matches any more.
      let words = error.words(without: [])
      for pair in pairs { pruned.refusals[pair.eventID] = words }
      return pruned
    }
    for pair in pairs { pruned.refusals[pair.eventID] = caution.hopeless[pair.eventID] }
    let left = pairs.filter { caution.hopeless[$0.eventID] == nil }
    for start in stride(from: 0, to: left.count, by: caution.pairsAtOnce) {
      let some = Array(left[start..<min(left.count, start + caution.pairsAtOnce)])
      try prune(some, target, policy, caution, &pruned, connection)
    }
    return pruned
  }

  /// All of them in one statement; if that is refused, one half and then the other, down to the pair that is at fault.
  private func prune(
    _ pairs: [Rejection], _ target: PruneTarget, _ policy: Policy, _ caution: PruneCaution, _ pruned: inout Pruned,
    _ connection: Driver.Connection
  ) throws(StoreError) {
    try connection.run(sql("SAVEPOINT zonai_prune"))
    do throws(StoreError) {
      let done = try dialect.prune(target, pairs, policy: policy, on: connection)
      try connection.checkDeferredConstraints()
      try connection.run(sql("RELEASE SAVEPOINT zonai_prune"))
      for index in done { pruned.done.insert(pairs[index].eventID) }
    } catch {
      let words = error.words(without: pairs)
      guard error.isAboutTheTable, connection.isInTransaction else {
        if error.isAboutTheTable { caution.grow(pairs, words: words) }
        throw error.saying(words, without: pairs)
      }
      try connection.run(sql("ROLLBACK TO SAVEPOINT zonai_prune"))
      try connection.run(sql("RELEASE SAVEPOINT zonai_prune"))
      guard pairs.count > 1 else {
        for pair in pairs { pruned.refusals[pair.eventID] = words }
        return
      }
      let middle = pairs.count / 2
      try prune(Array(pairs[..<middle]), target, policy, caution, &pruned, connection)
      try prune(Array(pairs[middle...]), target, policy, caution, &pruned, connection)
    }
  }
}

/// What was learned from prunes that ended their whole transaction.
private final class PruneCaution: Sendable {
  private struct State {
    var pairsAtOnce: Int
    var hopeless: [String: String] = [:]
    var grew = false
  }

  private let state: Mutex<State>

  init(pairsAtOnce: Int) { state = Mutex(State(pairsAtOnce: pairsAtOnce)) }

  var pairsAtOnce: Int { state.withLock { $0.pairsAtOnce } }
  /// Pairs that are not tried again, with the database's words, by event id.
  var hopeless: [String: String] { state.withLock { $0.hopeless } }
  /// Whether the present attempt taught something, so that another one makes sense.
  var grew: Bool { state.withLock { $0.grew } }

  func begin() { state.withLock { $0.grew = false } }

  /// These pairs ended the transaction. Of several nobody knows which: from now on each goes alone.
  func grow(_ pairs: [Rejection], words: String) {
    state.withLock { state in
      state.grew = true
      if pairs.count > 1 { state.pairsAtOnce = 1 } else { for pair in pairs { state.hopeless[pair.eventID] = words } }
    }
  }
}

extension StoreError {
  fileprivate static let changedHands = StoreError("changedHands", "the batch changed hands while its rows were locked")

  /// What the database said about these rows, or we, where it said nothing.
  fileprivate func words(without rejections: [Rejection]) -> String {
    Rejection.words(databaseWords ?? sentence, without: rejections)
  }

  /// The same error in these words of the database's, if it spoke. The sentence may be made of
  /// them.
  fileprivate func saying(_ words: String, without rejections: [Rejection]) -> StoreError {
    var error = self
    guard databaseWords != nil else { return error }
    error.databaseWords = words
    error.sentence = Rejection.words(sentence, without: rejections)
    return error
  }
}
