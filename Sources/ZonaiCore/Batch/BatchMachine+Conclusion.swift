/// What is settled when nothing is under way any more.
extension BatchMachine {
  mutating func conclude() -> BatchStep {
    // Counts read early, for somebody who was accused, may be minutes old by now.
    if wantsWitnesses, witnessesAt.map({ now - $0 > 1000 }) ?? true { return askWitnesses() }
    judgeExhausted()
    if let checks = environmentChecks() { return checks }
    var answers = BatchAnswers(lease: batch.lease, isSole: batch.isSole)
    reject(into: &answers)
    account(into: &answers)
    oweTheRest(into: &answers)
    answers.repeatedAfterLostAnswer = repeatedAfterLostAnswer
    answers.failure = failure
    stage = .settling
    return .settle(.answers(answers))
  }

  private var wantsWitnesses: Bool {
    members.indices.contains { index in
      switch members[index].phase {
      case .exhausted: true
      // Whether a check in the other environment is worth its push.
      case .rejected: canBeChecked(index) && cases[members[index].group].delivered == 0
      default: false
      }
    }
  }

  /// The rejections: conclusive ones and those that an operator accepted are certain, the others
  /// are weighed by the store.
  private mutating func reject(into answers: inout BatchAnswers) {
    for index in members.indices where members[index].phase == .rejected {
      guard let verdict = verdicts[index], let evidence = verdict.evidence else { continue }
      let rejection = rejection(index, verdict, evidence)
      if !evidence.isCircumstantial || isAccepted(index) {
        answers.rejections.append(rejection)
        continue
      }
      // A stop came before the other environment could be asked: the recipient is sent to again.
      if isUnchecked(index), isStopping || failure != nil {
        members[index].phase = .owed
        members[index].dueAt = now
        continue
      }
      var owed = owed(index)
      owed.notBefore = 0
      owed.suspectOf = rejection.group
      owed.tokenDigest = DeviceToken.digest(batch.recipients.tokens[index])
      answers.circumstantial.append(
        CircumstantialRejection(rejection: rejection, owed: owed, keptBecause: reasonToKeep(index)))
    }
  }

  /// Whether an operator's `--suspects prune` speaks for this recipient.
  func isAccepted(_ index: Int) -> Bool {
    guard batch.job.suspects == .prune, let owed = batch.owed[index], let suspectOf = owed.suspectOf else {
      return false
    }
    return suspectOf == cases[members[index].group].group
      && owed.tokenDigest == DeviceToken.digest(batch.recipients.tokens[index])
  }

  private func rejection(_ index: Int, _ verdict: Verdict, _ evidence: Evidence) -> Rejection {
    let lease = batch.lease
    return Rejection(
      // The fence rises with every claim: no two answers share an id, and a second telling of one has the same.
      eventID: "\(lease.job)-\(lease.batch)-\(lease.fence)-\(index)",
      key: batch.recipients.keys[index], token: batch.recipients.tokens.token(index),
      lastSeen: batch.recipients.lastSeen(index), group: cases[members[index].group].group,
      evidence: evidence, reason: verdict.reason, status: verdict.status,
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
    let member = members[index]
    return OwedRecipient(
      key: batch.recipients.keys[index], attempts: Int(member.attempts), freeRepeats: Int(member.freeRepeats),
      notBefore: member.phase == .delayed || member.phase == .owed ? max(0, member.dueAt - now) : 0,
      outageRounds: outageRounds[index] ?? before?.outageRounds ?? 0,
      outageSince: outageRounds[index] == nil ? before?.outageSince : before?.outageSince ?? now,
      suspectOf: before?.suspectOf, tokenDigest: before?.tokenDigest, wasUnknown: member.wasUnknown)
  }
}
