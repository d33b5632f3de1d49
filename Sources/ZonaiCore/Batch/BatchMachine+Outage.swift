/// An outage is not an answer: recipients that used up their attempts while a service was away stay
/// owed.
extension BatchMachine {
  mutating func judgeExhausted() {
    for (transport, lane) in lanes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      var exhausted = members.indices.filter { index in
        members[index].phase == .exhausted && cases[members[index].group].group.transport == transport
      }
      if let fault = faultOfOtherServer(exhausted, on: transport) {
        for index in exhausted { oweAll(index) }
        fail(JobFailure(fault, lane: lane.plan.lane))
        continue
      }
      // What was never sent cannot be counted out, whatever the lane does for others.
      for index in exhausted where members[index].wasHeldUp { wait(index, isFew: false) }
      for index in exhausted where members[index].wasOdd && !members[index].wasHeldUp { members[index].phase = .failed }
      exhausted.removeAll { members[$0].phase != .exhausted }
      guard let began = exhausted.map({ members[$0].sentAt }).min() else { continue }
      guard isOutage(transport, lane, since: began) else {
        for index in exhausted { members[index].phase = .failed }
        continue
      }
      let isForeign = exhausted.allSatisfy { verdicts[$0]?.faultWhenRepeated != nil }
      let isFew = exhausted.count < 10 && (isForeign ? isKnownToWork(transport) : hasDelivered(on: transport))
      for index in exhausted { wait(index, isFew: isFew) }
    }
  }

  /// Its job has failed: it is sent to after a resume, with all its attempts.
  private mutating func oweAll(_ index: Int) {
    members[index].phase = .owed
    members[index].attempts = 0
    members[index].dueAt = 0
  }

  /// Whether the last attempts all ended in service or connection, and nobody was delivered to since they began.
  private func isOutage(_ transport: TransportName, _ lane: BatchLane, since began: Int64) -> Bool {
    // A send is opened in the same millisecond in which the one before it was answered.
    if lane.lastDeliveredAt > began { return false }
    let elsewhere = cases.filter { $0.group.transport == transport }.compactMap(\.counts.laneLastDeliveredAt).max()
    if let elsewhere, elsewhere >= began { return false }
    return !members.indices.contains { index in
      guard members[index].sentAt >= began, cases[members[index].group].group.transport == transport else {
        return false
      }
      switch members[index].phase {
      // A token that was refused by its shape was not sent.
      case .failed where verdicts[index]?.reason == .tokenNotForLane: return false
      case .rejected, .failed, .accused:
        return verdicts[index].map { $0.fault != .service && $0.fault != .connection } ?? false
      default: return false
      }
    }
  }

  func hasDelivered(on transport: TransportName) -> Bool {
    cases.contains { group in
      group.group.transport == transport
        && (group.delivered > 0 || group.counts.delivered > 0 || group.counts.deliveredOnLane > 0)
    }
  }

  private mutating func wait(_ index: Int, isFew: Bool) {
    let before = batch.owed[index]
    let round = (before?.outageRounds ?? 0) + 1
    if isFew, round >= 3 {
      members[index].phase = .failed
      return
    }
    outageRounds[index] = round
    members[index].phase = .owed
    // An outage uses no attempt up.
    members[index].attempts = 0
    let asked = verdicts[index].map(pause(after:)) ?? 0
    members[index].dueAt = now + max(retry.outageDelay(round: round, random: random.fraction()), asked)
    if let since = before?.outageSince, now - since >= retry.outageLimitMilliseconds, let verdict = verdicts[index] {
      fail(JobFailure.outage(verdict, lane: lanes[cases[members[index].group].group.transport]?.plan.lane))
    }
  }
}
