/// What is settled when nothing is under way any more.
extension BatchMachine {
  mutating func conclude() -> BatchStep {
    // Counts read early, for somebody who was accused, may be minutes old by now.
    if wantsWitnesses, witnessesAt.map({ now - $0 > 1000 }) ?? true { return askWitnesses() }
    judgeExhausted()
    var answers = BatchAnswers(lease: batch.lease)
    weigh(into: &answers)
    account(into: &answers)
    oweTheRest(into: &answers)
    answers.repeatedAfterLostAnswer = repeatedAfterLostAnswer
    answers.failure = failure
    rejections = batch.rejections + answers.rejections
    stage = .settling
    return .settle(.answers(answers))
  }

  private var wantsWitnesses: Bool {
    members.indices.contains { index in
      switch members[index].phase {
      case .exhausted: true
      case .rejected: verdicts[index]?.evidence?.isCircumstantial ?? false
      default: false
      }
    }
  }

  /// Weighs the circumstantial rejections; what is rejected for good is recorded for its hook and its prune.
  private mutating func weigh(into answers: inout BatchAnswers) {
    let rejected = members.indices.filter { members[$0].phase == .rejected }
    for member in members where member.phase.isAnswered { cases[member.group].answered += 1 }
    var rulings: [Int: EvidenceScale.Ruling] = [:]
    for index in rejected {
      guard let evidence = verdicts[index]?.evidence, evidence.isCircumstantial else { continue }
      answers.circumstantial[cases[members[index].group].group, default: 0] += 1
      if isAccepted(index) {
        rulings[index] = .prune
      } else {
        cases[members[index].group].weighed += 1
      }
    }
    let scale = EvidenceScale(cases: cases, isSole: batch.isSole, keptGroups: batch.keptGroups, now: now)
    var pruning = Array(repeating: 0, count: cases.count)
    for index in rejected where rulings[index] == nil {
      guard let evidence = verdicts[index]?.evidence, evidence.isCircumstantial else { continue }
      let ruling = scale.rule(evidence, in: members[index].group)
      rulings[index] = ruling
      if ruling == .prune { pruning[members[index].group] += 1 }
    }
    for index in rejected {
      let group = members[index].group
      guard let verdict = verdicts[index] else { continue }
      var ruling = rulings[index] ?? .prune
      if ruling == .prune, verdict.evidence?.isCircumstantial == true, !isAccepted(index),
        scale.isAboveCeiling(pruning: pruning[group], in: group)
      {
        ruling = .transient("kept: above the ceiling, more than a fifth of its group was rejected so")
      }
      if ruling != .suspect, verdict.evidence?.isCircumstantial == true, !isAccepted(index) {
        answers.doubtful[cases[group].group, default: 0] += 1
      }
      switch ruling {
      case .prune:
        answers.rejections.append(rejection(index, verdict))
      case .transient(let detail):
        members[index].phase = .failed
        verdicts[index]?.names = detail
      case .suspect:
        members[index].phase = .owed
        members[index].dueAt = 0
        suspects[index] = cases[group].group
        fail(JobFailure.suspects(verdict, group: cases[group].group))
      }
    }
  }

  /// Whether an operator's `--suspects prune` speaks for this recipient.
  private func isAccepted(_ index: Int) -> Bool {
    guard batch.job.suspects == .prune, let owed = batch.owed[index], let suspectOf = owed.suspectOf else {
      return false
    }
    return suspectOf == cases[members[index].group].group
      && owed.tokenDigest == DeviceToken.digest(batch.recipients.tokens[index])
  }

  private func rejection(_ index: Int, _ verdict: Verdict) -> Rejection {
    let lease = batch.lease
    return Rejection(
      // The fence rises with every claim: no two answers share an id, and a second telling of one has the same.
      eventID: "\(lease.job)-\(lease.batch)-\(lease.fence)-\(index)",
      key: batch.recipients.keys[index], token: batch.recipients.tokens.token(index),
      lastSeen: batch.recipients.lastSeen(index), group: cases[members[index].group].group,
      evidence: verdict.evidence ?? .conclusive, reason: verdict.reason, status: verdict.status,
      words: verdict.words, deadSince: verdict.deadSince)
  }

  /// The counts of who was delivered to, not reached, or expired.
  private func account(into answers: inout BatchAnswers) {
    struct Line: Hashable {
      let group: Int
      let outcome: TallyLine.Outcome
      let reason: Reason
      let detail: String
    }
    var lines: [Line: Int] = [:]
    for index in members.indices {
      let group = members[index].group
      switch members[index].phase {
      case .failed:
        let verdict = verdicts[index]
        let line = Line(
          group: group, outcome: .transientlyFailed, reason: verdict?.reason ?? .timedOut,
          detail: verdict?.detail ?? "")
        lines[line, default: 0] += 1
      case .expired:
        lines[Line(group: group, outcome: .expired, reason: .expired, detail: ""), default: 0] += 1
      default:
        break
      }
    }
    for group in cases.indices where cases[group].delivered > 0 {
      let line = Line(group: group, outcome: .delivered, reason: "delivered", detail: "")
      lines[line] = cases[group].delivered
    }
    answers.tally = lines.map { line, count in
      TallyLine(
        group: cases[line.group].group, outcome: line.outcome, reason: line.reason, detail: line.detail, count: count)
    }
  }

  /// Everybody who has no outcome yet, and those of the batch who rest.
  private mutating func oweTheRest(into answers: inout BatchAnswers) {
    for index in members.indices {
      switch members[index].phase {
      case .waiting, .delayed, .accused, .owed, .inFlight:
        if verdicts[index]?.answerMayBeLost == true { repeatedAfterLostAnswer += 1 }
        answers.owed.append(owed(index))
      default:
        break
      }
    }
    for resting in batch.resting {
      var later = resting
      later.notBefore = max(0, resting.notBefore - now)
      answers.owed.append(later)
    }
    guard let end = batch.job.expiresAt else { return }
    // Nobody waits beyond the time to live: then they are counted as expired at once.
    for index in answers.owed.indices {
      answers.owed[index].notBefore = min(answers.owed[index].notBefore, max(0, end - now))
    }
  }

  private func owed(_ index: Int) -> OwedRecipient {
    let before = batch.owed[index]
    let suspectOf = suspects[index] ?? before?.suspectOf
    let member = members[index]
    return OwedRecipient(
      key: batch.recipients.keys[index], attempts: Int(member.attempts), freeRepeats: Int(member.freeRepeats),
      notBefore: member.phase == .delayed || member.phase == .owed ? max(0, member.dueAt - now) : 0,
      outageRounds: outageRounds[index] ?? before?.outageRounds ?? 0,
      outageSince: outageRounds[index] == nil ? before?.outageSince : before?.outageSince ?? now,
      suspectOf: suspectOf,
      tokenDigest: suspects[index] == nil
        ? before?.tokenDigest : DeviceToken.digest(batch.recipients.tokens[index]), wasUnknown: member.wasUnknown)
  }
}

extension BatchMember.Phase {
  /// Whether the recipient has an answer that counts for its group's size.
  var isAnswered: Bool { self == .delivered || self == .rejected || self == .failed || self == .exhausted }
}
