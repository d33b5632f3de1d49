/// A token that its service reported dead, as the application's hook hears of it: before anything is done to the row, and
/// under every policy.
public struct PushRejection: Sendable {
  /// Stays the same if a crash makes the hook fire again for the same answer.
  public var eventID: String
  public var job: JobID
  public var table: TableName
  public var key: RowKey
  /// The token that was sent to; the row still holds it.
  public var token: DeviceToken
  /// The row whole, read just before the hook.
  public var row: Row
  public var platform: Platform
  public var transport: TransportName
  /// What happens to the row unless the hook answers `keep`.
  public var policy: Policy
  public var reason: Reason
  public var evidence: Evidence
  public var status: Int?
  /// The service's own words.
  public var words: String?
  /// Since when the token has been dead, in milliseconds since 1970, where the service said so.
  public var deadSince: Int64?
  /// What the application said about the job when it enqueued it.
  public var attribution: [String: String]

  /// A rejection made by hand: for tests of a hook.
  public init(
    eventID: String, job: JobID, table: TableName, key: RowKey, token: DeviceToken, row: Row, platform: Platform,
    transport: TransportName, policy: Policy = .clearColumn, reason: Reason, evidence: Evidence = .conclusive,
    status: Int? = nil, words: String? = nil, deadSince: Int64? = nil, attribution: [String: String] = [:]
  ) {
    self.eventID = eventID
    self.job = job
    self.table = table
    self.key = key
    self.token = token
    self.row = row
    self.platform = platform
    self.transport = transport
    self.policy = policy
    self.reason = reason
    self.evidence = evidence
    self.status = status
    self.words = words
    self.deadSince = deadSince
    self.attribution = attribution
  }

  init(_ question: BatchStep.HookQuestion, of job: Job) {
    let rejection = question.rejection
    eventID = rejection.eventID
    self.job = job.id
    table = job.definition.audience.table
    key = rejection.key
    token = rejection.token
    row = question.row
    platform = rejection.group.platform
    transport = rejection.group.transport
    policy = job.definition.policy
    reason = rejection.reason
    evidence = rejection.evidence
    status = rejection.status
    words = rejection.words
    deadSince = rejection.deadSince
    attribution = job.definition.attribution
  }
}

extension PushRejection: CustomStringConvertible, CustomReflectable {
  /// Names the row by its key; the token is shortened.
  public var description: String {
    "\(reason) from \(transport) for \(table) row \(key.description(hiding: token)), token \(token)"
  }
  /// Without the row, whose token column holds the whole token.
  public var customMirror: Mirror { Mirror(self, children: ["rejection": description]) }
}

extension Row: CustomStringConvertible, CustomReflectable {
  /// The columns' names only: one of the values is a whole token.
  public var description: String { "a row of \(columns.joined(separator: ", "))" }
  public var customMirror: Mirror { Mirror(self, children: ["columns": columns]) }
}
