/// Does what a `BatchMachine` says, from the claim to the batch's end: sends, timers, store calls, hooks.
///
/// One task runs it. Sends and hooks run beside it and report by mail, so that it hears of a lost lease or a stop at once;
/// store calls run in its own line, since nothing may be decided until they are over.
struct BatchRunner {
  let worker: Worker
  let batch: ClaimedBatch
  let permit: SendPermit

  let claimedAt: Int64
  let mail: AsyncStream<BatchMail>
  let post: AsyncStream<BatchMail>.Continuation
  var machine: BatchMachine
  let messages: PreparedJobs.Messages

  var sends: [Int: Send] = [:]
  private var timer: (number: Int, task: Task<Void, Never>)?
  private var timers = 0
  var round: HookRound?
  private var grace: Task<Void, Never>?
  var isGraceOver = false
  private var isStuck = false
  /// Ends the wait for checks in other environments; nil when none are under way.
  var checkLimit: Task<Void, Never>?

  /// One send under way.
  struct Send {
    let transport: TransportName
    let count: Int
    let startedAt: Int64
    /// The send's own, so that one that is slow can be told to end.
    let permit: SendPermit
    var limit: Task<Void, Never>
    /// Whether the limit has passed, and the answers of what was opened are waited for.
    var isOverdue = false
    /// The wait for a paused lane, if there is one.
    let pause: Task<Void, any Error>?
  }

  /// - Parameters:
  ///   - claimedFrom: the earliest moment, by the engine's clock, at which the lease may have begun.
  ///   - claimedAt: the latest.
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
      lanes[name] = LanePlan(
        lane: transport.lane, fingerprint: message.fingerprint, otherEnvironment: message.otherEnvironment)
    }
    machine = BatchMachine(
      batch: batch, lanes: lanes, retry: worker.options.retryPolicy, seed: UInt64.random(in: .min ... .max))
    worker.heartbeat.add(
      batch.lease, Heartbeat.Pulse(permit: permit, renewedAt: claimedFrom, stop: { [post] in post.yield(.stopped($0)) })
    )
  }

  /// The store's clock, reckoned from what it said at the claim.
  var now: Int64 { batch.now + (worker.clock.now - claimedAt) }

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
      checkLimit?.cancel()
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
        case .checkEnvironment(let dispatches):
          check(dispatches)
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
    case .checked(let answers):
      endChecks()
      return .checked(answers, now: now)
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
      return takeOverdue(dispatch)
    case .sendGivenUp(let dispatch):
      return giveUpSend(dispatch)
    case .graceOver:
      isGraceOver = true
      if isChecking { post.yield(.checked([:])) }
      round?.giveUp()
      // One at a time: the others' turn comes by mail.
      for dispatch in sends.keys.dropFirst() { post.yield(.sendGivenUp(dispatch: dispatch)) }
      return sends.keys.first.flatMap { giveUpSend($0) }
    }
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
}
