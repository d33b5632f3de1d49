import ZonaiCore

@testable import ZonaiTestKit

/// What flaws are made of: changes of the store's state, of its answers, and of what it is asked.
extension InMemoryStore {
  func tamper(_ body: (inout MemoryState) -> Void) throws(StoreError) {
    try database.transaction { (state) throws(StoreError) in body(&state) }
  }

  func state() throws(StoreError) -> MemoryState {
    try database.read { (state) throws(StoreError) in state }
  }
}

extension MemoryState {
  /// Changes every open batch of every job.
  mutating func eachBatch(_ body: (inout MemoryBatch, MemoryJob) -> Void) {
    for job in jobs.indices {
      for number in jobs[job].batches.keys {
        guard var batch = jobs[job].batches[number] else { continue }
        body(&batch, jobs[job])
        jobs[job].batches[number] = batch
      }
    }
  }

  mutating func eachJob(_ body: (inout MemoryJob) -> Void) {
    for job in jobs.indices { body(&jobs[job]) }
  }

  /// Gives the rows that some rejections speak of other values before they are pruned.
  mutating func eachRow(
    of prunes: BatchPrunes, _ body: (inout MemoryTable, _ row: Int, Rejection, Audience) -> Void
  ) {
    guard let job = index(of: prunes.lease.job) else { return }
    let audience = jobs[job].audience
    for (rejection, decision) in prunes.decisions where decision == .followPolicy {
      guard let row = tables[audience.table]?.find(rejection.key, by: audience.key),
        var table = tables[audience.table]
      else { continue }
      body(&table, row, rejection, audience)
      tables[audience.table] = table
    }
  }
}

extension Recipients {
  /// The recipients for which `isKept` holds, changed by `change`.
  func rebuilt(
    where isKept: (RowKey) -> Bool = { _ in true }, keeping isToken: (String) -> Bool = { _ in true },
    key newKey: (RowKey) -> RowKey = { $0 }, token change: (String) -> String = { $0 },
    platform: (Platform) -> Platform = { $0 }, lastSeen: (Value?) -> Value? = { $0 }
  ) -> Recipients {
    var rebuilt = Recipients(tokenColumn: tokenColumn)
    for index in 0..<count where isKept(keys[index]) && isToken(tokens.token(index).text) {
      rebuilt.append(
        key: newKey(keys[index]), token: change(tokens.token(index).text), platform: platform(self.platform(index)),
        lastSeen: lastSeen(self.lastSeen(index)))
    }
    return rebuilt
  }
}

extension Flaw {
  /// Changes the batches that are claimed.
  static func onClaim(_ name: String, _ change: @escaping @Sendable (inout ClaimedBatch) -> Void) -> Flaw {
    Flaw(name) { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let result = try await store.claim(request)
        guard case .batch(var batch) = result else { return result }
        change(&batch)
        return .batch(batch)
      }
    }
  }

  /// Changes what a claim asks for.
  static func onRequest(_ name: String, _ change: @escaping @Sendable (inout ClaimRequest) -> Void) -> Flaw {
    Flaw(name) { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        var request = request
        change(&request)
        return try await store.claim(request)
      }
    }
  }

  /// Changes the store's state before every claim.
  static func beforeClaim(_ name: String, _ change: @escaping @Sendable (inout MemoryState) -> Void) -> Flaw {
    Flaw(name) { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        try store.tamper(change)
        return try await store.claim(request)
      }
    }
  }

  /// Changes the state after a claim.
  static func afterClaim(
    _ name: String, _ change: @escaping @Sendable (inout MemoryState, ClaimedBatch) -> Void
  ) -> Flaw {
    Flaw(name) { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let result = try await store.claim(request)
        if case .batch(let batch) = result { try store.tamper { change(&$0, batch) } }
        return result
      }
    }
  }

  /// Changes what is settled.
  static func onAnswers(_ name: String, _ change: @escaping @Sendable (inout BatchAnswers) -> Void) -> Flaw {
    Flaw(name) { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .answers(var answers) = settlement else { return try await store.settle(settlement) }
        change(&answers)
        return try await store.settle(.answers(answers))
      }
    }
  }

  /// Changes the state before a prune.
  static func beforePrune(
    _ name: String, _ change: @escaping @Sendable (inout MemoryState, BatchPrunes) -> Void
  ) -> Flaw {
    Flaw(name) { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        if case .prunes(let prunes) = settlement { try store.tamper { change(&$0, prunes) } }
        return try await store.settle(settlement)
      }
    }
  }

  /// Changes the state after a settlement.
  static func afterSettle(
    _ name: String, _ change: @escaping @Sendable (inout MemoryState, Settlement) -> Void
  ) -> Flaw {
    Flaw(name) { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        let result = try await store.settle(settlement)
        if case .committed = result { try store.tamper { change(&$0, settlement) } }
        return result
      }
    }
  }

  /// Changes what is enqueued and counted.
  static func onEnqueue(_ name: String, _ change: @escaping @Sendable (inout EnqueueRequest) -> Void) -> Flaw {
    Flaw(name) { flaw in
      flaw.enqueue = { (store, request) throws(StoreError) in
        var request = request
        change(&request)
        return try await store.enqueue(request)
      }
      flaw.jobs = { (store, query) throws(StoreError) in
        guard case .count(var request) = query else { return try await store.jobs(query) }
        change(&request)
        return try await store.jobs(.count(request))
      }
    }
  }

  /// Changes the predicates of audiences, from the inside out.
  static func onPredicate(_ name: String, _ change: @escaping @Sendable (Predicate) -> Predicate) -> Flaw {
    onEnqueue(name) { request in
      request.definition.audience.predicate = request.definition.audience.predicate.map { $0.rewritten(change) }
    }
  }
}

extension Predicate {
  func rewritten(_ change: (Predicate) -> Predicate) -> Predicate {
    switch self {
    case .compare, .isIn, .like, .isNull: change(self)
    case .and(let parts): change(.and(parts.map { $0.rewritten(change) }))
    case .or(let parts): change(.or(parts.map { $0.rewritten(change) }))
    case .not(let part): change(.not(part.rewritten(change)))
    }
  }
}
