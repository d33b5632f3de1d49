import Synchronization
import ZonaiCore

@testable import ZonaiTestKit

extension Flaw {
  static let weighing: [Flaw] = [
    onAnswers("records every circumstantial rejection") { answers in
      answers.rejections += answers.circumstantial.map(\.rejection)
      answers.circumstantial = []
    },
    onWeighing("weighs without the job's counts") { answers, _, _ in
      answers.weighed(against: [:], keptGroups: [], now: 0)
    },
    onWeighing("weighs by counts that were read before the settling") { answers, counts, now in
      answers.weighed(against: counts, keptGroups: [], now: now)
    },
    onAnswers("does not keep what is to be kept") { answers in
      for index in answers.circumstantial.indices { answers.circumstantial[index].keptBecause = nil }
    },
    onAnswers("does not let the record speak") { $0.isSole = false },
    onAnswers("forgets the evidence of what was kept") { answers in
      for index in answers.circumstantial.indices { answers.circumstantial[index].rejection.evidence = .conclusive }
    },
    Flaw("names the rejections that it kept") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .answers(let answers) = settlement,
          case .committed(var committed) = try await store.settle(settlement)
        else { return try await store.settle(settlement) }
        committed.recorded = answers.rejections + answers.circumstantial.map(\.rejection)
        return .committed(committed)
      }
    },
    Flaw("names no rejections") { flaw in
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .committed(var committed) = try await store.settle(settlement) else { return .leaseLost }
        committed.recorded = []
        return .committed(committed)
      }
    },
    Flaw("grants every check") { flaw in flaw.takeChecks = { $1.wanted } },
    Flaw("counts checks of all jobs together") { flaw in
      let used = Shared(Mutex(0))
      flaw.takeChecks = { (store, request) throws(StoreError) in
        let granted = try await store.takeChecks(request)
        return used.value.withLock { used in
          let some = max(0, min(granted, CheckBudgetRequest.perJobAndHour - used))
          used += some
          return some
        }
      }
    },
    Flaw("never begins another hour of checks") { flaw in
      flaw.takeChecks = { (store, request) throws(StoreError) in
        try store.tamper { state in
          guard let job = state.index(of: request.lease.job), state.jobs[job].checks.used > 0 else { return }
          state.jobs[job].checks.since = state.now
        }
        return try await store.takeChecks(request)
      }
    },
  ]

  /// Weighs the answers before the sound store does, by what was read when the batch was claimed.
  private static func onWeighing(
    _ name: String,
    _ weigh: @escaping @Sendable (BatchAnswers, [Group: GroupCounts], Int64) -> BatchAnswers
  ) -> Flaw {
    Flaw(name) { flaw in
      let known = Shared(Mutex<[BatchLease: ([Group: GroupCounts], Int64)]>([:]))
      flaw.claim = { (store, request) throws(StoreError) in
        let result = try await store.claim(request)
        guard case .batch(let batch) = result else { return result }
        let inspection = try await store.inspect(.witnesses(batch.lease, groups: [.android, .ios]))
        if case .witnesses(let counts) = inspection { known.value.withLock { $0[batch.lease] = (counts, batch.now) } }
        return result
      }
      flaw.settle = { (store, settlement) throws(StoreError) in
        guard case .answers(let answers) = settlement, let (counts, now) = known.value.withLock({ $0[answers.lease] })
        else { return try await store.settle(settlement) }
        return try await store.settle(.answers(weigh(answers, counts, now)))
      }
    }
  }
}
