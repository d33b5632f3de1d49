/// Does what a `BatchMachine` says, from the claim to the batch's end: sends, timers, store calls, hooks.
///
/// One task runs it. Sends and hooks run beside it and report by mail, so that it hears of a lost lease or a stop at once;
/// store calls run in its own line, since nothing may be decided until they are over.
struct BatchRunner {
  let worker: Worker
  let batch: ClaimedBatch
  let permit: SendPermit

  private let claimedAt: Int64
  private let mail: AsyncStream<BatchMail>
  private let post: AsyncStream<BatchMail>.Continuation
  private var machine: BatchMachine
  private let messages: PreparedJobs.Messages

  private var sends: [Int: Send] = [:]
  private var timer: (number: Int, task: Task<Void, Never>)?
  private var timers = 0
  private var round: HookRound?
  private var grace: Task<Void, Never>?
  private var isGraceOver = false
  private var isStuck = false

  /// One send under way.
  private struct Send {
    let transport: TransportName
    let count: Int
    let startedAt: Int64
    let limit: Task<Void, Never>
    /// The wait for a paused lane, if there is one.
    let pause: Task<Void, any Error>?
  }

  /// - Parameters:
  ///   - claimedFrom: when the claim began, by the engine's clock: the lease may have begun that early.
  ///   - claimedAt: when it was back.
  init(worker: Worker, batch: ClaimedBatch, messages: PreparedJobs.Messages, claimedFrom: Int64, claimedAt: Int64) {
    self.worker = worker
    self.batch = batch
    self.messages = messages
    self.claimedAt = claimedAt
    permit = SendPermit(validUntil: worker.heartbeat.permitEnd(from: claimedFrom))
    (mail, post) = AsyncStream.makeStream()
    var lanes: [TransportName: LanePlan] = [:]
    for (name, message) in messages {
      guard let transport = worker.transports[name] else { continue }
      lanes[name] = LanePlan(lane: transport.lane, fingerprint: message.fingerprint)
    }
    machine = BatchMachine(
      batch: batch, lanes: lanes, retry: worker.options.retryPolicy, seed: UInt64.random(in: .min ... .max))
    worker.heartbeat.add(
      batch.lease, Heartbeat.Pulse(permit: permit, renewedAt: claimedFrom, stop: { [post] in post.yield(.stopped($0)) })
    )
  }

  /// The store's clock, reckoned from what it said at the claim.
  private var now: Int64 { batch.now + (worker.clock.now - claimedAt) }

  mutating func run() async -> BatchEnd {
    let listening = worker.stop.listen { [post] in post.yield(.stopped(.shutdown)) }
    defer {
      worker.stop.forget(listening)
      worker.heartbeat.remove(batch.lease)
      permit.revoke()
      post.finish()
      timer?.task.cancel()
      grace?.cancel()
      round?.giveUp()
      for send in sends.values { cancel(send) }
    }
    // A claim that was under way when the worker was told to stop: the batch is only given back.
    if worker.stop.isRaised { permit.revoke() }
    var letters = mail.makeAsyncIterator()
    var event = BatchEvent.started(now: now)
    while true {
      let step = machine.handle(event)
      slowLanes()
      do throws(StoreError) {
        switch step {
        case .go(let dispatches, let wakeAt):
          for dispatch in dispatches { start(dispatch) }
          if let wakeAt { setTimer(wakeAt) }
        case .revoke:
          permit.revoke()
          for send in sends.values { send.pause?.cancel() }
        case .askHooks(let questions):
          askHooks(questions)
        case .askWitnesses(let groups):
          event = try await inspectWitnesses(groups)
          continue
        case .askRows(let rejections):
          event = try await inspectRows(rejections)
          continue
        case .settle(let settlement):
          event = .settled(try await settle(settlement))
          continue
        case .finished(let job):
          return isStuck ? .hooksStuck(worker.hookThreads.abandoned) : .finished(job)
        case .abandoned:
          worker.observer(.leaseLost(batch.lease))
          return .abandoned
        }
      } catch {
        return .failed(error)
      }
      guard let next = await nextEvent(&letters) else { return .abandoned }
      event = next
    }
  }

  // MARK: Mail

  private mutating func nextEvent(_ letters: inout AsyncStream<BatchMail>.Iterator) async -> BatchEvent? {
    while let letter = await letters.next() {
      if let event = open(letter) { return event }
    }
    return nil
  }

  private mutating func open(_ letter: BatchMail) -> BatchEvent? {
    switch letter {
    case .answered(let dispatch, let result):
      guard let send = sends.removeValue(forKey: dispatch) else { return nil }
      cancel(send)
      report(result, of: send)
      return .answered(dispatch: dispatch, result, now: now)
    case .timerFired(let number):
      guard timer?.number == number else { return nil }
      timer = nil
      return .timerFired(now: now)
    case .stopped(let cause):
      if cause == .shutdown { startGrace() }
      return .stopped(cause, now: now)
    case .hooked(let outcome):
      round = nil
      isStuck = outcome.isStuck
      return .hooked(outcome.answers, failed: outcome.failed)
    case .sendOverdue(let dispatch):
      guard let send = sends[dispatch] else { return nil }
      worker.observer(
        .transportMisbehaved(send.transport, "took longer than \(worker.options.sendLimitSeconds) s for one send"))
      return giveUpSend(dispatch)
    case .sendGivenUp(let dispatch):
      return giveUpSend(dispatch)
    case .graceOver:
      isGraceOver = true
      round?.giveUp()
      // One at a time: the others' turn comes by mail.
      for dispatch in sends.keys.dropFirst() { post.yield(.sendGivenUp(dispatch: dispatch)) }
      return sends.keys.first.flatMap { giveUpSend($0) }
    }
  }

