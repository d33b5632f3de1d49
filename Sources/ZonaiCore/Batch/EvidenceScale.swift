/// Weighs circumstantial evidence: witness, guard, ceiling. Pure counting, per group.
struct EvidenceScale: Sendable {
  /// What is known of one group when its batch is about to be settled.
  struct Case: Sendable {
    var group: Group
    /// Recipients of the group that were answered in this claim.
    var answered = 0
    /// Deliveries in this claim, and in earlier claims of the same batch.
    var delivered = 0
    var deliveredBefore = 0
    /// Circumstantial answers in this claim that are weighed: not those that an operator accepted or set aside. And those of
    /// earlier claims of the same batch that ended with an outcome.
    var weighed = 0
    var weighedBefore = 0
    /// What the job and the store know. Nothing, when nobody asked.
    var account = WitnessAccount()

    init(group: Group) { self.group = group }

    var deliveredInBatch: Int { delivered + deliveredBefore }
    var weighedInBatch: Int { weighed + weighedBefore }
  }

  enum Ruling: Sendable, Hashable {
    case prune
    /// Kept and counted as not reached; the detail says why.
    case transient(String)
    /// Kept, owed, and the job stops.
    case suspect
  }

  /// A record older than this, or with this many circumstantial answers since, does not speak.
  static let recordSpeaksMilliseconds: Int64 = 86_400_000
  static let recordSpeaksBelow = 20

  let cases: [Case]
  /// Whether the job has one recipient and no other: then the record may stand in for a witness.
  let isSole: Bool
  let keptGroups: Set<Group>
  let now: Int64

  private var weighedInBatch: Int { cases.reduce(0) { $0 + $1.weighedInBatch } }
  private var deliveredInBatch: Int { cases.reduce(0) { $0 + $1.deliveredInBatch } }

  /// Nobody of the group, or nobody of the whole batch, was delivered to, and at least two answers are circumstantial: over
  /// all claims of the batch, or one odd answer a claim would never be seen as the many that they are.
  func isGuarded(_ index: Int) -> Bool {
    let group = cases[index]
    guard group.weighed > 0, !keptGroups.contains(group.group) else { return false }
    return (group.deliveredInBatch == 0 && group.weighedInBatch >= 2) || (deliveredInBatch == 0 && weighedInBatch >= 2)
  }

  /// What becomes of one circumstantial answer, before the ceiling.
  func rule(_ evidence: Evidence, in index: Int) -> Ruling {
    let group = cases[index]
    if keptGroups.contains(group.group) { return .transient("kept: the job was resumed so") }
    if isGuarded(index) { return .suspect }
    if evidence == .namesNothing, group.group.platform.isUnknown {
      return .transient("kept: the answer names nothing and the row has no platform")
    }
    if group.account.delivered + group.deliveredInBatch > 0 { return .prune }
    if isSole, evidence != .namesNothing, recordSpeaks(group.account) { return .prune }
    return .transient("kept: nobody else of its group was delivered to in this job")
  }

  /// More than a fifth of the group would be pruned on circumstantial evidence: in this batch, or in the job so far.
  func isAboveCeiling(pruning count: Int, in index: Int) -> Bool {
    let group = cases[index]
    if group.answered >= 20, count * 5 > group.answered { return true }
    let soFar = group.account.circumstantialRejections + count
    return soFar >= 5 && soFar * 5 > group.account.settled + group.answered
  }

  private func recordSpeaks(_ account: WitnessAccount) -> Bool {
    guard let last = account.recordLastDeliveredAt else { return false }
    return now - last < Self.recordSpeaksMilliseconds && account.recordCircumstantialSince < Self.recordSpeaksBelow
  }
}
