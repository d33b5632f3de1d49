/// What the loop and its connections share. Touched only by the pool's thread.
final class PoolTurn {
  /// The moment of this turn on `MonotonicClock`; reading the clock per request would cost more than the request.
  var now: Int64
  let options: HTTP2Options
  let keptNames: [[UInt8]]
  let keptAnswers = KeptAnswerStock()
  let readBuffer: UnsafeMutableRawBufferPointer
  private var lastPlace: UInt64 = 0
  private var lastConnection: UInt32 = 0
  /// How many answers below 500 came over all connections: the lane makes progress.
  var answers: UInt64 = 0
  /// How many streams a new connection may have open: what this server was seen to take.
  private(set) var startWidth = StreamRamp.start
  /// How many streams a connection has when it is at its limit, as far as is known.
  var usualStreams: Int

  /// A new connection never begins with more, whatever the server was seen to take.
  private static let greatestStart = 100

  init(options: HTTP2Options, now: Int64) {
    self.options = options
    self.now = now
    usualStreams = max(1, min(PoolTurn.greatestStart, options.maxStreamsPerConnection))
    keptNames = options.keptFields.prefix(255).map { Array($0.utf8) }
    readBuffer = .allocate(byteCount: 64 * 1024, alignment: 16)
  }

  deinit { readBuffer.deallocate() }

  /// A connection's width grew, twofold with each round: half of it was taken at once and answered.
  func grew(to width: Int) { startWidth = max(startWidth, min(width / 2, PoolTurn.greatestStart)) }

  /// Streams were refused, or left out by a GOAWAY, when so many were allowed.
  func refused(at width: Int) { startWidth = max(1, min(startWidth, width) / 2) }

  /// The next place in the order in which requests are written.
  func nextPlace() -> UInt64 {
    lastPlace += 1
    return lastPlace
  }

  /// The number of the next connection; never 0.
  func nextConnection() -> UInt32 {
    lastConnection = lastConnection == .max ? 1 : lastConnection + 1
    return lastConnection
  }
}
