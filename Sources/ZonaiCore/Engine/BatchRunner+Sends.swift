/// Sends of a batch: begun, reported, given up.
extension BatchRunner {
  mutating func start(_ dispatch: BatchStep.Dispatch) {
    let count = dispatch.selection.count
    let name = dispatch.transport
    // The machine only knows lanes that have both; should that ever fail, the recipients stay owed.
    guard let transport = worker.transports[name], let message = messages[name] else {
      sends[dispatch.id] = Send(
        transport: name, count: count, startedAt: worker.clock.now, limit: Task {}, pause: nil)
      post.yield(.answered(dispatch: dispatch.id, .nothingSent(count, because: nil)))
      return
    }
    let push = PushBatch(
      message: message, tokens: batch.recipients.tokens, selection: dispatch.selection,
      expiresAt: batch.job.expiresAt, permit: permit)
    let clock = worker.clock
    let pause = worker.governor.pauseEnd(name, now: clock.now).map { end in
      Task { try await clock.sleep(until: end) }
    }
    let overdue = clock.now + worker.options.sendLimitSeconds.milliseconds + (pause == nil ? 0 : 60_000)
    let limit = Task { [post] in
      do { try await clock.sleep(until: overdue) } catch { return }
      post.yield(.sendOverdue(dispatch: dispatch.id))
    }
    sends[dispatch.id] = Send(transport: name, count: count, startedAt: clock.now, limit: limit, pause: pause)
    Task { [post] in
      if let pause, (try? await pause.value) == nil {
        post.yield(.answered(dispatch: dispatch.id, .nothingSent(count, because: nil)))
        return
      }
      let result = push.permit.allows(at: clock.now) ? await transport.send(push) : .nothingSent(count, because: nil)
      post.yield(.answered(dispatch: dispatch.id, result))
    }
  }

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
      case .notSent: counts.notSent += 1
      }
    }
    counts.milliseconds = worker.clock.now - send.startedAt
    worker.observer(.sent(batch.lease, send.transport, counts))
    if result.answers.count != send.count {
      worker.observer(
        .transportMisbehaved(send.transport, "gave \(result.answers.count) answers for \(send.count) recipients"))
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
    let answers = Array(
      repeating: PushAnswer.answered(lost, PushAnswer.Sent(order: 0, credential: 0)), count: send.count)
    return .answered(dispatch: dispatch, PushBatchResult(answers: answers), now: now)
  }
}
