import CZonaiNGHTTP2

/// Frames out: gathered into one buffer, written in large pieces.
extension HTTP2Connection {
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

  func gather(_ session: OpaquePointer) {
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
  func stampWritten() {
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
        slot.pointee.place = turn.nextPlace()
      }
      return (copied, isEnd)
    }
  }
}
