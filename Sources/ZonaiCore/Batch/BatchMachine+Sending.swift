/// Who is sent to, when, over which lane.
extension BatchMachine {
  /// Adds a group; its index.
  private mutating func add(_ group: Group) -> Int {
    cases.append(BatchGroup(group: group))
    accepted.append(nil)
    vouched.append(nil)
    return cases.count - 1
  }

  /// Gives every recipient its group, by its platform and the job's routes.
  mutating func route() {
    let recipients = batch.recipients
    let byPlatform = recipients.platforms.map { platform -> Int in
      let transport = batch.job.definition.routes.transport(for: platform)
      let lane = transport.flatMap { lanes[$0] }
      let group = Group(
        transport: transport ?? .none, fingerprint: lane?.plan.fingerprint ?? "", platform: platform)
      if let known = cases.firstIndex(where: { $0.group == group }) { return known }
      return add(group)
    }
    members.reserveCapacity(recipients.count)
    for index in 0..<recipients.count {
      members.append(BatchMember(group: byPlatform[Int(recipients.platformIndexes[index])]))
    }
    for (index, owed) in batch.owed {
      members[index].attempts = UInt8(clamping: owed.attempts)
      members[index].freeRepeats = UInt8(clamping: owed.freeRepeats)
      members[index].wasUnknown = owed.wasUnknown
    }
    for index in members.indices where lanes[cases[members[index].group].group.transport] == nil {
      members[index].phase = .failed
      verdicts[index] = Verdict(
        .transientlyFailed, fault: .configuration, reason: .noLane,
        names: "no lane serves \(cases[members[index].group].group.platform)")
    }
  }

  /// What is to be done now, while recipients are sent to.
  mutating func next() -> BatchStep {
    if failure == nil, !isStopping { judgeAccused() }
    let isInFlight = lanes.values.contains { $0.dispatch != nil }
    if failure != nil || isStopping {
      guard isInFlight else { return conclude() }
      guard wasRevoked else {
        wasRevoked = true
        return .revoke
      }
      return .go([], wakeAt: nil)
    }
    expire()
    let wakeAt = wakeDelayed()
    if !isInFlight, wantsWitnessesForAccused, !hasWitnesses { return askWitnesses() }
    let started = dispatchWaiting()
    if started.isEmpty, !isInFlight, wakeAt == nil { return conclude() }
    return .go(started, wakeAt: wakeAt)
  }

  mutating func askWitnesses() -> BatchStep {
    stage = .weighing
    return .askWitnesses(cases.map(\.group).filter { $0.transport != .none })
  }

  private mutating func expire() {
    guard let end = batch.job.expiresAt, now >= end else { return }
    for index in members.indices where members[index].phase == .waiting || members[index].phase == .delayed {
      members[index].phase = .expired
    }
  }

  /// Makes those whose time has come `waiting`, and those whose time is too far `owed`; returns when the next one is due.
  private mutating func wakeDelayed() -> Int64? {
    var earliest: Int64?
    for index in members.indices where members[index].phase == .delayed {
      let due = members[index].dueAt
      if due <= now {
        members[index].phase = .waiting
      } else if due - now > retry.longestSleepMilliseconds {
        members[index].phase = .owed
      } else {
        earliest = min(earliest ?? due, due)
      }
    }
    return earliest
  }

  /// One send for each lane that is idle and has somebody waiting; on a lane under suspicion, one recipient a group.
  private mutating func dispatchWaiting() -> [BatchStep.Dispatch] {
    var started: [BatchStep.Dispatch] = []
    // In a fixed order, so that the same events give the same steps.
    for transport in lanes.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard var lane = lanes[transport], lane.dispatch == nil else { continue }
      let selection = accusedGroups(of: transport).isEmpty ? waiting(on: transport) : probes(on: transport)
      guard !selection.isEmpty else { continue }
      dispatches += 1
      lane.dispatch = dispatches
      lane.selection = selection
      lanes[transport] = lane
      for index in selection {
        if verdicts[index]?.answerMayBeLost == true { repeatedAfterLostAnswer += 1 }
        members[index].phase = .inFlight
        members[index].wasHeldUp = false
        members[index].sentAt = now
      }
      started.append(BatchStep.Dispatch(id: dispatches, transport: transport, selection: selection))
    }
    return started
  }

  private func waiting(on transport: TransportName) -> [Int] {
    let isMine = cases.map { $0.group.transport == transport }
    return members.indices.filter { members[$0].phase == .waiting && isMine[members[$0].group] }
  }

  /// For each group of the lane that is under suspicion, somebody else of it. Who is delayed is not sent before their time:
  /// then the group waits for the first of them.
  private func probes(on transport: TransportName) -> [Int] {
    accusedGroups(of: transport).compactMap { group in
      members.indices.first { members[$0].group == group && members[$0].phase == .waiting }
    }
  }

  func accusedGroups(of transport: TransportName) -> [Int] {
    cases.indices.filter { group in
      cases[group].group.transport == transport
        && members.contains { $0.group == group && $0.phase == .accused }
    }
  }
}

extension TransportName {
  /// The group of recipients that no lane serves.
  static let none = TransportName(rawValue: "none")
}
