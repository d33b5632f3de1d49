/// The name of a job: text that sorts by time of enqueuing.
public struct JobID: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ text: String) { rawValue = text }
  public var description: String { rawValue }

  public init(from decoder: any Decoder) throws {
    rawValue = try decoder.singleValueContainer().decode(String.self)
  }
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}

/// What was asked for, unchanged for the job's whole life.
public struct JobDefinition: Sendable, Hashable, Codable {
  public var message: PushMessage
  /// With its key columns filled in.
  public var audience: Audience
  public var policy: Policy
  public var routes: Routes
  /// The application's own words about this job, handed to every hook and never interpreted.
  public var attribution: [String: String]

  public init(
    message: PushMessage, audience: Audience, policy: Policy, routes: Routes, attribution: [String: String] = [:]
  ) {
    self.message = message
    self.audience = audience
    self.policy = policy
    self.routes = routes
    self.attribution = attribution
  }
}

extension JobDefinition {
  /// The transports that some row of the audience can be routed to: where all rows have one platform, its transport alone. A
  /// message that another lane would refuse is fine then.
  public var reachedTransports: Set<TransportName> {
    switch audience.platform {
    case .fixed(let platform): Set([routes.transport(for: platform)].compactMap { $0 })
    case .unknown: Set([routes.unknown].compactMap { $0 })
    case .column: routes.transports
    }
  }
}

/// What follows a permanent rejection, once the hook was asked.
public enum Policy: String, Sendable, Hashable, Codable, CaseIterable {
  /// Sets the token column to NULL. The default: a row may be somebody's account, and the next registration revives it.
  case clearColumn
  /// Deletes the row. For tables that hold nothing but tokens.
  case deleteRow
  /// Leaves the row as it is; the hook is still told.
  case none
}

/// One job as the store has it.
public struct Job: Sendable {
  public var id: JobID
  public var app: AppName
  public var definition: JobDefinition
  /// What its transports were bound to when it was enqueued or first claimed, in order; empty
  /// before.
  public var identities: [LaneIdentity]
  public var state: JobState
  public var counts: JobCounts
  /// The counts again, by group, outcome and reason.
  public var tally: [TallyLine]
  /// What the look at its table at the first claim found.
  public var notes: [JobNote]
  /// Why the job stopped; stays until a resume.
  public var error: JobFailure?
  public var suspects: SuspectMode
  /// Recipients that some batch still owes an answer, and when the first of them is due (milliseconds since 1970).
  public var owed: Int
  public var nextDueAt: Int64?
  /// Milliseconds since 1970, by the store's clock.
  public var createdAt: Int64
  public var dueAt: Int64
  public var startedAt: Int64?
  public var finishedAt: Int64?

  public init(
    id: JobID, app: AppName = .standard, definition: JobDefinition, identities: [LaneIdentity] = [],
    state: JobState, counts: JobCounts = JobCounts(), tally: [TallyLine] = [], notes: [JobNote] = [],
    error: JobFailure? = nil, suspects: SuspectMode = .ask, owed: Int = 0, nextDueAt: Int64? = nil, createdAt: Int64,
    dueAt: Int64, startedAt: Int64? = nil, finishedAt: Int64? = nil
  ) {
    self.id = id
    self.app = app
    self.definition = definition
    self.identities = identities
    self.state = state
    self.counts = counts
    self.tally = tally
    self.notes = notes
    self.error = error
    self.suspects = suspects
    self.owed = owed
    self.nextDueAt = nextDueAt
    self.createdAt = createdAt
    self.dueAt = dueAt
    self.startedAt = startedAt
    self.finishedAt = finishedAt
  }

  /// When the message's time to live ends; nil when it has none, or is "now or never" (0), which expires nobody here.
  public var expiresAt: Int64? {
    guard let ttl = definition.message.timeToLive, ttl > 0 else { return nil }
    return dueAt + Int64(ttl) * 1000
  }
}

/// What a resume says about the recipients that the batch guard held back.
public enum SuspectMode: String, Sendable, Hashable, Codable {
  /// They are sent to again and judged as before.
  case ask
  /// Circumstantial answers of their groups count as transient to the job's end.
  case keep
  /// They, and only they, are pruned when they are rejected again, without witness, guard and ceiling.
  case prune
}
