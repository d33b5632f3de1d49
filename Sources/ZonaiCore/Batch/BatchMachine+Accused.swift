/// One odd row fails no job: whether an answer about credentials, message or lane is its recipient's own.
extension BatchMachine {
  /// Decides about everybody who is accused and whose lane has nothing in flight. Who cannot be decided yet waits for a probe
  /// or for the witnesses.
  mutating func judgeAccused() {
    let accused = members.indices.filter { index in
      members[index].phase == .accused
        && lanes[cases[members[index].group].group.transport]?.dispatch == nil
    }
    for index in accused.sorted(by: { members[$0].order < members[$1].order }) {
      guard let verdict = verdicts[index] else { continue }
      switch judge(index, verdict) {
      case .ownFault:
        members[index].phase = .failed
      case .jobsFault:
        fail(JobFailure(verdict, lane: lanes[cases[members[index].group].group.transport]?.plan.lane))
        return
      case .undecided:
        break
      case .later(let dueAt):
        members[index].phase = .owed
        members[index].dueAt = dueAt
      }
    }
  }

  private enum Judgement {
    case ownFault, jobsFault, undecided
    /// The others of the group are owed, not gone: it is judged with them.
    case later(Int64)
  }

  private func judge(_ index: Int, _ verdict: Verdict) -> Judgement {
    let member = members[index]
    let group = member.group
    let isMessage = verdict.fault == .message
    if isMessage {
      // The message was accepted for the group: what this row dislikes is its own.
      if wasAccepted(group) { return .ownFault }
    } else if let latest = vouched[group], latest.order > member.order, latest.credential >= member.credential {
      return .ownFault
    }
    let isRefusedAgain = members.indices.contains { other in
      other != index && members[other].phase == .accused && members[other].group == group
        && members[other].order > member.order && (verdicts[other]?.fault == .message) == isMessage
    }
    // With the message, what the job accepted earlier speaks first: it may not have been asked about yet.
    if isRefusedAgain, !isMessage || hasWitnesses { return .jobsFault }
    if isRefusedAgain { return .undecided }
    if isMessage, !hasWitnesses { return .undecided }
    let canProbe = members.contains { $0.group == group && ($0.phase == .waiting || $0.phase == .delayed) }
    if canProbe { return .undecided }
    guard hasWitnesses || wasAccepted(group) else { return .undecided }
    if wasAccepted(group) { return .ownFault }
    let later = members.filter { $0.group == group && $0.phase == .owed }.map(\.dueAt).max()
    return later.map(Judgement.later) ?? .jobsFault
  }

  private func wasAccepted(_ group: Int) -> Bool {
    cases[group].delivered + cases[group].counts.delivered > 0
  }

  /// Whether the judgement of somebody who is accused hangs on what the job delivered so far.
  var wantsWitnessesForAccused: Bool {
    members.indices.contains { index in
      guard members[index].phase == .accused else { return false }
      let group = members[index].group
      if verdicts[index]?.fault == .message { return true }
      return !members.contains { $0.group == group && ($0.phase == .waiting || $0.phase == .delayed) }
    }
  }
}
