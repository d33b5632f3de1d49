import Synchronization
import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let paging: [Flaw] = [
    offsetPaging,
    beforeClaim("looks for the last key anew at each page") { state in state.eachJob { $0.lastKey = nil } },
    Flaw("completes a job by a settlement only") { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let result = try await store.claim(request)
        guard case .ended(let job) = result, job.state == .completed else { return result }
        try store.tamper { state in state.eachJob { if $0.id == job.id { $0.state = .running } } }
        return .nothing(Idle())
      }
    },
    onClaim("does not know a job of one recipient") { $0.isSole = false },
    onClaim("takes every batch of one recipient for the whole job") { $0.isSole = $0.recipients.count == 1 },
    onClaim("hands out keys from behind") { batch in
      let old = batch.recipients
      var turned = Recipients(tokenColumn: old.tokenColumn)
      for index in (0..<old.count).reversed() {
        turned.append(
          key: old.keys[index], token: old.tokens.token(index).text, platform: old.platform(index),
          lastSeen: old.lastSeen(index))
      }
      batch.recipients = turned
    },
  ]

  /// Pages go by how many were handed out.
  private static var offsetPaging: Flaw {
    Flaw("pages by OFFSET") { flaw in
      let handed = Mutex<[JobID: Int]>([:])
      let counter = Shared(handed)
      flaw.claim = { (store, request) throws(StoreError) in
        try store.tamper { state in
          for job in state.jobs.indices {
            let offset = counter.value.withLock { $0[state.jobs[job].id] ?? 0 }
            let audience = state.jobs[job].audience
            guard offset > 0 else { continue }
            let rows = state.page(of: audience, after: nil, upTo: nil, limit: offset)
            guard rows.count == offset, let last = rows.last, let table = state.tables[audience.table] else { continue }
            state.jobs[job].frontier = table.key(audience.key, of: last)
          }
        }
        let result = try await store.claim(request)
        if case .batch(let batch) = result, batch.owed.isEmpty, batch.lease.fence == 1 {
          counter.value.withLock { $0[batch.job.id, default: 0] += batch.recipients.count }
        }
        return result
      }
    }
  }

  static let keys: [Flaw] = [
    wrongOrder("compares integer keys as text") { key, frontier in
      guard case .integer = key.values[0] else { return false }
      return "\(key)" <= "\(frontier)"
    },
    wrongOrder("compares text keys without regard to case") { key, frontier in
      guard case .text(let text) = key.values[0], case .text(let last) = frontier.values[0] else { return false }
      return text.lowercased() <= last.lowercased()
    },
    wrongOrder("compares uuid keys by their decimal digits") { key, frontier in
      guard case .text(let text) = key.values[0], case .text(let last) = frontier.values[0], text.count == 36 else {
        return false
      }
      return (Int(text.prefix(8)) ?? 0) <= (Int(last.prefix(8)) ?? 0)
    },
    wrongOrder("compares keys of bytes up to the first zero") { key, frontier in
      guard case .bytes(let bytes) = key.values[0], case .bytes(let last) = frontier.values[0] else { return false }
      let (left, right) = (bytes.prefix { $0 != 0 }, last.prefix { $0 != 0 })
      return left.elementsEqual(right) || left.lexicographicallyPrecedes(right)
    },
    wrongOrder("compares the first column of a composite key only") { key, frontier in
      key.values.count > 1 && key.values[0] == frontier.values[0]
    },
    wrongOrder("compares two columns of a composite key only") { key, frontier in
      key.values.count > 2 && Array(key.values.prefix(2)) == Array(frontier.values.prefix(2))
    },
    wrongOrder("compares moments to the second") { key, frontier in
      guard case .text(let text) = key.values[0], case .text(let last) = frontier.values[0], text.count == 26 else {
        return false
      }
      return text.prefix(19) <= last.prefix(19)
    },
    wrongOrder("goes by a key's columns as they stand in the table") { key, frontier in
      guard key.values.count == 2, case .text(let text) = key.values[1], case .text(let last) = frontier.values[1]
      else {
        return false
      }
      return text <= last
    },
    wrongOrder("takes a blank at a key's end for nothing") { key, frontier in
      guard case .text(let text) = key.values[0], case .text(let last) = frontier.values[0] else { return false }
      return text == last + " "
    },
    onEnqueue("pages by the primary key whatever is named") { $0.definition.audience.key = [] },
  ]

  /// A new page leaves out the rows that `isBehind` the last key that was handed out.
  private static func wrongOrder(
    _ name: String, _ isBehind: @escaping @Sendable (RowKey, RowKey) -> Bool
  ) -> Flaw {
    Flaw(name) { flaw in
      flaw.claim = { (store, request) throws(StoreError) in
        let before = try store.state()
        let result = try await store.claim(request)
        guard case .batch(var batch) = result else { return result }
        let frontier = before.index(of: batch.job.id).flatMap { before.jobs[$0].frontier }
        if let frontier, batch.lease.fence == 1 {
          batch.recipients = batch.recipients.rebuilt { !isBehind($0, frontier) }
        }
        return .batch(batch)
      }
    }
  }

  static let audience: [Flaw] = [
    beforeClaim("sends to empty tokens") { state in
      guard var table = state.tables["devices"] else { return }
      for row in table.rows.indices where table.value("token", of: row) == "" { table.set("token", to: "?", at: row) }
      state.tables["devices"] = table
    },
    onClaim("cuts long tokens") { $0.recipients = $0.recipients.rebuilt(token: { String($0.prefix(255)) }) },
    onClaim("takes the first row's platform for all") { batch in
      guard let first = batch.recipients.isEmpty ? nil : batch.recipients.platform(0) else { return }
      batch.recipients = batch.recipients.rebuilt(platform: { _ in first })
    },
    onEnqueue("forgets a platform that is named for all") { request in
      if case .fixed = request.definition.audience.platform { request.definition.audience.platform = .unknown }
    },
    onClaim("does not read last-seen columns") { batch in
      batch.recipients = batch.recipients.rebuilt(lastSeen: { $0.map { _ in .null } })
    },
  ]

  static let predicates: [Flaw] = [
    onPredicate("finds NULL unequal to a value") { predicate in
      guard case .compare(let column, .notEqual, _) = predicate else { return predicate }
      return predicate || .isNull(column)
    },
    onPredicate("takes the opposite of unknown for true") { predicate in
      guard case .not(let part) = predicate, !part.columns.isEmpty else { return predicate }
      if case .isNull = part { return predicate }
      return .or([predicate] + part.columns.map { .isNull($0) })
    },
    onPredicate("takes an empty list for no list at all") { predicate in
      if case .isIn(_, []) = predicate { .and([]) } else { predicate }
    },
    onPredicate("reads a thousand values of a list") { predicate in
      if case .isIn(let column, let values) = predicate { .isIn(column, Array(values.prefix(1000))) } else { predicate }
    },
    onPredicate("takes every underscore for itself") { predicate in
      if case .like(let column, let pattern) = predicate, pattern.hasPrefix("_") {
        .compare(column, .equal, .text(pattern))
      } else {
        predicate
      }
    },
    onPredicate("pastes values into its statements") { predicate in
      if case .compare(_, _, .text(let text)) = predicate, text.contains("' OR '") { .and([]) } else { predicate }
    },
    onPredicate("compares every text without regard to case") { predicate in
      guard case .compare(let column, .equal, .text(let text)) = predicate, let first = text.first else {
        return predicate
      }
      let spellings = [text, text.uppercased(), first.uppercased() + text.dropFirst()]
      return .isIn(column, spellings.map { .text($0) })
    },
  ]
}

/// Something that does not copy, held by a closure.
final class Shared<Value: ~Copyable & Sendable>: Sendable {
  let value: Value
  init(_ value: consuming Value) { self.value = value }
}
