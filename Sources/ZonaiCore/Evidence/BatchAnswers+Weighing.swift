/// Weighs circumstantial evidence by counting: witness, guard, ceiling, record.
extension BatchAnswers {
  /// The answers with their circumstantial rejections decided: each has become a rejection, a
  /// transient failure or a recipient that stays owed, and `circumstantial` is empty.
  ///
  /// A store calls it inside the settling transaction, after it has locked the job's counts and the
  /// records of the lanes, so that any number of workers that settle at once keep to one ceiling.
  ///
  /// - Parameters:
  ///   - counts: what the job and the store know of each group, without these answers.
  ///   - keptGroups: groups whose circumstantial answers count as transient (`SuspectMode.keep`).
  ///   - now: the store's clock, in milliseconds since 1970.
  public func weighed(against counts: [Group: GroupCounts], keptGroups: Set<Group>, now: Int64) -> BatchAnswers {
    guard !circumstantial.isEmpty else { return self }
    var weighed = self
    weighed.circumstantial = []
    let byGroup = Dictionary(grouping: circumstantial, by: \.rejection.group)
    let scales = byGroup.mapValues { some in
      EvidenceScale(
        these: self, group: some[0].rejection.group, circumstantial: some,
        counts: counts[some[0].rejection.group] ?? GroupCounts(),
        isKept: keptGroups.contains(some[0].rejection.group), now: now)
    }
    var transient: [TallyLine: Int] = [:]
    for candidate in circumstantial {
      let rejection = candidate.rejection
      switch scales[rejection.group]?.rule(candidate) ?? .suspect {
      case .prune:
        weighed.rejections.append(rejection)
      case .transient(let detail):
        let words = [detail, rejection.words].compactMap { $0 }.joined(separator: ": ")
        let line = TallyLine(
          group: rejection.group, outcome: .transientlyFailed, evidence: rejection.evidence, reason: rejection.reason,
          detail: String(words.prefix(200)), count: 0)
        transient[line, default: 0] += 1
      case .suspect:
        weighed.owed.append(candidate.owed)
        weighed.failure = weighed.failure ?? .suspects(rejection)
      }
    }
    for (line, count) in transient {
      var line = line
      line.count = count
      weighed.tally.append(line)
    }
    return weighed
  }

  /// How many circumstantial answers came in, by group, whatever they are counted as: for the
  /// record of the lane.
  public var circumstantialByGroup: [Group: Int] {
    var counts: [Group: Int] = [:]
    for candidate in circumstantial { counts[candidate.rejection.group, default: 0] += 1 }
    for rejection in rejections where rejection.evidence.isCircumstantial { counts[rejection.group, default: 0] += 1 }
    return counts
  }
}

/// The scale of one group, for the answers of one settlement.
private struct EvidenceScale {
  enum Ruling {
    case prune
    /// Kept and counted as not reached; the detail says why.
    case transient(String)
    /// Kept, owed, and the job stops.
    case suspect
  }

  let counts: GroupCounts
  let isKept: Bool
  let isSole: Bool
  let now: Int64
  /// Deliveries, answers, and circumstantial answers of these answers and of the job together.
  let delivered: Int
  let answeredHere: Int
  let circumstantial: Int
  /// Whether more than a fifth of the group would be pruned on circumstantial evidence: of these
  /// answers, or of the job so far. Then none of these is.
  private(set) var isAboveCeiling = false

  init(
    these answers: BatchAnswers, group: Group, circumstantial candidates: [CircumstantialRejection],
    counts: GroupCounts,
    isKept: Bool, now: Int64
  ) {
    let lines = answers.tally.filter { $0.group == group }
    delivered = counts.delivered + lines.reduce(0) { $0 + ($1.outcome == .delivered ? $1.count : 0) }
    answeredHere =
      lines.reduce(0) { $0 + ($1.outcome == .expired ? 0 : $1.count) } + candidates.count
      + answers.rejections.count { $0.group == group }
    circumstantial = counts.circumstantial + candidates.count
    self.counts = counts
    self.isKept = isKept
    self.now = now
    isSole = answers.isSole
    let accepted = candidates.count { reasonToKeep($0) == nil }
    let soFar = counts.circumstantialRejections + accepted
    isAboveCeiling =
      answeredHere >= 20 && accepted * 5 > answeredHere || soFar >= 5 && soFar * 5 > counts.answered + answeredHere
  }

  func rule(_ candidate: CircumstantialRejection) -> Ruling {
    if isKept { return .transient("kept: the job was resumed so") }
    if delivered == 0, circumstantial >= 2 { return .suspect }
    if let reason = reasonToKeep(candidate) { return .transient("kept: \(reason)") }
    if isAboveCeiling { return .transient("kept: above the ceiling, more than a fifth of its group was rejected so") }
    return .prune
  }

  /// Why one circumstantial answer proves nothing, whatever the others say.
  private func reasonToKeep(_ candidate: CircumstantialRejection) -> String? {
    let rejection = candidate.rejection
    if rejection.evidence == .namesNothing, rejection.group.platform.isUnknown {
      return "the answer names nothing and the row has no platform"
    }
    let speaks = isSole && rejection.evidence != .namesNothing && counts.recordSpeaks(at: now)
    guard delivered > 0 || speaks else { return "no other recipient of its group was delivered to in this job" }
    return candidate.keptBecause
  }
}
