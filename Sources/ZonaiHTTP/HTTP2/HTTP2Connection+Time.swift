import CZonaiNGHTTP2

/// What has waited too long.
extension HTTP2Connection {
  /// Looks for what has waited too long.
  func checkTime(hasWaiting: Bool) {
    guard !isLost else { return }
    let now = turn.now
    let patience = turn.options.requestTimeout
    if let probed = idleProbe.sentAt, now - probed >= probePatience {
      isReplaced = true
      return lose(.connectionLost)
    }
    if let blockedSince, now - blockedSince >= patience { return lose(.connectionLost) }
    while let slot = awaited.first, slot.pointee.since != 0, now - slot.pointee.since >= patience {
      // Nobody was answered since it was written: then it is the connection, not the request. The others on it have time
      // of their own left.
      if answers == slot.pointee.answersBefore {
        drain()
        ownFailure = HTTPFailure(
          .closedBeforeAnswer, "\(origin) took a request and answered nothing within the time for requests")
      }
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

  func giveUp(_ slot: UnsafeMutablePointer<StreamSlot>, _ outcome: HTTP2Outcome) {
    guard let run = slot.pointee.run else { return }
    run._withUnsafeGuaranteedRef { settle(slot, $0, isAnswered(slot) ? nil : outcome) }
    reset(slot)
  }

  func checkSilence(_ now: Int64) {
    guard let silence = turn.options.pingAfterSilence, slots.inUse > 0 else { return }
    if let pingSent {
      if now - pingSent >= silence { lose(.connectionLost) }
    } else if now - lastRead >= silence, awaited.first.map({ now - $0.pointee.since >= silence }) ?? false {
      pingSent = now
      nghttp2_submit_ping(session?.handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }
  }

  /// Asks a connection that was idle whether it is still there.
  func probe() {
    idleProbe.sentAt = turn.now
    nghttp2_submit_ping(session?.handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  func receivedPong() { if idleProbe.sentAt != nil { idleProbe = IdleProbe(isAnswered: true) } }

  private var probePatience: Int64 { min(IdleProbe.patience, turn.options.requestTimeout) }

  /// When `checkTime` has something to do next.
  var nextDeadline: Int64 {
    var next = Int64.max
    let patience = turn.options.requestTimeout
    if let probed = idleProbe.sentAt { next = min(next, probed + probePatience) }
    if let blockedSince { next = min(next, blockedSince + patience) }
    if let slot = awaited.first, slot.pointee.since != 0 { next = min(next, slot.pointee.since + patience) }
    if let slot = unfinished.first { next = min(next, slot.pointee.since + patience) }
    if let starvedSince { next = min(next, starvedSince + patience) }
    if isPressed, isGrowing { next = min(next, grownAt + Self.growthPatience) }
    if let silence = turn.options.pingAfterSilence, let slot = awaited.first {
      next = min(next, pingSent.map { $0 + silence } ?? max(lastRead, slot.pointee.since) + silence)
    }
    return next
  }
}
