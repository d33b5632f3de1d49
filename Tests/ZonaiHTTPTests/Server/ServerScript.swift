import ZonaiHTTP

/// A request as the test's server saw it.
struct ServedRequest: Sendable {
  /// Which connection it came over, counted from 0.
  var connection: Int
  /// Which request on that connection it is, counted from 0.
  var number: Int
  var stream: Int32
  /// How many streams of the connection were open when it began, itself included.
  var openStreams: Int
  var path: String
  var fields: [String: String]
  var body: [UInt8]
}

/// What the server does once a request is complete.
enum Reaction: Sendable {
  case answer(Int, fields: [String: String] = [:], body: String = "")
  /// The head and this much of a body, whose end never comes.
  case begin(Int, body: String)
  /// RST_STREAM with this code.
  case reset(UInt32)
  /// No answer, ever.
  case silence
  /// No answer until the test calls `release`.
  case hold
  /// GOAWAY; streams above the last one are forgotten.
  case goAway(lastStream: Int32, code: UInt32 = 0, debugData: String = "")
  /// SETTINGS_MAX_CONCURRENT_STREAMS.
  case allow(UInt32)
  /// Writes what is to be written, then closes the socket.
  case drop
  /// Does nothing any more, not even answer a PING, as if the network were gone.
  case freeze
  case sequence([Reaction])

  static let ok = Reaction.answer(200)
  static let refused: UInt32 = 7
  static let cancelled: UInt32 = 8
}

/// How the server behaves towards each connection and request.
struct ServerScript: Sendable {
  enum Welcome: Sendable {
    case http2
    /// Completes the handshake without agreeing on HTTP/2.
    case noALPN
    /// Refuses the handshake, since the client offers no HTTP/1.1.
    case http1Only
    /// Closes as soon as it has accepted.
    case closes
    /// Closes once the TLS handshake is done.
    case closesAfterHandshake
    /// Accepts and says nothing, not even in TLS.
    case isMute
  }

  var welcome = Welcome.http2
  /// nil sends no limit at all.
  var streamLimit: UInt32? = 1000
  /// The window of each stream; small ones keep bodies waiting.
  var window: UInt32 = 65_535
  /// The name in the certificate.
  var name = "localhost"
  var react: @Sendable (ServedRequest) -> Reaction = { _ in .ok }
  /// What it does once the header fields are complete and a body is still to come.
  var reactToHead: @Sendable (ServedRequest) -> Reaction = { _ in .silence }
  /// What it does beside answering a PING.
  var reactToPing = Reaction.silence
  /// Whether what is held is answered when the client resets a stream.
  var releasesOnReset = false
}

extension ServerScript {
  /// Takes one request at a time, and takes back the permit while it answers the third.
  static func revoking(_ permit: HTTP2Permit) -> ServerScript {
    ServerScript(
      streamLimit: 1,
      react: { request in
        if request.number == 2 { permit.revoke() }
        return .ok
      })
  }
}