  /// Takes the answers of a send for lost: what it has opened may have been handled.
  private mutating func giveUpSend(_ dispatch: Int) -> BatchEvent? {
    guard let send = sends.removeValue(forKey: dispatch) else { return nil }
    cancel(send)
    let lost = Verdict(
      .transientlyFailed, fault: .service, retry: .attempts, reason: .answerLost, answerMayBeLost: true)
    let answers = Array(
      repeating: PushAnswer.answered(lost, PushAnswer.Sent(order: 0, credential: 0)), count: send.count)
    return .answered(dispatch: dispatch, PushBatchResult(answers: answers), now: now)
  }

  private mutating func startGrace() {
    guard grace == nil else { return }
    grace = Task { [worker, post] in
      do { try await worker.clock.sleep(milliseconds: worker.options.gracePeriodSeconds.milliseconds) } catch { return }
      post.yield(.graceOver)
    }
  }

  private mutating func setTimer(_ moment: Int64) {
    timer?.task.cancel()
    timers += 1
    let number = timers
    let due = worker.clock.now + max(0, moment - now)
    let task = Task { [worker, post] in
      do { try await worker.clock.sleep(until: due) } catch { return }
      post.yield(.timerFired(number: number))
    }
    timer = (number, task)
  }

  // MARK: Sends

  private mutating func start(_ dispatch: BatchStep.Dispatch) {
    let count = dispatch.selection.count
    let name = dispatch.transport
    guard let transport = worker.transports[name], let message = messages[name] else {
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

  private func cancel(_ send: Send) {
    send.limit.cancel()
    send.pause?.cancel()
  }

  private func report(_ result: PushBatchResult, of send: Send) {
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

  private mutating func slowLanes() {
    for (transport, milliseconds) in machine.takeSlowed() {
      if let pause = worker.governor.slow(transport, milliseconds: milliseconds, now: worker.clock.now) {
        worker.observer(.laneSlowed(transport, milliseconds: pause))
      }
    }
  }

  // MARK: Hooks

  private mutating func askHooks(_ questions: [BatchStep.HookQuestion]) {
    for question in questions {
      let rejection = question.rejection
      worker.observer(
        .rejected(
          batch.job.id,
          ZonaiEvent.RejectionReport(
            eventID: rejection.eventID, group: rejection.group, evidence: rejection.evidence, reason: rejection.reason))
      )
    }
    guard let hook = worker.hook(for: batch.job.definition.audience.table) else {
      post.yield(.hooked(HookRound.Outcome(answers: Array(repeating: .followPolicy, count: questions.count))))
      return
    }
    let options = worker.options
    let limits = HookRound.Limits(
      timeout: options.hookTimeoutSeconds.milliseconds, budget: options.hookBudgetSeconds.milliseconds,
      atOnce: options.hooksAtOnce)
    let round = HookRound(
      questions.map { PushRejection($0, of: batch.job) }, hook: hook, threads: worker.hookThreads, clock: worker.clock,
      limits: limits, observer: worker.observer)
    self.round = round
    if isGraceOver { round.giveUp() }
    Task { [post] in post.yield(.hooked(await round.ask())) }
  }

  // MARK: The store

  private func inspectWitnesses(_ groups: [Group]) async throws(StoreError) -> BatchEvent {
    let inspection = try await inspect(.witnesses(batch.lease, groups: groups))
    guard case .witnesses(let accounts) = inspection else { throw StoreError.answeredAnotherQuestion }
    return .witnesses(accounts, now: now)
  }

  private func inspectRows(_ rejections: [Rejection]) async throws(StoreError) -> BatchEvent {
    let inspection = try await inspect(.rows(batch.lease, rejections))
    guard case .rows(let rows) = inspection, rows.count == rejections.count else {
      throw StoreError.answeredAnotherQuestion
    }
    return .rows(rows)
  }

  private func inspect(_ request: InspectRequest) async throws(StoreError) -> Inspection {
    let store = worker.store
    return try await worker.patience.call(.inspect) { () async throws(StoreError) in try await store.inspect(request) }
  }

  private func settle(_ settlement: Settlement) async throws(StoreError) -> SettleResult {
    let store = worker.store
    let result = try await worker.patience.call(.settle) { () async throws(StoreError) in
      try await store.settle(settlement)
    }
    if case .committed(let committed) = result {
      worker.observer(.settled(batch.lease, committed.job.state, committed.job.counts))
      for words in committed.refusals { worker.observer(.pruneRefused(batch.job.id, words: words)) }
      worker.note(committed.job)
    }
    return result
  }
}

extension StoreError {
  static let answeredAnotherQuestion = StoreError(
    .failed, "the store answered another question than was asked; this is a fault of the store's adapter")
}
