/// One recipient whose token was reported dead, from the moment this is recorded until its row is dealt with.
public struct Rejection: Sendable, Hashable, Codable {
  /// Stays the same if a crash makes the hook fire again. Made when the answer is recorded.
  public var eventID: String
  public var key: RowKey
  public var token: DeviceToken
  /// The last-seen column as it was read for the send; nil when the audience names none.
  public var lastSeen: Value?
  public var group: Group
  public var evidence: Evidence
  public var reason: Reason
  public var status: Int?
  /// The service's own words.
  public var words: String?
  /// Since when the token has been dead, in milliseconds since 1970, where the service said so.
  public var deadSince: Int64?

  public init(
    eventID: String, key: RowKey, token: DeviceToken, lastSeen: Value?, group: Group, evidence: Evidence,
    reason: Reason, status: Int?, words: String?, deadSince: Int64?
  ) {
    self.eventID = eventID
    self.key = key
    self.token = token
    self.lastSeen = lastSeen
    self.group = group
    self.evidence = evidence
    self.reason = reason
    self.status = status
    self.words = words
    self.deadSince = deadSince
  }
}

extension Rejection: CustomStringConvertible, CustomReflectable {
  /// Names the row by its key; the token is shortened.
  public var description: String {
    "\(reason) from \(group.transport) for row \(key.description(hiding: token)), token \(token), event \(eventID)"
  }
  public var customMirror: Mirror { Mirror(self, children: ["rejection": description]) }
}

/// One recipient that a batch still owes: it is sent to again by key, with the token that its row has by then.
public struct OwedRecipient: Sendable, Hashable, Codable {
  public var key: RowKey
  /// Attempts used up so far, over all claims.
  public var attempts: Int
  /// Free repeats used up so far, over all claims.
  public var freeRepeats: Int
  /// How long to wait before it may be sent, in milliseconds from the settling (what a settlement says), or the moment in
  /// milliseconds since 1970 (what a claim says).
  public var notBefore: Int64
  /// How many rounds of an outage it has seen, and when the outage began (milliseconds since 1970, the store's clock).
  public var outageRounds: Int
  public var outageSince: Int64?
  /// The group whose guard held it back, if one did.
  public var suspectOf: Group?
  /// `DeviceToken.digest` of the token that was suspected: an operator's word is about that one, not about its successor.
  public var tokenDigest: UInt64?
  /// Whether an answer that nobody knows was tried again already.
  public var wasUnknown: Bool

  public init(
    key: RowKey, attempts: Int = 0, freeRepeats: Int = 0, notBefore: Int64 = 0, outageRounds: Int = 0,
    outageSince: Int64? = nil, suspectOf: Group? = nil, tokenDigest: UInt64? = nil, wasUnknown: Bool = false
  ) {
    self.key = key
    self.attempts = attempts
    self.freeRepeats = freeRepeats
    self.notBefore = notBefore
    self.outageRounds = outageRounds
    self.outageSince = outageSince
    self.suspectOf = suspectOf
    self.tokenDigest = tokenDigest
    self.wasUnknown = wasUnknown
  }
}
