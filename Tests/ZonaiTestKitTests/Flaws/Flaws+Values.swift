import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let names: [Flaw] = [
    refusesName("cannot quote quotes") { $0.contains("\"") },
    refusesName("does not keep capital letters") { $0 != $0.lowercased() && $0.utf8.count == $0.count },
    refusesName("knows ASCII names only") { $0.utf8.count != $0.count },
    refusesName("takes a question mark in a name for a placeholder") { $0.contains("?") },
    refusesName("cuts names after fifty bytes") { $0.utf8.count > 50 },
    refusesName("does not quote keywords") { $0 == "user" },
    onEnqueue("does not look at the schema") { request in
      request.definition.audience.table.schema = nil
    },
  ]

  /// A table by such a name is not found.
  private static func refusesName(_ name: String, _ isOdd: @escaping @Sendable (String) -> Bool) -> Flaw {
    Flaw(name) { flaw in
      flaw.enqueue = { (store, request) throws(StoreError) in
        let table = request.definition.audience.table
        if table.schema == nil, isOdd(table.name) {
          throw StoreError(.noSuchTable, "near \"by\": syntax error")
        }
        return try await store.enqueue(request)
      }
    }
  }

  static let tokens: [Flaw] = [
    onClaim("cuts tokens after four kilobytes") { batch in
      batch.recipients = batch.recipients.rebuilt(token: { String($0.prefix(4096)) })
    },
    onAnswers("writes the tokens of rejections down as letters and digits") { answers in
      for index in answers.rejections.indices {
        answers.rejections[index].token = DeviceToken(answers.rejections[index].token.bytes.filter { $0 >= 32 })
      }
    },
    onClaim("takes bytes for text") { batch in
      batch.recipients = batch.recipients.rebuilt(token: { $0 })
    },
    onClaim("takes a blank token for none") { batch in
      batch.recipients = batch.recipients.rebuilt(keeping: { !$0.allSatisfy(\.isWhitespace) })
    },
    onClaim("cuts platforms after twenty characters") { batch in
      batch.recipients = batch.recipients.rebuilt(platform: { Platform(String($0.name.prefix(20))) })
    },
    onAnswers("cuts the platforms of its account") { answers in
      for index in answers.tally.indices {
        let group = answers.tally[index].group
        answers.tally[index].group = Group(
          transport: group.transport, fingerprint: group.fingerprint,
          platform: Platform(group.platform.name.filter(\.isASCII)))
      }
    },
  ]

  static let values: [Flaw] = [
    onPredicate("compares moments to the second") { predicate in
      guard case .compare(let column, let comparison, .text(let text)) = predicate, text.contains(".") else {
        return predicate
      }
      return .compare(column, comparison, .text(String(text.prefix(19))))
    },
    onPredicate("does not take 1 for true") { predicate in
      if case .compare("yes", _, .integer) = predicate { .or([]) } else { predicate }
    },
    onPredicate("does not take true for 1") { predicate in
      if case .compare("number", _, .boolean) = predicate { .or([]) } else { predicate }
    },
    onPredicate("compares in thirty-two bits") { predicate in
      guard case .compare("small", let comparison, .integer(let integer)) = predicate else { return predicate }
      return .compare("small", comparison, .integer(Int64(Int32(truncatingIfNeeded: integer))))
    },
    onPredicate("cuts fractions off where a whole number stands") { predicate in
      guard case .compare("whole", let comparison, .real(let real)) = predicate, real.isFinite else { return predicate }
      return .compare("whole", comparison, .integer(Int64(real)))
    },
    onPredicate("takes text that is no number for 0") { predicate in
      guard case .compare("whole", let comparison, .text) = predicate else { return predicate }
      return .compare("whole", comparison, 0)
    },
    onPredicate("takes text of the database for 0 where a number is asked for") { predicate in
      if case .compare("text", .equal, .integer(0)) = predicate { .not(.isNull("text")) } else { predicate }
    },
    Flaw("tells values in its refusals") { flaw in
      flaw.enqueue = { (store, request) throws(StoreError) in
        if case .compare("moment", _, .text(let text)) = request.definition.audience.predicate, !text.contains(":") {
          throw StoreError(.invalidPredicate, "moment is no text", databaseWords: "invalid input: \"\(text)\"")
        }
        return try await store.enqueue(request)
      }
    },
    onPredicate("reads a thousand texts of a list") { predicate in
      guard case .isIn(let column, let values) = predicate, case .text? = values.first else { return predicate }
      return .isIn(column, Array(values.prefix(1000)))
    },
    onPredicate("takes NULL in quotes for NULL") { predicate in
      guard case .isIn(let column, let values) = predicate else { return predicate }
      return .isIn(column, values.filter { $0 != "NULL" })
    },
    onPredicate("trims the texts of a list") { predicate in
      guard case .isIn(let column, let values) = predicate else { return predicate }
      return .isIn(column, values.map { $0 == "a " ? "a" : $0 })
    },
    onPredicate("joins a hundred conditions and no more") { predicate in
      if case .or(let parts) = predicate { .or(Array(parts.prefix(100))) } else { predicate }
    },
    onPredicate("cuts off what is nested deep") { predicate in
      func depth(_ predicate: Predicate) -> Int {
        switch predicate {
        case .and(let parts), .or(let parts): 1 + (parts.map(depth).max() ?? 0)
        case .not(let part): 1 + depth(part)
        case .compare, .isIn, .like, .isNull: 0
        }
      }
      return depth(predicate) > 100 ? .and([]) : predicate
    },
    onPredicate("takes a backslash for an escape") { predicate in
      guard case .like(let column, let pattern) = predicate else { return predicate }
      return .like(column, pattern.replacing("\\%", with: "%").replacing("\\_", with: "_"))
    },
    onPredicate("takes a list without regard to the collation") { predicate in
      guard case .isIn("name", let values) = predicate else { return predicate }
      return .isIn("name", values.filter { $0 == "Anna" })
    },
    onPredicate("ignores blanks at the end") { predicate in
      guard case .compare("exact", .equal, .text(let text)) = predicate, text.hasSuffix(" ") else { return predicate }
      return .compare("exact", .equal, .text(String(text.dropLast())))
    },
  ]

  static let locks: [Flaw] = [
    Flaw("passes over rows that the application holds") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let isHeld = try !store.state().locks.isEmpty
        let result = try await store.claim(request)
        guard isHeld, case .batch(var batch) = result else { return result }
        batch.recipients = Recipients()
        return .batch(batch)
      }
    },
    beforePrune("does not try again where the application held a row") { state, _ in
      for index in state.locks.indices {
        if case .commit(nil, _) = state.locks[index].end { state.locks[index].end = .never }
      }
    },
    Flaw("gives up where a dead-lock ends its attempt") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        if case .prunes(let prunes) = settlement, store.database.undoesAttempt(at: prunes) {
          throw StoreError(.failed, "dead-lock found", databaseWords: "40P01")
        }
        return try await store.settle(settlement)
      }
    },
    Flaw("takes a dead-lock for a refusal") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .prunes(var prunes) = settlement else { return try await store.settle(settlement) }
        if store.database.undoesAttempt(at: prunes) {
          prunes.decisions = prunes.decisions.map { ($0.rejection, .spare) }
        }
        return try await store.settle(.prunes(prunes))
      }
    },
    Flaw("clears what came between its look and its change") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .prunes(let prunes) = settlement, prunes.decisions.count == 60 else {
          return try await store.settle(settlement)
        }
        let result = try await store.settle(settlement)
        for _ in 0..<10_000 {
          let state = try store.state()
          if state.tables["devices"]?.rows.contains(where: { $0.contains("new-3") }) == true { break }
          await Task.yield()
        }
        try store.tamper { state in
          state.eachRow(of: prunes) { table, row, _, audience in table.set(audience.token, to: .null, at: row) }
        }
        return result
      }
    },
  ]

  static let altering: [Flaw] = [
    Flaw("cannot settle without the table") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        if case .prunes(let prunes) = settlement {
          let state = try store.state()
          if let audience = state.job(prunes.lease.job)?.audience, state.tables[audience.table] == nil {
            throw StoreError(.noSuchTable, "no such table")
          }
        }
        return try await store.settle(settlement)
      }
    },
    failsWithout("the token column", { $0.token }), failsWithout("the last-seen column", { $0.lastSeen }),
    failsWithout("the platform column") { if case .column(let column) = $0.platform { column } else { nil } },
    failsWithout("a predicate's column") { $0.predicate?.columns.first },
    failsWithout("the key column") { $0.key.first },
    Flaw("does not see columns that were added") { flaw in
      flaw.inspect = { (store, request) throws(StoreError) in
        guard case .rows(let rows) = try await store.inspect(request) else { return try await store.inspect(request) }
        return .rows(
          rows.map { row in
            row.map { row in
              let kept = row.columns.indices.filter { row.columns[$0] != "note" }
              return Row(columns: kept.map { row.columns[$0] }, values: kept.map { row.values[$0] })
            }
          })
      }
    },
  ]

  /// A claim throws, and the job stays, where a column is gone.
  private static func failsWithout(
    _ what: String, _ column: @escaping @Sendable (Audience) -> String?
  ) -> Flaw {
    Flaw("throws at every claim without \(what)") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let state = try store.state()
        for job in state.jobs where job.state.isOpen {
          guard let name = column(job.audience), let table = state.tables[job.audience.table],
            table.position(of: name) == nil
          else { continue }
          throw StoreError(.noSuchColumn, "no such column")
        }
        return try await store.claim(request)
      }
    }
  }
}
