import CZonaiNGHTTP2

/// How requests and the connection end.
extension HTTP2Connection {
  func closed(_ slot: UnsafeMutablePointer<StreamSlot>, code: UInt32) {
    guard let run = slot.pointee.run else { return }
    if code == NGHTTP2_REFUSED_STREAM.rawValue, goAway == nil, let session = session?.handle {
      let width = ramp.width
      let next = Int32(truncatingIfNeeded: nghttp2_session_get_next_stream_id(session))
      if ramp.refused(slot.pointee.stream, next: next) { turn.refused(at: width) }
    }
    run._withUnsafeGuaranteedRef { run in
      if slot.pointee.phase != .reported { settle(slot, run, outcome(of: slot, code: code)) }
      run.streams -= 1
    }
    if let kept = slot.pointee.kept { turn.keptAnswers.giveBack(kept) }
    slots.giveBack(slot)
  }

  /// nil: the answer that the slot holds.
  func outcome(of slot: UnsafeMutablePointer<StreamSlot>, code: UInt32) -> HTTP2Outcome? {
    if isAnswered(slot) { return nil }
    if code == NGHTTP2_REFUSED_STREAM.rawValue {
      return .notHandled(goAway.map { slot.pointee.stream > $0.lastStream } ?? false ? .goAway : .refused)
    }
    return wasWritten(slot) ? .answerLost(.reset) : .notHandled(.neverWritten)
  }

  /// Whether the slot holds an answer. A 200 is one from the moment at which nothing could take it back: what is lost of it
  /// after that would only have the request sent twice.
  func isAnswered(_ slot: UnsafeMutablePointer<StreamSlot>) -> Bool {
    if slot.pointee.isAnswerComplete { return slot.pointee.status >= 200 }
    return slot.pointee.status == 200 && turn.options.acceptedBody.isEnough(slot.pointee.bodyBeginning)
  }

  /// Whether the slot's answer is a 200 with a body that is the service's own.
  func isAcceptance(_ slot: UnsafeMutablePointer<StreamSlot>) -> Bool {
    slot.pointee.status == 200 && turn.options.acceptedBody.accepts(slot.pointee.bodyBeginning)
  }

  func wasWritten(_ slot: UnsafeMutablePointer<StreamSlot>) -> Bool {
    slot.pointee.phase == .ended && slot.pointee.endPosition < written
  }

  func settle(_ slot: UnsafeMutablePointer<StreamSlot>, _ run: BatchRun, _ outcome: HTTP2Outcome?) {
    switch slot.pointee.phase {
    case .opened: unfinished.remove(slot)
    case .ended:
      if unwritten == slot { unwritten = slot.pointee.next }
      awaited.remove(slot)
    case .free, .reported: return
    }
    slot.pointee.phase = .reported
    let (request, place) = (slot.pointee.request, slot.pointee.place)
    if let outcome {
      run.report(request, outcome, place: place, connection: number)
    } else if isAcceptance(slot) {
      run.report(request, .answered(200), place: place, connection: number)
    } else {
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      run.report(
        request, status: slot.pointee.status, place: place, connection: number,
        fields: slot.pointee.kept?.pointee.fields ?? none, body: slot.pointee.kept?.pointee.body ?? none)
    }
  }

  func reset(_ slot: UnsafeMutablePointer<StreamSlot>) {
    nghttp2_submit_rst_stream(
      session?.handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), slot.pointee.stream, NGHTTP2_CANCEL.rawValue)
  }

  /// The connection is of no more use: says so of every request that it carried.
  func lose(_ reason: HTTP2Outcome.AnswerLost, _ failure: HTTPFailure? = nil) {
    guard !isLost else { return }
    for index in slots.all.indices where slots.all[index].phase != .free {
      guard let slot = slots.all.baseAddress.map({ $0 + index }), let run = slot.pointee.run else { continue }
      run._withUnsafeGuaranteedRef { run in
        let unanswered = wasWritten(slot) ? HTTP2Outcome.answerLost(reason) : .notHandled(.neverWritten)
        settle(slot, run, isAnswered(slot) ? nil : unanswered)
      }
    }
    ownFailure = failure ?? ownFailure
    wasLost = reason == .connectionLost
    isLost = true
  }

  /// What went wrong with a connection that ended, was ended by the server, or let time run out,
  /// before it answered anything. Nothing did with one that the pool replaced.
  var failure: HTTPFailure? {
    if let ownFailure, !hasAnswered { return ownFailure }
    guard !hasAnswered, !isReplaced, wasLost || goAway != nil else { return nil }
    return HTTPFailure(
      .closedBeforeAnswer, "\(origin) closed the connection before it answered anything",
      detail: goAway.map { "GOAWAY \($0.code): \(String(decoding: $0.debugData.prefix(200), as: UTF8.self))" } ?? "")
  }

  /// Whether the server said that it ends the connection and that nothing is wrong.
  var wasEndedInOrder: Bool { ownFailure == nil && goAway?.code == NGHTTP2_NO_ERROR.rawValue }

  /// Whether the server ended it after a few answers and a short while.
  var endedEarly: Bool {
    hasAnswered && !isReplaced && (wasLost || goAway != nil) && answers < Self.manyAnswers
      && turn.now - openedAt < Self.longLife
  }

  private static let manyAnswers: UInt64 = 100
  private static let longLife: Int64 = 10_000

  /// Opens nothing more; what is under way is still waited for.
  func drain() {
    if goAway == nil { isReplaced = true }
    isDraining = true
  }

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
}
