/// Sends of a batch: begun, reported, given up.
extension BatchRunner {
  mutating func start(_ dispatch: BatchStep.Dispatch) {
    let count = dispatch.selection.count
    let name = dispatch.transport
    // The machine only knows lanes that have both; should that ever fail, the recipients stay owed.
    guard let transport = worker.transports[name], let message = messages[name] else {
      sends[dispatch.id] = Send(
        transport: name, count: count, startedAt: worker.clock.now, permit: permit, limit: Task {}, pause: nil)
      post.yield(.answered(dispatch: dispatch.id, .nothingSent(count, because: nil)))
      return
    }
    let permit = SendPermit(following: permit)
    let clock = worker.clock
    let push = PushBatch(
      message: message, tokens: batch.recipients.tokens, selection: dispatch.selection,
      expiresAt: batch.job.expiresAt, permit: permit,
      expiresAtMoment: batch.job.expiresAt.map { clock.now + ($0 - now) })
    let pause = pause(of: name)
    let limit = limit(
      of: dispatch.id, worker.options.sendLimitSeconds.milliseconds + (pause == nil ? 0 : LaneGovernor.longestPause))
    sends[dispatch.id] = Send(
      transport: name, count: count, startedAt: clock.now, permit: permit, limit: limit, pause: pause)
    Task { [post] in
      if let pause, (try? await pause.value) == nil {
        post.yield(.answered(dispatch: dispatch.id, .nothingSent(count, because: nil)))
        return
      }
      let result = push.permit.allows(at: clock.now) ? await transport.sendAll(push) : .nothingSent(count, because: nil)
      post.yield(.answered(dispatch: dispatch.id, result))
    }
  }

  /// The wait until the lane may be used; nil when it may be now.
  private func pause(of lane: TransportName) -> Task<Void, any Error>? {
    guard worker.governor.pauseEnd(lane, now: worker.clock.now) != nil else { return nil }
    return Task { [clock = worker.clock, governor = worker.governor] in
      // Another batch may have made the pause longer meanwhile.
      while let end = governor.pauseEnd(lane, now: clock.now) { try await clock.sleep(until: end) }
    }
  }

  private func limit(of dispatch: Int, _ milliseconds: Int64) -> Task<Void, Never> {
    Task { [post, clock = worker.clock, end = worker.clock.now + milliseconds] in
      do { try await clock.sleep(until: end) } catch { return }
      post.yield(.sendOverdue(dispatch: dispatch))
    }
  }

  /// A send that is slow opens nothing more; one that does not give the answers of what it opened either is given up.
  mutating func takeOverdue(_ dispatch: Int) -> BatchEvent? {
    guard var send = sends[dispatch] else { return nil }
    if send.isOverdue {
      worker.observer(
        .transportMisbehaved(
          send.transport, "gave no answers for a minute after the \(worker.options.sendLimitSeconds) s of one send"))
      return giveUpSend(dispatch)
    }
    send.permit.revoke()
    send.pause?.cancel()
    send.isOverdue = true
    send.limit = limit(of: dispatch, BatchRunner.overdueWait)
    sends[dispatch] = send
    return nil
  }

  /// How long the answers of a send that opens nothing more are waited for: longer than a request may take.
  private static let overdueWait: Int64 = 60_000

  func cancel(_ send: Send) {
    send.limit.cancel()
    send.pause?.cancel()
  }

  func report(_ result: PushBatchResult, of send: Send) {
    var counts = ZonaiEvent.SendCounts()
    for answer in result.answers {
      switch answer {
      case .delivered: counts.delivered += 1
      case .answered: counts.otherwise += 1
      case nil: counts.notSent += 1
      }
    }
    counts.milliseconds = worker.clock.now - send.startedAt
    worker.observer(.sent(batch.lease, send.transport, counts))
    if result.strays > 0 {
      worker.observer(
        .transportMisbehaved(
          send.transport, "gave \(result.strays) answers for recipients that had one or were not asked for"))
    }
  }

  mutating func slowLanes() {
    for (transport, milliseconds) in machine.takeSlowed() {
      if let pause = worker.governor.slow(transport, milliseconds: milliseconds, now: worker.clock.now) {
        worker.observer(.laneSlowed(transport, milliseconds: pause))
      }
    }
  }

  /// Takes the answers of a send for lost: what it has opened may have been handled.
  mutating func giveUpSend(_ dispatch: Int) -> BatchEvent? {
    guard let send = sends.removeValue(forKey: dispatch) else { return nil }
    cancel(send)
    let lost = Verdict(
      .transientlyFailed, fault: .service, retry: .attempts, reason: .answerLost, answerMayBeLost: true)
    let answers = Array<PushAnswer?>(
      repeating: .answered(lost, PushAnswer.Sent(order: 0, credential: 0)), count: send.count)
    return .answered(dispatch: dispatch, PushBatchResult(answers: answers), now: now)
  }
}
