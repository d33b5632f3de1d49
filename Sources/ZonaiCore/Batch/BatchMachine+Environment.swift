/// A token that the service calls bad may be alive in the service's other environment: it is asked
/// about there before it is believed dead, if the answer can matter.
extension BatchMachine {
  /// What is known of a rejected recipient from the other environment.
  enum EnvironmentCheck: Sendable, Hashable {
    case unknownThere
    case undecided(String)
  }

  /// The checks that are worth their push: of recipients whose group was delivered to, or that the
  /// record may speak for. nil when there are none, or no push may be opened.
  mutating func environmentChecks() -> BatchStep? {
    guard !isStopping, failure == nil else { return nil }
    var selections: [TransportName: [Int]] = [:]
    for index in members.indices where isUnchecked(index) && isWorthACheck(members[index].group) {
      selections[cases[members[index].group].group.transport, default: []].append(index)
    }
    guard !selections.isEmpty else { return nil }
    stage = .checking
    return .checkEnvironment(
      selections.sorted { $0.key.rawValue < $1.key.rawValue }.map { transport, selection in
        dispatches += 1
        return BatchStep.Dispatch(id: dispatches, transport: transport, selection: selection)
      })
  }

  /// Takes what the other environment said; a recipient without an answer is kept.
  mutating func take(_ answers: [Int: EnvironmentAnswer]) {
    for index in members.indices where isUnchecked(index) && isWorthACheck(members[index].group) {
      switch answers[index] {
      case .unknownThere: checks[index] = .unknownThere
      case .undecided(let reason): checks[index] = .undecided(reason)
      case .aliveThere(let verdict):
        members[index].phase = .failed
        verdicts[index] = verdict
      // A stop: the recipient is sent to again, and asked about then.
      case nil where isStopping, .notAsked where isStopping: break
      case nil, .notAsked: checks[index] = .undecided("the other environment gave no answer in time")
      }
    }
  }

  /// Whether the recipient's rejection wants a check that was not made yet.
  func isUnchecked(_ index: Int) -> Bool {
    members[index].phase == .rejected && checks[index] == nil && canBeChecked(index)
  }

  func canBeChecked(_ index: Int) -> Bool {
    guard verdicts[index]?.evidence == .aboutLane, !isAccepted(index),
      !batch.keptGroups.contains(cases[members[index].group].group)
    else { return false }
    return otherEnvironment(of: index) == .canBeAsked
  }

  /// Why a circumstantial rejection does not prune even with a witness.
  func reasonToKeep(_ index: Int) -> String? {
    guard verdicts[index]?.evidence == .aboutLane else { return nil }
    return switch otherEnvironment(of: index) {
    case .none: nil
    case .cannotBeAsked(let reason): reason
    case .canBeAsked:
      switch checks[index] {
      case .unknownThere: nil
      case .undecided(let reason): reason
      case nil: "the token was not asked about in the other environment"
      }
    }
  }

  private func otherEnvironment(of index: Int) -> OtherEnvironment {
    lanes[cases[members[index].group].group.transport]?.plan.otherEnvironment ?? .none
  }

  private func isWorthACheck(_ group: Int) -> Bool {
    let counts = cases[group].counts
    return cases[group].delivered + counts.delivered > 0 || batch.isSole && counts.recordSpeaks(at: now)
  }
}
