import CZonaiNGHTTP2

/// Frames in: what nghttp2 calls with.
extension HTTP2Connection {
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
    if slot.pointee.phase == .reported { return }
    if slot.pointee.status == 200 {
      slot.pointee.bodyBeginning.look(at: body)
      if turn.options.acceptedBody.accepts(slot.pointee.bodyBeginning) { return }
    }
    keep(slot).pointee.addBody(body)
  }

  func keep(_ slot: UnsafeMutablePointer<StreamSlot>) -> UnsafeMutablePointer<KeptAnswer> {
    if let kept = slot.pointee.kept { return kept }
    let kept = turn.keptAnswers.take()
    slot.pointee.kept = kept
    return kept
  }

  func receivedEnd(on slot: UnsafeMutablePointer<StreamSlot>) {
    slot.pointee.isAnswerComplete = true
    answers += 1
    if slot.pointee.status < 500 { turn.answers += 1 }
    if isAcceptance(slot), !wasAccepted {
      wasAccepted = true
      grownAt = turn.now
    }
    // Beyond the limit it grows on paper: once it has doubled, a round of so many was answered.
    if isPressed, ramp.width < 2 * greatestLimit {
      ramp.answered(atLeast: turn.startWidth)
      grownAt = turn.now
      turn.grew(to: ramp.width)
    }
    // Answered before the request was read to its end: the rest is of no use.
    if slot.pointee.phase == .opened { reset(slot) }
  }

  func receivedSettings() {
    let streams = nghttp2_session_get_remote_settings(session?.handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    serverLimit = Int(min(streams, UInt32(Int32.max)))
    // A server that offers more once it has seen a request has accepted the sender, whatever it said to that request.
    if hasSettings && hasAnswered && serverLimit > 1 { wasAccepted = true }
    if !hasSettings { grownAt = turn.now }
    hasSettings = true
    if !isWarmingUp { turn.usualStreams = max(1, greatestLimit) }
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
    let isCutShort = slots.all.contains { slot in
      slot.stream > goAway.lastStream && (slot.phase == .opened || slot.phase == .ended)
    }
    if isCutShort, !wasCutShort {
      wasCutShort = true
      turn.refused(at: ramp.width)
    }
  }
}
