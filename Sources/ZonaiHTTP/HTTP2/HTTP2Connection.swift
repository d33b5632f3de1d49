import CZonaiNGHTTP2

/// One HTTP/2 connection: opens streams for batches, gathers their frames into few writes, and says what became of each.
///
/// Touched only by the pool's thread.
final class HTTP2Connection {
  let turn: PoolTurn
  let transport: TLSConnection
  let socket: Int32
  /// Whether it is of no more use; everything that it carried has been reported.
  private(set) var isLost = false
  /// Whether it has answered a request. One that ends without is as good as a failed connect.
  var hasAnswered: Bool { answers > 0 }
  /// Set by the pool, so that such an end is counted once.
  var isCounted = false
  /// Whether a new request may not be opened any more: after GOAWAY, or because the pool wants a fresh connection.
  private(set) var isDraining = false
  /// Whether it is still finding out how many streams it may open.
  var isWarmingUp: Bool { !hasSettings || (turn.options.singleStreamUntilAccepted && !wasAccepted) }
  /// Whether bytes wait for the socket to take them.
  private(set) var wantsWrite = false

  private let origin: HTTPOrigin
  private var session: HTTP2Session?
  private var slots: StreamSlots
  private var unfinished = SlotQueue()
  private var awaited = SlotQueue()
  /// The first awaited slot whose end may not have reached the wire.
  private var unwritten: UnsafeMutablePointer<StreamSlot>?

  private var hasSettings = false
  private var wasAccepted = false
  private var answers: UInt64 = 0
  private var serverLimit = 1
  private var goAway: HTTP2GoAway?
  private var isSayingFarewell = false
  private var ownFailure: HTTPFailure?

  private let output: UnsafeMutableRawBufferPointer
  private var outputStart = 0
  private var outputEnd = 0
  private var gathered: Int64 = 0
  private var written: Int64 = 0

  private var lastRead: Int64
  private var pingSent: Int64?
  private var blockedSince: Int64?
  private var starvedSince: Int64?

  // One of nghttp2's frames is at most 16 KiB and its header.
  private static let gatherLimit = 48 * 1024
  private static let outputCapacity = gatherLimit + 16 * 1024 + 64

  init(_ transport: TLSConnection, socket: Int32, origin: HTTPOrigin, turn: PoolTurn) throws(HTTPFailure) {
    self.transport = transport
    self.socket = socket
    self.origin = origin
    self.turn = turn
    // Streams that were given up count against nothing but memory until the server lets go of them.
    slots = StreamSlots(count: turn.options.maxStreamsPerConnection + 64)
    output = .allocate(byteCount: Self.outputCapacity, alignment: 16)
    lastRead = turn.now
    session = try HTTP2Session(for: self)
  }

  deinit {
    session = nil
    output.deallocate()
  }

  var openStreams: Int { slots.inUse }

  /// How many streams may be open now.
  private var limit: Int {
    let limit = min(serverLimit, turn.options.maxStreamsPerConnection)
    return isWarmingUp ? min(1, limit) : limit
  }

