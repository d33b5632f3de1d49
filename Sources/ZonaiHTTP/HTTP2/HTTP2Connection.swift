import CZonaiNGHTTP2

/// One HTTP/2 connection: opens streams for batches, gathers their frames into few writes, and says what became of each.
///
/// Touched only by the pool's thread.
final class HTTP2Connection {
  let turn: PoolTurn
  /// Tells it from the pool's other connections, those that are gone included.
  let number: UInt32
  /// The batch that has it to itself; nil for a connection that all share.
  var owner: BatchRun?
  /// Whether it has carried a request, whatever became of it.
  var isUsed = false
  let transport: TLSConnection
  let socket: Int32
  /// Whether it is of no more use; everything that it carried has been reported.
  var isLost = false
  /// Whether it has answered a request. One that ends without is as good as a failed connect.
  var hasAnswered: Bool { answers > 0 }
  /// Set by the pool, so that its first answer, or such an end, is counted once.
  var isCounted = false
  /// Set by the pool when it has counted an early end.
  var isEndCounted = false
  /// Whether a new request may not be opened any more: after GOAWAY, or because the pool wants a fresh connection.
  var isDraining = false
  /// Whether it is still finding out how many streams it may open.
  var isWarmingUp: Bool { !hasSettings || (turn.options.singleStreamUntilAccepted && !wasAccepted) }
  /// Whether bytes wait for the socket to take them.
  var wantsWrite = false

  let origin: HTTPOrigin
  var session: HTTP2Session?
  var slots: StreamSlots
  var unfinished = SlotQueue()
  var awaited = SlotQueue()
  /// The first awaited slot whose end may not have reached the wire.
  var unwritten: UnsafeMutablePointer<StreamSlot>?

  var hasSettings = false
  var wasAccepted = false
  var answers: UInt64 = 0
  var serverLimit = 1
  var ramp: StreamRamp
  /// Whether as many streams are open as the ramp allows, and requests wait.
  var isPressed = false
  /// When the ramp began or last grew.
  var grownAt: Int64
  /// Whether a GOAWAY left out streams that were open.
  var wasCutShort = false
  var goAway: HTTP2GoAway?
  var isSayingFarewell = false
  var ownFailure: HTTPFailure?
  /// Whether the pool opens nothing more on it for reasons of its own.
  var isReplaced = false
  /// Whether the server ended it, or the network did.
  var wasLost = false

  let output: UnsafeMutableRawBufferPointer
  var outputStart = 0
  var outputEnd = 0
  var gathered: Int64 = 0
  var written: Int64 = 0

  let openedAt: Int64
  var lastRead: Int64
  var pingSent: Int64?
  var idleProbe = IdleProbe()
  var blockedSince: Int64?
  var starvedSince: Int64?

  // One of nghttp2's frames is at most 16 KiB and its header.
  static let gatherLimit = 48 * 1024
  static let outputCapacity = gatherLimit + 16 * 1024 + 64

  init(_ transport: TLSConnection, socket: Int32, origin: HTTPOrigin, turn: PoolTurn) throws(HTTPFailure) {
    self.transport = transport
    self.socket = socket
    self.origin = origin
    self.turn = turn
    number = turn.nextConnection()
    // Streams that were given up count against nothing but memory until the server lets go of them.
    slots = StreamSlots(count: turn.options.maxStreamsPerConnection + 64)
    output = .allocate(byteCount: Self.outputCapacity, alignment: 16)
    openedAt = turn.now
    lastRead = turn.now
    ramp = StreamRamp(width: turn.startWidth)
    grownAt = turn.now
    session = try HTTP2Session(for: self)
  }

  deinit {
    session = nil
    output.deallocate()
  }

  var openStreams: Int { slots.inUse }

  /// How many streams may be open now.
  var limit: Int { min(greatestLimit, isWarmingUp ? 1 : ramp.width) }

  /// How many there may be when it has warmed up and the ramp is at its end.
  var greatestLimit: Int { min(serverLimit, turn.options.maxStreamsPerConnection) }

  /// How long it may stand still and still counts as growing.
  static let growthPatience: Int64 = 250

  /// Whether more streams will be allowed in a moment.
  var isGrowing: Bool {
    ramp.isDoubling && ramp.width < greatestLimit && turn.now - grownAt < Self.growthPatience
  }

  /// How many more requests it will have room for as soon as it has warmed up or grown.
  var expectedRoom: Int {
    let streams =
      if isWarmingUp && !hasAnswered {
        turn.usualStreams
      } else if !isWarmingUp && isGrowing {
        greatestLimit
      } else {
        limit
      }
    return max(0, streams - slots.inUse)
  }

  /// Whether a request of any batch may be opened.
  var hasRoom: Bool { owner == nil && hasFreeStream }

  var hasFreeStream: Bool {
    !isDraining && !isLost && idleProbe.sentAt == nil && !isDoubtful && slots.inUse < limit && !slots.isFull
  }

  /// Opens streams for the batch while there is room. False if none was opened.
  @discardableResult
  func fill(with run: BatchRun) -> Bool {
    let before = slots.inUse
    while hasFreeStream, let request = run.next(now: turn.now) {
      if open(run, request) { run.advance() }
    }
    return slots.inUse > before
  }

  /// Whether it carried nothing for so long that it may be gone without a word.
  var isDoubtful: Bool {
    slots.inUse == 0 && !idleProbe.isAnswered && turn.now - lastRead >= turn.options.pingAfterIdle
  }

  /// Opens a stream for the request. False when the connection cannot; it takes no further ones then.
  func open(_ run: BatchRun, _ request: Int) -> Bool {
    guard let session = session?.handle, let slot = slots.take() else { return false }
    run.memory.select(request)
    var provider = nghttp2_data_provider()
    provider.source.ptr = UnsafeMutableRawPointer(slot)
    provider.read_callback = readRequestBody
    let stream = nghttp2_submit_request(
      session, nil, run.memory.fields.baseAddress, run.memory.fields.count, &provider, slot)
    guard stream > 0 else {
      // Stream numbers are used up after a billion requests.
      slots.giveBack(slot)
      isDraining = true
      return false
    }
    isUsed = true
    idleProbe = IdleProbe()
    slot.pointee.phase = .opened
    slot.pointee.run = .passUnretained(run)
    slot.pointee.request = request
    slot.pointee.stream = stream
    slot.pointee.since = turn.now
    unfinished.append(slot)
    run.streams += 1
    return true
  }
}

/// The PING that a connection is asked with after it was idle.
struct IdleProbe {
  /// When it was sent, until it is answered.
  var sentAt: Int64?
  /// Whether it was answered, and nothing was opened since.
  var isAnswered = false

  /// How long an answer may take, in milliseconds.
  static let patience: Int64 = 10_000
}
