/// What became of one request.
public enum HTTP2Outcome: Sendable, Hashable {
  /// The server answered with this status.
  case answered(UInt16)
  /// The server surely did nothing with it; it may be sent again at once.
  case notHandled(NotHandled)
  /// It was written, and what the server did with it is unknown.
  case answerLost(AnswerLost)
  /// It was never opened.
  case notSent(NotSent)

  public enum NotHandled: Sendable, Hashable {
    /// The server ended the connection and named this request among those that it did not look at.
    case goAway
    /// The server refused the stream.
    case refused
    /// The connection or the time ended before the whole request was written.
    case neverWritten
  }

  public enum AnswerLost: Sendable, Hashable {
    /// The server reset the stream.
    case reset
    /// The connection ended.
    case connectionLost
    /// No answer came within the time for requests.
    case timedOut
    /// The pool was closed.
    case poolClosed
  }

  public enum NotSent: Sendable, Hashable {
    case notSelected
    /// The permit had ended, or the sending task was cancelled.
    case permitEnded
    /// `stopAfter` said so, or the connections that it was meant for were replaced.
    case stopped
    /// There was no connection; the batch's failure says why.
    case noConnection
    /// Its path or the batch's fields cannot be put on the wire.
    case malformed
    case poolClosed
  }

  /// The status, if there was an answer.
  public var status: UInt16? {
    if case .answered(let status) = self { return status }
    return nil
  }
}
