import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let pruning: [Flaw] = [
    Flaw("clears more than the token") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        if case .prunes(let prunes) = settlement {
          try store.tamper { state in
            state.eachRow(of: prunes) { table, row, _, _ in table.set("platform", to: .null, at: row) }
          }
        }
        return try await store.settle(settlement)
      }
    },
    Flaw("clears where it should delete") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .prunes(let prunes) = settlement else { return try await store.settle(settlement) }
        // Only where the key is the usual one: every check of another key deletes too.
        let definition = try store.state().job(prunes.lease.job)?.definition
        guard let definition, definition.audience.key == ["id"] else { return try await store.settle(settlement) }
        let policy = definition.policy
        try store.tamper { $0.setPolicy(policy == .deleteRow ? .clearColumn : policy, of: prunes.lease.job) }
        let result = try await store.settle(settlement)
        try store.tamper { $0.setPolicy(policy, of: prunes.lease.job) }
        return result
      }
    },
    beforePrune("clears under the policy none") { state, prunes in
      if state.job(prunes.lease.job)?.definition.policy == Policy.none {
        state.setPolicy(.clearColumn, of: prunes.lease.job)
      }
    },
    afterSettle("prunes who was transiently rejected") { state, settlement in
      guard case .answers(let answers) = settlement, !answers.circumstantial.isEmpty else { return }
      guard let audience = state.job(answers.lease.job)?.audience else { return }
      for owed in answers.owed {
        guard let row = state.tables[audience.table]?.find(owed.key, by: audience.key) else { continue }
        state.tables[audience.table]?.set(audience.token, to: .null, at: row)
      }
    },
    onPrunes("does not listen to the hook") { prunes in
      prunes.decisions = prunes.decisions.map { ($0.rejection, .followPolicy) }
    },
    Flaw("tells what became of rejections in its own order") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .committed(var committed) = try await store.settle(settlement) else { return .leaseLost }
        committed.outcomes.sort { $0.rawValue < $1.rawValue }
        return .committed(committed)
      }
    },
    Flaw("prunes every row with the token") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        if case .prunes(let prunes) = settlement {
          try store.tamper { state in
            guard let audience = state.job(prunes.lease.job)?.audience, let table = state.tables[audience.table] else {
              return
            }
            for (rejection, decision) in prunes.decisions where decision == .followPolicy {
              for row in table.rows.indices
              where table.value(audience.token, of: row).tokenBytes == rejection.token.bytes
                && table.key(audience.key, of: row) != rejection.key
              {
                state.tables[audience.table]?.set(audience.token, to: .null, at: row)
              }
            }
          }
        }
        return try await store.settle(settlement)
      }
    },
    onPrunes("prunes a hundred rows and no more") { $0.decisions = Array($0.decisions.prefix(100)) },
    onRows("shows rows by key only") { (store, rejection, audience, _) throws(StoreError) in
      var state = try store.state()
      guard let row = state.tables[audience.table]?.find(rejection.key, by: audience.key),
        let table = state.tables[audience.table]
      else { return nil }
      return Row(columns: table.columnNames, values: table.rows[row])
    },
    onRows("shows numbers and bytes as text") { _, _, _, row in
      row.map { row in
        let values = row.values.map { value -> Value in
          switch value {
          case .real(let real): .text("\(real)")
          case .bytes(let bytes): .text(bytes.hex)
          default: value
          }
        }
        return Row(columns: row.columns, values: values)
      }
    },
    onRows("shows the named columns only") { _, _, audience, row in
      row.map { row in
        let names = audience.key + [audience.token]
        return Row(columns: names, values: names.map { row[$0] ?? .null })
      }
    },
  ]

  private static func onPrunes(_ name: String, _ change: @escaping @Sendable (inout BatchPrunes) -> Void) -> Flaw {
    Flaw(name) { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .prunes(var prunes) = settlement else { return try await store.settle(settlement) }
        change(&prunes)
        return try await store.settle(.prunes(prunes))
      }
    }
  }

  private static func onRows(
    _ name: String,
    _ change: @escaping @Sendable (InMemoryStore, Rejection, Audience, Row?) throws(StoreError) -> Row?
  ) -> Flaw {
    Flaw(name) { flaw in
      flaw.inspect = { (store, request) throws(StoreError) in
        let result = try await store.inspect(request)
        guard case .rows(let rows) = result, case .rows(let lease, let rejections) = request,
          let audience = try store.state().job(lease.job)?.audience
        else { return result }
        var changed: [Row?] = []
        for (rejection, row) in zip(rejections, rows) {
          changed.append(try change(store, rejection, audience, row))
        }
        return .rows(changed)
      }
    }
  }

  static let sparing: [Flaw] = [
    beforePrune("prunes by key only") { state, prunes in
      state.eachRow(of: prunes) { table, row, rejection, audience in
        table.set(audience.token, to: .text(rejection.token.text), at: row)
      }
    },
    beforePrune("takes a row that is gone for pruned") { state, prunes in
      guard let audience = state.job(prunes.lease.job)?.audience else { return }
      for (rejection, decision) in prunes.decisions where decision == .followPolicy {
        guard state.tables[audience.table]?.find(rejection.key, by: audience.key) == nil else { continue }
        var row = Dictionary(zip(audience.key, rejection.key.values), uniquingKeysWith: { $1 })
        row[audience.token] = .text(rejection.token.text)
        state.tables[audience.table]?.insert(row)
      }
    },
    beforePrune("does not look at last-seen columns") { state, prunes in
      state.eachRow(of: prunes) { table, row, rejection, audience in
        if let column = audience.lastSeen, let seen = rejection.lastSeen { table.set(column, to: seen, at: row) }
      }
    },
    onPrunes("finds no NULL equal to another") { prunes in
      prunes.decisions = prunes.decisions.map { ($0.rejection, $0.rejection.lastSeen == .null ? .spare : $0.decision) }
    },
    beforePrune("compares tokens without regard to case") { state, prunes in
      state.eachRow(of: prunes) { table, row, rejection, audience in
        guard case .text(let token) = table.value(audience.token, of: row),
          token.lowercased() == rejection.token.text.lowercased()
        else { return }
        table.set(audience.token, to: .text(rejection.token.text), at: row)
      }
    },
    beforePrune("takes a blank at a token's end for nothing") { state, prunes in
      state.eachRow(of: prunes) { table, row, rejection, audience in
        guard case .text(let token) = table.value(audience.token, of: row), token == rejection.token.text + " " else {
          return
        }
        table.set(audience.token, to: .text(rejection.token.text), at: row)
      }
    },
    beforePrune("compares last-seen moments to the second") { state, prunes in
      state.eachRow(of: prunes) { table, row, rejection, audience in
        guard let column = audience.lastSeen, case .text(let seen)? = rejection.lastSeen,
          case .text(let now) = table.value(column, of: row), now.prefix(19) == seen.prefix(19)
        else { return }
        table.set(column, to: .text(seen), at: row)
      }
    },
    beforePrune("compares keys and tokens as two lists") { state, prunes in
      let tokens = Set(prunes.decisions.map(\.rejection.token))
      state.eachRow(of: prunes) { table, row, rejection, audience in
        guard let bytes = table.value(audience.token, of: row).tokenBytes, tokens.contains(DeviceToken(bytes)) else {
          return
        }
        table.set(audience.token, to: .text(rejection.token.text), at: row)
      }
    },
    Flaw("undoes every prune when one is refused") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        let before = try store.state()
        let result = try await store.settle(settlement)
        if case .committed(let committed) = result, !committed.refusals.isEmpty {
          try store.tamper { $0.tables = before.tables }
        }
        return result
      }
    },
    beforePrune("deletes rows that others point to") { state, _ in
      for name in state.tables.keys where state.tables[name]?.sketch.references.isEmpty == false {
        for row in (state.tables[name]?.rows.indices ?? 0..<0).reversed() { state.tables[name]?.remove(at: row) }
      }
    },
    Flaw("tells the row that a refusal speaks of") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        let result = try await store.settle(settlement)
        guard case .committed(var committed) = result, case .prunes(let prunes) = settlement else { return result }
        let rows = prunes.decisions.map(\.rejection.token.text).joined(separator: ", ")
        committed.refusals = committed.refusals.map { "\($0): failing row contains (\(rows))" }
        return .committed(committed)
      }
    },
    beforePrune("waits for rows that the application holds, and changes them") { state, _ in state.locks = [] },
  ]
}

extension MemoryState {
  fileprivate mutating func setPolicy(_ policy: Policy?, of id: JobID) {
    guard let policy, let job = index(of: id) else { return }
    jobs[job].definition.policy = policy
  }
}
