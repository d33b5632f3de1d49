/// How a pool connects, how many requests it has under way, and how long it waits. All times are milliseconds.
public struct HTTP2Options: Sendable {
  /// A PEM file of authorities to trust besides the system's directory of certificates; none by default.
  public var caFile: String?
  /// The limit for name look-up, TCP, proxy and TLS together. The default is 10 s.
  public var connectTimeout: Int64 = 10_000
  /// How long an answer may take, from the moment at which the request was written. The default is 30 s.
  public var requestTimeout: Int64 = 30_000
  /// How many connections are opened at most. Another one is opened only while more requests wait
  /// than the others have room for: one until the server has answered, then several at once. The
  /// default is 4: speed is streams divided by latency, and few services welcome more.
  public var maxConnections = 4
  /// How many requests are under way on one connection at most, however many the server allows. The default is 1000.
  public var maxStreamsPerConnection = 1000
  /// Keeps a connection at one request until it has answered one with 200, as APNs demands. Off by default.
  ///
  /// SETTINGS that allow more than one and come after an answer count as well: where every token is dead there is no 200.
  public var singleStreamUntilAccepted = false
  /// After how much silence a PING is sent while requests are under way; nil sends none. The default is 10 s.
  ///
  /// A PING that brings nothing within the same time again ends the connection.
  public var pingAfterSilence: Int64? = 10_000
  /// How long a connection may carry nothing before a PING asks whether it is still there. The
  /// default is 2 minutes: firewalls and address translators drop idle connections after some
  /// minutes, without notice.
  ///
  /// No request is opened on it until it has answered; it has 10 s, or the time limit of a request
  /// if that is shorter.
  public var pingAfterIdle: Int64 = 120_000
  /// The wait after a first failed connect; it doubles with each further one, with jitter. The default is 250 ms.
  public var reconnectDelay: Int64 = 250
  /// The longest such wait. The default is 10 s.
  public var maxReconnectDelay: Int64 = 10_000
  /// How long requests wait without room before more connections are opened. The default is 20 ms.
  public var patienceBeforeAnotherConnection: Int64 = 20
  /// What the body of a 200 must be; anything by default. A 200 with another body is kept like any other answer.
  public var acceptedBody = AcceptedBody.anything
  /// The names, in lower case, of the header fields that are kept of answers other than 200.
  public var keptFields: [String] = ["retry-after", "date", "content-type"]
  /// The name of the thread.
  public var threadName = "zonai-http2"

  public init() {}
}
