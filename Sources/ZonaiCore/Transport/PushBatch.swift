/// One message to some tokens over one lane.
public struct PushBatch: Sendable {
  public let message: PreparedMessage
  /// The tokens of the whole page; `selection` says which of them are meant.
  public let tokens: TokenList
  /// Indexes into `tokens`, in the order in which they are to be sent.
  public let selection: [Int]
  /// When the message's time to live ends, in milliseconds since 1970; nil when it has none. Every send carries what is left.
  public let expiresAt: Int64?
  /// Until when new requests may be opened.
  public let permit: SendPermit
  /// `expiresAt` on the monotonic clock, by which what is left is reckoned: the store tells the time, and this machine's wall
  /// clock may be wrong. nil when nobody said; then the wall clock decides.
  public let expiresAtMoment: Int64?
  /// Which of the lane's connections carry it.
  public var route: ConnectionRoute = .any

  public init(
    message: PreparedMessage, tokens: TokenList, selection: [Int], expiresAt: Int64?, permit: SendPermit,
    expiresAtMoment: Int64? = nil
  ) {
    self.message = message
    self.tokens = tokens
    self.selection = selection
    self.expiresAt = expiresAt
    self.permit = permit
    self.expiresAtMoment = expiresAtMoment
  }

  /// The store's time at a moment of the monotonic clock, in milliseconds since 1970; nil when the batch does not say.
  public func time(at moment: Int64) -> Int64? {
    guard let expiresAt, let expiresAtMoment else { return nil }
    return expiresAt - (expiresAtMoment - moment)
  }

  public var count: Int { selection.count }
}

/// What became of one request.
public enum PushAnswer: Sendable, Hashable {
  case delivered(Sent)
  /// Anything but a delivery. Boxed: most answers are deliveries.
  indirect case answered(Verdict, Sent)

  /// How the request was sent.
  public struct Sent: Sendable, Hashable {
    /// When it was, in the order of all sends of the lane, and under which credential. "Sent after
    /// it under the same credential" is decided by these two.
    public var order: UInt64
    public var credential: UInt32
    /// The lane's number of the connection that carried it, for `ConnectionRoute.avoiding`; 0 when
    /// unknown.
    public var connection: UInt32

    public init(order: UInt64, credential: UInt32, connection: UInt32 = 0) {
      self.order = order
      self.credential = credential
      self.connection = connection
    }
  }

  /// Whether the service answered, and not to say that it is in trouble or that the connection
  /// ends.
  var isProgress: Bool {
    switch self {
    case .delivered: true
    case .answered(let verdict, _):
      verdict.status != nil && verdict.fault != .service && verdict.fault != .connection
    }
  }

  /// Whether something answered at all: a time-out or a lost connection did not.
  var isSpoken: Bool {
    switch self {
    case .delivered: true
    case .answered(let verdict, _): verdict.status != nil
    }
  }

  public var sent: Sent {
    switch self {
    case .delivered(let sent), .answered(_, let sent): sent
    }
  }
}
