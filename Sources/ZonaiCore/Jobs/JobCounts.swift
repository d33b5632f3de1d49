/// What became of a job's recipients so far. Adds up after every commit (`addsUp`).
public struct JobCounts: Sendable, Hashable, Codable {
  public var delivered = 0
  /// Tokens reported dead, each counted once it was pruned, spared or kept.
  public var permanentlyRejected = 0
  public var transientlyFailed = 0
  public var expired = 0
  public var pruned = 0
  /// Rejected, but the row had changed meanwhile, was locked, or the database refused the prune.
  public var spared = 0
  /// Rejected, and left alone because the hook said keep or the policy is `none`.
  public var kept = 0
  /// Recipients that a takeover sent to again, at most: those that were unsettled when the batch changed hands.
  public var repeatedByTakeover = 0
  /// Recipients whose answer was lost and who were tried again.
  public var repeatedAfterLostAnswer = 0
  /// Hooks that threw, or outlasted their limit.
  public var hooksFailed = 0

  public init() {}

  public var settled: Int { delivered + permanentlyRejected + transientlyFailed + expired }

  public var addsUp: Bool { permanentlyRejected == pruned + spared + kept }

  public static func += (left: inout JobCounts, right: JobCounts) {
    left.delivered += right.delivered
    left.permanentlyRejected += right.permanentlyRejected
    left.transientlyFailed += right.transientlyFailed
    left.expired += right.expired
    left.pruned += right.pruned
    left.spared += right.spared
    left.kept += right.kept
    left.repeatedByTakeover += right.repeatedByTakeover
    left.repeatedAfterLostAnswer += right.repeatedAfterLostAnswer
    left.hooksFailed += right.hooksFailed
  }
}

/// One line of a job's account: how many of a group ended so, and why.
public struct TallyLine: Sendable, Hashable, Codable {
  public enum Outcome: String, Sendable, Hashable, Codable {
    case delivered, transientlyFailed, expired, pruned, spared, kept

    public var isRejection: Bool { self == .pruned || self == .spared || self == .kept }
  }

  /// How many lines with a detail a job's account takes. What comes later is counted without one,
  /// unless the account has the very line: details hold others' words, which may be different for
  /// each row.
  public static let mostDetails = 100

  public var group: Group
  public var outcome: Outcome
  /// Of answers that called the token dead: of rejections, and of circumstantial answers that
  /// counted as transient.
  public var evidence: Evidence?
  public var reason: Reason
  /// What a person would want to read: the setting, the service's words, "above the ceiling". At most 200 characters.
  public var detail: String
  public var count: Int

  public init(
    group: Group, outcome: Outcome, evidence: Evidence? = nil, reason: Reason, detail: String = "", count: Int
  ) {
    self.group = group
    self.outcome = outcome
    self.evidence = evidence
    self.reason = reason
    self.detail = detail
    self.count = count
  }
}
