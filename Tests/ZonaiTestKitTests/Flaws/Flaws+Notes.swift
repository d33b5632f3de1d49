import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let notes: [Flaw] = [
    onClaim("keeps no notes with a job") { $0.job.notes = [] },
    onCount("does not look at the last-seen column") { count in
      count.notes.removeAll { $0.code != .tokensCutOff }
    },
    onCount("does not count tokens that fill their column") { count in
      count.notes.removeAll { $0.code == .tokensCutOff }
    },
  ]

  private static func onCount(_ name: String, _ change: @escaping @Sendable (inout AudienceCount) -> Void) -> Flaw {
    Flaw(name) { flaw in
      flaw.jobs = { (store, query) throws(StoreError) in
        let listing = try await store.jobs(query)
        guard case .audience(var count) = listing else { return listing }
        change(&count)
        return .audience(count)
      }
    }
  }

  static let refusals: [Flaw] = [
    Flaw("gives the database's words on, tokens and all") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        let result = try await store.settle(settlement)
        guard case .prunes(let prunes) = settlement, case .committed(var committed) = result,
          !committed.refusals.isEmpty
        else { return result }
        committed.refusals = prunes.decisions.map { "guarded: \($0.rejection.token.text) of \($0.rejection.key)" }
        return .committed(committed)
      }
    },
    afterSettle("gives every refusal a line of its own") { state, settlement in
      guard case .prunes = settlement, !state.quotations.isEmpty else { return }
      state.eachJob { job in
        for number in 0..<200 {
          let line = TallyLine(
            group: .android, outcome: .spared, evidence: .conclusive, reason: "UNREGISTERED",
            detail: "guarded: \(number)", count: 0)
          job.tally[line] = 0
        }
      }
    },
    afterSettle("does not say why a row was spared") { state, settlement in
      guard case .prunes = settlement else { return }
      state.eachJob { job in
        let causes = [SpareCause.lastSeenChanged.sentence, SpareCause.tokenChanged.sentence]
        for (line, count) in job.tally where causes.contains(line.detail) {
          var bare = line
          bare.detail = ""
          job.tally[line] = nil
          job.tally[bare, default: 0] += count
        }
      }
    },
  ]
}
