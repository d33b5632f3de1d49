/// Why a server could not be spoken to: a code to branch on, a sentence that says what to look at, and what the library
/// beneath said.
public struct HTTPFailure: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: Sendable, Hashable, CaseIterable {
    /// The name has no address, or the name server did not answer.
    case nameNotResolved
    /// Nobody listens there, or the network refuses the way.
    case unreachable
    /// No connection within the connect time-out.
    case connectTimedOut
    /// The certificate is not signed by an authority that is trusted here, or is out of date.
    case certificateNotTrusted
    /// The certificate belongs to another name.
    case certificateNameMismatch
    /// The file with extra authorities cannot be read.
    case unreadableCAFile
    /// The TLS handshake failed in another way.
    case handshakeFailed
    /// The server does not speak HTTP/2.
    case http11Only
    /// The proxy cannot be reached, or is in trouble.
    case proxyFailed
    /// The proxy wants another user or password, or forbids the host.
    case proxyRefused
    /// The connection was made, and ended before it answered a single request.
    case closedBeforeAnswer
    /// The server accepts connections and allows no request on them.
    case noStreamsAllowed
    /// The answer did not come in time (single requests only).
    case timedOut
    /// The answer is larger than allowed (single requests only).
    case answerTooLarge
    /// The request itself cannot be sent, for example for a line break in a header field.
    case malformedRequest
    /// The task was cancelled (single requests only).
    case cancelled
    /// libcurl on this machine uses another TLS library than OpenSSL.
    case unsupportedLibrary
    /// Anything else; the detail has the library's words.
    case other
  }

  public let code: Code
  /// One sentence that says what is wrong and what to look at.
  public let message: String
  /// What the library beneath said, if anything.
  public let detail: String

  public init(_ code: Code, _ message: String, detail: String = "") {
    self.code = code
    self.message = message
    self.detail = detail
  }

  public var description: String { detail.isEmpty ? message : "\(message) (\(detail))" }
}
