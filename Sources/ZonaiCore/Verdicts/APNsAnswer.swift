/// One answer of APNs, decoded: what the verdict table reads, and nothing else.
public struct APNsAnswer: Sendable, Hashable {
  public var status: Int
  public var body: AnswerBody
  public var reason: String?
  /// Since when the token is dead, in milliseconds since 1970; Apple sends it with 410.
  public var timestamp: Int64?
  /// Whether the answer carried the header `apns-id`: Apple's does, a proxy's does not.
  public var hasID: Bool
  /// The header `retry-after`, as it came. Apple documents none.
  public var retryAfter: String?
  /// The header `date`, as it came.
  public var date: String?

  public init(
    status: Int, body: AnswerBody, reason: String? = nil, timestamp: Int64? = nil, hasID: Bool = false,
    retryAfter: String? = nil, date: String? = nil
  ) {
    self.status = status
    self.body = body
    self.reason = reason
    self.timestamp = timestamp
    self.hasID = hasID
    self.retryAfter = retryAfter
    self.date = date
  }
}
