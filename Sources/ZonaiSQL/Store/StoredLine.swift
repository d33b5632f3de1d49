import ZonaiCore

/// A line of a job's account as its table keeps it: an outcome, or a rejection whose prune is to come.
struct StoredLine: Hashable, Comparable {
  var transport: String
  var fingerprint: String
  var platform: String
  var outcome: String
  var evidence: String
  var reason: String
  var detail: String

  /// The outcome of rejections that were recorded with a batch's answers and not yet dealt with.
  static let recorded = "recorded"

  init(_ line: TallyLine) {
    self.init(
      group: line.group, outcome: line.outcome.rawValue, evidence: line.evidence, reason: line.reason,
      detail: String(line.detail.prefix(200)))
  }

  init(recorded rejection: Rejection) {
    self.init(
      group: rejection.group, outcome: StoredLine.recorded, evidence: rejection.evidence, reason: rejection.reason,
      detail: "")
  }

  private init(group: Group, outcome: String, evidence: Evidence?, reason: Reason, detail: String) {
    transport = group.transport.rawValue
    fingerprint = group.fingerprint
    platform = group.platform.name
    self.outcome = outcome
    self.evidence = evidence?.rawValue ?? ""
    self.reason = reason.rawValue
    self.detail = detail
  }

  static let columns: StaticString = "transport, fingerprint, platform, outcome, evidence, reason, detail"

  init(_ row: some SQLRow) {
    transport = row.text(0)
    fingerprint = row.text(1)
    platform = row.text(2)
    outcome = row.text(3)
    evidence = row.text(4)
    reason = row.text(5)
    detail = row.text(6)
  }

  var group: Group {
    Group(
      transport: TransportName(rawValue: transport), fingerprint: fingerprint, platform: Platform(platform))
  }

  var withoutDetail: StoredLine {
    var line = self
    line.detail = ""
    return line
  }

  /// nil for what was only recorded.
  func line(_ count: Int) -> TallyLine? {
    guard let outcome = TallyLine.Outcome(rawValue: outcome) else { return nil }
    return TallyLine(
      group: group, outcome: outcome, evidence: Evidence(rawValue: evidence), reason: Reason(rawValue: reason),
      detail: detail, count: count)
  }

  /// Stands for the line in a key: 32 digits, the same in every build.
  var digest: String {
    var bytes: [UInt8] = []
    // A byte that is in no text keeps ("a", "bc") apart from ("ab", "c").
    for word in order { bytes += Array(word.utf8) + [0xff] }
    return StoredWord.digest(bytes)
  }

  private var order: [String] { [transport, fingerprint, platform, outcome, evidence, reason, detail] }

  static func < (left: StoredLine, right: StoredLine) -> Bool {
    left.order.lexicographicallyPrecedes(right.order)
  }
}
