/// Why there is no answer to read.
public enum ConnectionFailure: String, Sendable, Hashable, Codable, CaseIterable {
  /// Written whole, and no answer within the time limit.
  case timedOut
  /// Written whole, and the connection or the stream ended before the answer was whole.
  case answerLost
  /// Surely not handled: above a GOAWAY's last stream, REFUSED_STREAM, or END_STREAM never written.
  case notHandled
  case cannotConnect
  case nameNotResolved
  /// The chain ends at nobody that is trusted here, or the certificate is out of date.
  case certificateNotTrusted
  /// The certificate is another host's.
  case certificateNameWrong
  /// The server speaks HTTP/1.1 only.
  case http2NotSpoken
}
