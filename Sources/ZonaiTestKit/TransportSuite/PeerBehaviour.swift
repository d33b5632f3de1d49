/// What a peer does with a request.
public enum PeerBehaviour: Sendable, Hashable {
  /// The token is dead, beyond doubt.
  case reportDead
  /// Too much just now (429), with the wait that the answer asks for, if any. Only where
  /// `capabilities.throttle` is not nil.
  case throttle(Wait? = nil)
  /// The service is in trouble (503), with the wait that the answer asks for, if any.
  case fail(Wait? = nil)
  /// The credentials are not accepted.
  case refuseCredentials
  /// The message is not accepted; not as `prepare` could have known.
  case refuseMessage
  /// An answer that is not in the transport's table, and that has this text wherever the service's
  /// answers have text.
  case say(String)
  /// Delivers the push, and its answer is lost in this way. Only where `capabilities.losses` has
  /// it.
  case loseAnswer(Loss)
  /// Says that the request was not handled. Only where `capabilities.refusals` has it.
  case refuse(Refusal)

  /// How an answer is lost.
  public enum Loss: String, Sendable, Hashable, CaseIterable {
    /// The connection is reset (TCP RST) once the request was read.
    case connectionReset
    /// The connection is closed in order once the request was read.
    case connectionClosed
    /// The connection is closed behind the head of an acceptance.
    case afterHead
    /// The connection is closed inside the body of an answer that calls the token dead.
    case insideBody
    /// The request's stream is reset (HTTP/2's RST_STREAM), with a code that leaves open whether it
    /// was handled.
    case streamReset
    /// No answer, ever, on a connection that stays open.
    case silence
  }

  /// How a peer says that a request was certainly not handled.
  public enum Refusal: String, Sendable, Hashable, CaseIterable {
    /// This request alone (REFUSED_STREAM).
    case stream
    /// This request and later ones of the connection (GOAWAY).
    case goAway
  }

  /// A wait that an answer asks for (Retry-After).
  public enum Wait: Sendable, Hashable {
    /// `Retry-After: 1800`
    case seconds(Int)
    /// `Retry-After: Wed, 21 Oct 2026 07:28:00 GMT`, which is so many seconds after the answer's
    /// `Date`.
    case date(secondsAhead: Int)

    public var seconds: Int {
      switch self {
      case .seconds(let seconds), .date(let seconds): seconds
      }
    }
  }
}
