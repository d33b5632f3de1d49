/// Faults of a lane that no single answer carries, and answers of other servers: whose they are is
/// known only from the others.
extension BatchMachine {
  /// A fault that no answer carries speaks for every recipient that was not sent to. Since nothing
  /// was sent, no attempt of theirs is used up: the lane's own count says when the batch is given
  /// back, and no recipient is ever counted out for it.
  mutating func take(laneFault fault: Verdict, notSent: [Int], transport: TransportName) {
    guard var lane = lanes[transport] else { return }
    if fault.outcome == .jobFails {
      fail(JobFailure(fault, lane: lane.plan.lane))
      return
    }
    lane.faults += 1
    lanes[transport] = lane
    if fault.slowsLane { slow(transport, for: pause(after: fault)) }
    var held = fault
    held.outcome = .transientlyFailed
    held.evidence = nil
    held.answerMayBeLost = false
    for index in notSent {
      verdicts[index] = held
      members[index].wasHeldUp = true
    }
    guard lane.faults < retry.maxAttempts else {
      for index in notSent { members[index].phase = .exhausted }
      return
    }
    // One moment for all, or each recipient would ask for the lane by itself.
    let due =
      now
      + retry.delay(
        afterAttempt: lane.faults, verdict: held, laneFloor: lane.plan.lane.retryFloorMilliseconds,
        random: random.fraction())
    for index in notSent {
      members[index].phase = .delayed
      members[index].dueAt = due
    }
    for index in members.indices
    where members[index].phase == .delayed && members[index].dueAt < due
      && cases[members[index].group].group.transport == transport
    {
      members[index].dueAt = due
    }
  }

  /// Marks recipients of a send that another server answered while later ones got the service's own
  /// answers.
  mutating func noteOddOnes(_ selection: [Int]) {
    guard selection.contains(where: { verdicts[$0]?.faultWhenRepeated != nil }) else { return }
    let lastGood = selection.filter { isGood($0) }.map { members[$0].order }.max() ?? 0
    for index in selection where verdicts[index]?.faultWhenRepeated != nil && members[index].order < lastGood {
      members[index].wasOdd = true
    }
  }

  /// Whether the service itself answered for this recipient, well or badly.
  private func isGood(_ index: Int) -> Bool {
    switch members[index].phase {
    case .delivered, .rejected: true
    default: verdicts[index].map { $0.fault == .recipient } ?? false
    }
  }

  /// Whose fault it is that a lane gave these recipients nothing but answers of another server; nil
  /// if it is an outage, since the lane is known to work.
  func faultOfOtherServer(_ exhausted: [Int], on transport: TransportName) -> Verdict? {
    guard let first = exhausted.first, var verdict = verdicts[first], let fault = verdict.faultWhenRepeated,
      exhausted.allSatisfy({ verdicts[$0]?.faultWhenRepeated != nil }), !isKnownToWork(transport)
    else { return nil }
    verdict.fault = fault
    return verdict
  }

  /// Whether the lane delivered in this job; for a job of one recipient its record speaks too.
  func isKnownToWork(_ transport: TransportName) -> Bool {
    if hasDelivered(on: transport) { return true }
    guard batch.isSole else { return false }
    let last = cases.filter { $0.group.transport == transport }.compactMap(\.counts.recordLastDeliveredAt).max()
    return last.map { now - $0 < GroupCounts.recordSpeaksMilliseconds } ?? false
  }
}