  var hasRoom: Bool { !isDraining && !isLost && slots.inUse < limit && !slots.isFull }

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
    slot.pointee.phase = .opened
    slot.pointee.run = .passUnretained(run)
    slot.pointee.request = request
    slot.pointee.stream = stream
    slot.pointee.since = turn.now
    unfinished.append(slot)
    run.streams += 1
    return true
  }

  // MARK: Writing

  /// Writes what there is to write, in large pieces, until the socket is full.
  func flush() {
    guard !isLost, let session = session?.handle else { return }
    while true {
      if outputStart == outputEnd {
        outputStart = 0
        outputEnd = 0
        gather(session)
        if outputEnd == 0 { break }
      }
      switch transport.write(UnsafeRawBufferPointer(rebasing: output[outputStart..<outputEnd])) {
      case .moved(let count):
        outputStart += count
        written += Int64(count)
        stampWritten()
        blockedSince = nil
      case .wait:
        wantsWrite = true
        if blockedSince == nil { blockedSince = turn.now }
        return
      case .ended: return lose(.connectionLost)
      }
      if isLost { return }
    }
    wantsWrite = false
    // nghttp2 has nothing more to do after an error of the other side.
    if !isSayingFarewell && nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 {
      lose(.connectionLost)
    }
  }

  private func gather(_ session: OpaquePointer) {
    while outputEnd < Self.gatherLimit {
      var bytes: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &bytes)
      guard count > 0, let bytes else {
        if count < 0 { lose(.connectionLost) }
        return
      }
      UnsafeMutableRawBufferPointer(rebasing: output[outputEnd...])
        .copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count))
      outputEnd += count
      gathered += Int64(count)
    }
  }

  /// The clock of a request starts when its end was written.
  private func stampWritten() {
    while let slot = unwritten, slot.pointee.endPosition < written {
      slot.pointee.since = turn.now
      slot.pointee.answersBefore = answers
      unwritten = slot.pointee.next
    }
  }

  func copyBody(of slot: UnsafeMutablePointer<StreamSlot>, to room: UnsafeMutableRawBufferPointer) -> (Int, Bool) {
    guard let run = slot.pointee.run else { return (0, true) }
    return run._withUnsafeGuaranteedRef { run in
      let copied = run.memory.copyBody(slot.pointee.request, from: slot.pointee.bodySent, to: room)
      slot.pointee.bodySent += copied
      let isEnd = slot.pointee.bodySent >= run.memory.bodyLength(slot.pointee.request)
      if isEnd && slot.pointee.phase == .opened {
        unfinished.remove(slot)
        slot.pointee.phase = .ended
        slot.pointee.since = 0
        slot.pointee.endPosition = gathered
        awaited.append(slot)
        if unwritten == nil { unwritten = slot }
        run.wrote(slot.pointee.request, place: turn.nextPlace())
      }
      return (copied, isEnd)
    }
  }

  // MARK: Reading

  /// Reads until there is nothing left.
  func read() {
    guard !isLost, let session = session?.handle else { return }
    while !isLost {
      switch transport.read(into: turn.readBuffer) {
      case .wait: return
      case .ended: return lose(.connectionLost)
      case .moved(let count):
        lastRead = turn.now
        pingSent = nil
        let bytes = turn.readBuffer.bindMemory(to: UInt8.self)
        if nghttp2_session_mem_recv(session, bytes.baseAddress, count) < 0 { return lose(.connectionLost) }
      }
    }
  }

  func received(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, on slot: UnsafeMutablePointer<StreamSlot>)
  {
    if slot.pointee.phase == .reported { return }
    if name.count == 7, name[0] == 0x3a {
      slot.pointee.status = value.reduce(0) { $0 &* 10 &+ UInt16($1 & 0xf) }
      slot.pointee.kept?.pointee.clear()
      return
    }
    guard slot.pointee.status != 200,
      let number = turn.keptNames.firstIndex(where: { $0.elementsEqual(name) })
    else { return }
    keep(slot).pointee.addField(number, value)
  }

  func received(body: UnsafeRawBufferPointer, on slot: UnsafeMutablePointer<StreamSlot>) {
    if slot.pointee.phase != .reported { keep(slot).pointee.addBody(body) }
  }

  private func keep(_ slot: UnsafeMutablePointer<StreamSlot>) -> UnsafeMutablePointer<KeptAnswer> {
    if let kept = slot.pointee.kept { return kept }
    let kept = turn.keptAnswers.take()
    slot.pointee.kept = kept
    return kept
  }

  func receivedEnd(on slot: UnsafeMutablePointer<StreamSlot>) {
    slot.pointee.isAnswerComplete = true
    answers += 1
    if slot.pointee.status == 200 { wasAccepted = true }
    // Answered before the request was read to its end: the rest is of no use.
    if slot.pointee.phase == .opened { reset(slot) }
  }

  func receivedSettings() {
    hasSettings = true
    let streams = nghttp2_session_get_remote_settings(session?.handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    serverLimit = Int(min(streams, UInt32(Int32.max)))
  }

  func received(_ goAway: HTTP2GoAway) {
    // A first, polite one names no stream; the one that counts may follow.
    self.goAway = goAway
    isDraining = true
    var told: [BatchRun] = []
    for index in slots.all.indices where slots.all[index].phase != .free {
      guard let run = slots.all[index].run?.takeUnretainedValue(), !told.contains(where: { $0 === run }) else {
        continue
      }
      run.note(goAway)
      told.append(run)
    }
  }

  // MARK: Ends

  func closed(_ slot: UnsafeMutablePointer<StreamSlot>, code: UInt32) {
    guard let run = slot.pointee.run else { return }
    run._withUnsafeGuaranteedRef { run in
      if slot.pointee.phase != .reported { settle(slot, run, outcome(of: slot, code: code)) }
      run.streams -= 1
    }
    if let kept = slot.pointee.kept { turn.keptAnswers.giveBack(kept) }
    slots.giveBack(slot)
  }

  /// nil: the answer that the slot holds.
  private func outcome(of slot: UnsafeMutablePointer<StreamSlot>, code: UInt32) -> HTTP2Outcome? {
    if slot.pointee.isAnswerComplete && slot.pointee.status >= 200 { return nil }
    if code == NGHTTP2_REFUSED_STREAM.rawValue {
      return .notHandled(goAway.map { slot.pointee.stream > $0.lastStream } ?? false ? .goAway : .refused)
    }
    return wasWritten(slot) ? .answerLost(.reset) : .notHandled(.neverWritten)
  }

  private func wasWritten(_ slot: UnsafeMutablePointer<StreamSlot>) -> Bool {
    slot.pointee.phase == .ended && slot.pointee.endPosition < written
  }

  private func settle(_ slot: UnsafeMutablePointer<StreamSlot>, _ run: BatchRun, _ outcome: HTTP2Outcome?) {
    switch slot.pointee.phase {
    case .opened: unfinished.remove(slot)
    case .ended:
      if unwritten == slot { unwritten = slot.pointee.next }
      awaited.remove(slot)
    case .free, .reported: return
    }
    slot.pointee.phase = .reported
    if let outcome {
      run.report(slot.pointee.request, outcome)
    } else if let kept = slot.pointee.kept {
      run.report(
        slot.pointee.request, status: slot.pointee.status, fields: kept.pointee.fields, body: kept.pointee.body)
    } else {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      run.report(slot.pointee.request, status: slot.pointee.status, fields: none, body: none)
    }
  }

  private func reset(_ slot: UnsafeMutablePointer<StreamSlot>) {
    nghttp2_submit_rst_stream(
      session?.handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.pointee.stream, NGHTTP2_CANCEL.rawValue)
  }

  /// The connection is of no more use: says so of every request that it carried.
  func lose(_ reason: HTTP2Outcome.AnswerLost, _ failure: HTTPFailure? = nil) {
    guard !isLost else { return }
    for index in slots.all.indices where slots.all[index].phase != .free {
      guard let slot = slots.all.baseAddress.map({ $0 + index }), let run = slot.pointee.run else { continue }
      run._withUnsafeGuaranteedRef { run in
        let isAnswered = slot.pointee.isAnswerComplete && slot.pointee.status >= 200
        let unanswered = wasWritten(slot) ? HTTP2Outcome.answerLost(reason) : .notHandled(.neverWritten)
        settle(slot, run, isAnswered ? nil : unanswered)
      }
    }
    ownFailure = failure
    isLost = true
  }

  /// What went wrong with a connection that ended, or was ended by the server, before it answered anything.
  var failure: HTTPFailure? {
    guard !hasAnswered, isLost || goAway != nil else { return nil }
    return ownFailure
      ?? HTTPFailure(
        .closedBeforeAnswer, "\(origin) closed the connection before it answered anything",
        detail: goAway.map { "GOAWAY \($0.code): \(String(decoding: $0.debugData.prefix(200), as: UTF8.self))" } ?? "")
  }

  /// Opens nothing more; what is under way is still waited for.
  func drain() { isDraining = true }

  /// Says farewell and gives everything up that is still under way.
  func close() {
    if !isLost, let session = session?.handle {
      nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR.rawValue)
      isSayingFarewell = true
      flush()
    }
    lose(.poolClosed)
  }

  /// Frees the streams that nghttp2 still holds; their batches may then go.
  func release() {
    for index in slots.all.indices where slots.all[index].phase != .free {
      slots.all[index].run?._withUnsafeGuaranteedRef { $0.streams -= 1 }
      if let kept = slots.all[index].kept { turn.keptAnswers.giveBack(kept) }
    }
  }

  // MARK: Time

  /// Looks for what has waited too long.
  func checkTime(hasWaiting: Bool) {
    guard !isLost else { return }
    let now = turn.now
    let patience = turn.options.requestTimeout
    if let blockedSince, now - blockedSince >= patience { return lose(.connectionLost) }
    while let slot = awaited.first, slot.pointee.since != 0, now - slot.pointee.since >= patience {
      // Nobody was answered since it was written: then it is the connection, not the request.
      if answers == slot.pointee.answersBefore { return lose(.timedOut) }
      giveUp(slot, .answerLost(.timedOut))
    }
    while let slot = unfinished.first, now - slot.pointee.since >= patience {
      giveUp(slot, .notHandled(.neverWritten))
    }
    checkSilence(now)
    let isStarved = hasWaiting && !isDraining && limit == 0 && slots.inUse == 0
    starvedSince = isStarved ? starvedSince ?? now : nil
    if let starvedSince, now - starvedSince >= patience {
      lose(.connectionLost, HTTPFailure(.noStreamsAllowed, "\(origin) allows no request on its connections"))
    }
  }

  private func giveUp(_ slot: UnsafeMutablePointer<StreamSlot>, _ outcome: HTTP2Outcome) {
    guard let run = slot.pointee.run else { return }
    let isAnswered = slot.pointee.isAnswerComplete && slot.pointee.status >= 200
    run._withUnsafeGuaranteedRef { settle(slot, $0, isAnswered ? nil : outcome) }
    reset(slot)
  }

  private func checkSilence(_ now: Int64) {
    guard let silence = turn.options.pingAfterSilence, slots.inUse > 0 else { return }
    if let pingSent {
      if now - pingSent >= silence { lose(.connectionLost) }
    } else if now - lastRead >= silence, awaited.first.map({ now - $0.pointee.since >= silence }) ?? false {
      pingSent = now
      nghttp2_submit_ping(session?.handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }
  }

  /// When `checkTime` has something to do next.
  var nextDeadline: Int64 {
    var next = Int64.max
    let patience = turn.options.requestTimeout
    if let blockedSince { next = min(next, blockedSince + patience) }
    if let slot = awaited.first, slot.pointee.since != 0 { next = min(next, slot.pointee.since + patience) }
    if let slot = unfinished.first { next = min(next, slot.pointee.since + patience) }
    if let starvedSince { next = min(next, starvedSince + patience) }
    if let silence = turn.options.pingAfterSilence, let slot = awaited.first {
      next = min(next, pingSent.map { $0 + silence } ?? max(lastRead, slot.pointee.since) + silence)
    }
    return next
  }
}
