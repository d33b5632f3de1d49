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

/// The answers to one `PushBatch`.
public struct PushBatchResult: Sendable {
  /// One for each element of the batch's selection, in its order.
  public var answers: [PushAnswer]
  /// A fault of the lane that no single answer carries: no access token to be had, the name does not resolve. It explains
  /// the `notSent` answers.
  public var laneFault: Verdict?
  /// Whether the lane answered requests of other batches since this send began. While it does, or
  /// answers others of this batch, a request that surely was not handled is sent again without
  /// using up an attempt.
  public var laneAnswered: Bool

  public init(answers: [PushAnswer], laneFault: Verdict? = nil, laneAnswered: Bool = false) {
    self.answers = answers
    self.laneFault = laneFault
    self.laneAnswered = laneAnswered
  }

  /// Nothing was sent, and this is why.
  public static func nothingSent(_ count: Int, because fault: Verdict?) -> PushBatchResult {
    PushBatchResult(answers: Array(repeating: .notSent, count: count), laneFault: fault)
  }
}

/// What is known of one recipient after a send.
public enum PushAnswer: Sendable, Hashable {
  case delivered(Sent)
  /// Anything but a delivery. Boxed: most answers are deliveries.
  indirect case answered(Verdict, Sent)
  /// No request was opened.
  case notSent

  /// When, in the order of all sends of the lane, the request was opened, and under which credential. "Sent after it under
  /// the same credential" is decided by these two.
  public struct Sent: Sendable, Hashable {
    public var order: UInt64
    public var credential: UInt32
    public init(order: UInt64, credential: UInt32) {
      self.order = order
      self.credential = credential
    }
  }

  /// Whether the service answered, and not to say that it is in trouble or that the connection
  /// ends.
  var isProgress: Bool {
    switch self {
    case .delivered: true
    case .answered(let verdict, _):
      verdict.status != nil && verdict.fault != .service && verdict.fault != .connection
    case .notSent: false
    }
  }

  /// Whether something answered at all: a time-out or a lost connection did not.
  var isSpoken: Bool {
    switch self {
    case .delivered: true
    case .answered(let verdict, _): verdict.status != nil
    case .notSent: false
    }
  }

  public var sent: Sent? {
    switch self {
    case .delivered(let sent), .answered(_, let sent): sent
    case .notSent: nil
    }
  }
}
