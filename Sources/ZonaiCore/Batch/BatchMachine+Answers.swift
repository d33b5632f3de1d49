/// What one answer makes of its recipient.
extension BatchMachine {
  mutating func take(_ result: PushBatchResult, of transport: TransportName) {
    guard var lane = lanes[transport] else { return }
    let selection = lane.selection
    lane.dispatch = nil
    lane.selection = []

    let isProgressing = result.laneAnswered || result.answers.contains { $0?.isProgress ?? false }
    let freeWait = isProgressing ? waitBeforeFreeRepeats(selection, result.answers) : nil
    // A transport that answers too few has not sent the rest.
    var notSent = Array(selection.dropFirst(result.answers.count))
    for (index, answer) in zip(selection, result.answers) {
      let group = members[index].group
      switch answer {
      case .delivered(let sent):
        members[index].phase = .delivered
        members[index].order = sent.order
        cases[group].delivered += 1
        lane.lastDeliveredAt = now
        if verdicts[index] != nil { verdicts[index] = nil }
        if accepted[group].map({ $0.order < sent.order }) ?? true { accepted[group] = (sent.order, sent.credential) }
        vouch(sent, for: group)
      case .answered(let answered, let sent):
        let verdict = answered.proven
        members[index].order = sent.order
        members[index].credential = sent.credential
        take(verdict, index: index, lane: lane.plan.lane, freeWait: freeWait)
        if verdict.outcome == .permanentlyRejected, verdict.evidence == .conclusive { vouch(sent, for: group) }
      case nil:
        notSent.append(index)
      }
    }
    if result.answers.contains(where: { $0?.isSpoken ?? false }) { lane.faults = 0 }
    lanes[transport] = lane
    noteOddOnes(selection)

    guard !notSent.isEmpty else { return }
    for index in notSent { members[index].phase = .waiting }
    if let fault = result.laneFault {
      take(laneFault: fault, notSent: notSent, transport: transport)
    } else if let pause = selection.compactMap({ verdicts[$0] }).filter(\.slowsLane).map(pause(after:)).max() {
      // The transport stopped because the service wants less: the rest waits as long, with no attempt used up.
      for index in notSent {
        members[index].phase = .delayed
        members[index].dueAt = now + pause
      }
    } else if !selection.contains(where: { members[$0].phase == .accused }) {
      leaveUnsent(notSent)
    }
  }

  private mutating func vouch(_ sent: PushAnswer.Sent, for group: Int) {
    if vouched[group].map({ $0.order < sent.order }) ?? true { vouched[group] = (sent.order, sent.credential) }
  }

  private mutating func take(_ answer: Verdict, index: Int, lane: Lane, freeWait: Int64?) {
    let recipients = batch.recipients
    let verdict = answer.considering(lastSeen: recipients.lastSeen(index)).considering(
      recipients.tokenColumn, of: batch.job.definition.audience.table, token: recipients.tokens[index])
    verdicts[index] = verdict
    if verdict.slowsLane { slow(lane.transport, for: pause(after: verdict)) }
    switch verdict.outcome {
    case .delivered:
      members[index].phase = .delivered
      cases[members[index].group].delivered += 1
      verdicts[index] = nil
    case .permanentlyRejected:
      members[index].phase = .rejected
    case .jobFails:
      members[index].phase = .accused
    case .transientlyFailed:
      if verdict.retry == .free, let freeWait, repeatFreely(index, after: freeWait) { return }
      tryAgain(index, after: verdict, laneFloor: lane.retryFloorMilliseconds)
    }
  }

  /// How long the service wants to be left alone, in milliseconds.
  func pause(after verdict: Verdict) -> Int64 {
    verdict.grantedWait ?? retry.baseMilliseconds ?? verdict.retryFloorMilliseconds ?? 1000
  }

  /// One wait for everything that a send left unhandled, so that it is sent again together: a
  /// recipient that is sent to alone does not see that the lane answers others.
  private mutating func waitBeforeFreeRepeats(_ selection: [Int], _ answers: [PushAnswer?]) -> Int64? {
    let counts = zip(selection, answers).compactMap { index, answer -> Int? in
      guard case .answered(let verdict, _) = answer, verdict.retry == .free else { return nil }
      return Int(members[index].freeRepeats)
    }
    guard let count = counts.max() else { return nil }
    return retry.freeRepeatDelay(after: count, random: random.fraction())
  }

  /// Sends again what surely was not handled, without using up an attempt; false when there were
  /// enough of that.
  private mutating func repeatFreely(_ index: Int, after wait: Int64) -> Bool {
    let count = Int(members[index].freeRepeats)
    if members[index].freeSince == 0 { members[index].freeSince = now }
    guard count < retry.maxFreeRepeats, now - members[index].freeSince < retry.freeRepeatLimitMilliseconds else {
      return false
    }
    members[index].freeRepeats += 1
    members[index].phase = wait == 0 ? .waiting : .delayed
    members[index].dueAt = now + wait
    return true
  }

  /// Decides whether a transient answer is followed by another attempt, and when.
  private mutating func tryAgain(_ index: Int, after verdict: Verdict, laneFloor: Int64) {
    switch verdict.retry {
    case .never:
      members[index].phase = .failed
      return
    case .once where members[index].wasUnknown:
      members[index].phase = .failed
      return
    case .once:
      members[index].wasUnknown = true
    case .attempts, .free:
      break
    }
    members[index].attempts += 1
    let attempts = Int(members[index].attempts)
    guard attempts < retry.maxAttempts else {
      let isOutage = verdict.fault == .service || verdict.fault == .connection
      members[index].phase = isOutage ? .exhausted : .failed
      return
    }
    members[index].phase = .delayed
    members[index].dueAt =
      now
      + retry.delay(afterAttempt: attempts, verdict: verdict, laneFloor: laneFloor, random: random.fraction())
  }

  /// The permit lapsed or was taken back, or the time to live ran out on the way. What is left is given back rather than
  /// asked for again: at once where nobody here goes on with it, else for a moment later.
  private mutating func leaveUnsent(_ indexes: [Int]) {
    let hasExpired = batch.job.expiresAt.map { now >= $0 } ?? false
    for index in indexes {
      members[index].phase = hasExpired ? .expired : .owed
      members[index].dueAt = wasRevoked ? now : now + 1000
    }
  }

  mutating func fail(_ failure: JobFailure) {
    if self.failure == nil { self.failure = failure }
  }
}
