import Synchronization
import ZonaiCore

/// A transport without a network: every answer is yours to write, every request is in its log.
///
/// A token that nobody wrote an answer for is delivered to. Delays are a gate that you shut and open; permits are judged by a
/// clock that you turn.
public final class ScriptedTransport: Transport {
  /// One request that was opened.
  public struct SentPush: Sendable {
    public var token: DeviceToken
    public var message: PushMessage
    public var expiresAt: Int64?
    /// As its batch said it.
    public var route: ConnectionRoute
    public var sent: PushAnswer.Sent
    /// The answer that was written for it, in the words that it was written in.
    public var verdict: Verdict
  }

  public let lane: Lane
  /// The clock by which permits lapse.
  public let clock: TurnableClock
  /// Shut it to hold back every answer.
  public let answersGate = Gate()
  /// Shut it to hold back every answer of the other environment.
  public let checksGate = Gate()
  /// Shut it to let no time limit pass: requests whose answer is `timedOut`, and the batches that
  /// they are in, wait for it.
  public let timeLimitGate = Gate()
  private let streams: Int
  private let limit: Int
  private let otherEnvironment: OtherEnvironment
  private let script = Mutex(TransportScript())
  private let log = Recording<SentPush>()
  private let checkLog = Recording<DeviceToken>()

  /// `streams` requests are open at once; `limit` is the greatest message in bytes, 4096 as with
  /// both services; `otherEnvironment` is what its messages say of another environment.
  public init(
    _ lane: Lane = Lane(transport: .fcm, fingerprint: "scripted"), clock: TurnableClock = TurnableClock(),
    streams: Int = 100, limit: Int = 4096, otherEnvironment: OtherEnvironment = .none
  ) {
    self.lane = lane
    self.clock = clock
    self.streams = streams
    self.limit = limit
    self.otherEnvironment = otherEnvironment
  }

  // MARK: The script

  /// The next answers for one token, `times` over; answers that were written before come first. `.max` stays for good.
  public func answer(_ token: String, with verdict: Verdict, times: Int = 1) {
    script.withLock { $0.byToken[Array(token.utf8), default: []].append((verdict, times)) }
  }

  /// The answer for every token that has none of its own left.
  public func answerEverybody(with verdict: Verdict) {
    script.withLock { $0.standard = verdict }
  }

  /// Forgets every answer that was written.
  public func forgetAnswers() {
    script.withLock { script in
      script.byToken = [:]
      script.standard = .delivered
    }
  }

  /// What the other environment says about a token; one without an answer of its own is unknown
  /// there.
  public func answerCheck(_ token: String, with answer: EnvironmentAnswer) {
    script.withLock { $0.checks[Array(token.utf8)] = answer }
  }

  /// Every token that was asked about in the other environment, in order.
  public var checked: [DeviceToken] { checkLog.elements }

  /// No request can be opened, for this reason; nil ends that.
  public func breakLane(_ fault: Verdict?) {
    script.withLock { $0.laneFault = fault }
  }

  /// The following requests carry another credential.
  public func renewCredential() {
    script.withLock { $0.credential += 1 }
  }

  /// Every request that was opened so far, in their order.
  public var sent: [SentPush] { log.elements }

  /// Returns once this many requests were opened since the transport was made.
  public func waitUntilSent(_ count: Int) async { await log.wait(for: count) }

  /// Returns once a request for this token was opened.
  public func waitUntilSent(to token: String) async {
    let token = DeviceToken(token)
    await log.wait { $0.contains { $0.token == token } }
  }

  public var isClosed: Bool { script.withLock { $0.isClosed } }

  // MARK: Transport

  public func prepare(_ message: PushMessage) throws(MessageFault) -> PreparedMessage {
    let data = message.data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    let size = (message.title?.utf8.count ?? 0) + (message.body?.utf8.count ?? 0) + data
    guard size <= limit else {
      throw MessageFault(
        field: data > size / 2 ? "data" : "body",
        "the message has \(size) bytes, \(size - limit) more than the \(limit) that \(lane.transport) takes: shorten it"
      )
    }
    return PreparedMessage(
      fingerprint: "\(lane.fingerprint)/\(message.effectivePushType.rawValue)", size: size, limit: limit,
      content: message, otherEnvironment: otherEnvironment)
  }

  public func send(_ batch: PushBatch, _ answered: @escaping @Sendable (AnswerChunk) -> Void) async -> SendEnd {
    if let fault = script.withLock({ $0.laneFault }) { return SendEnd(laneFault: fault) }
    var next = 0
    var isStopped = false
    while next < batch.count, !isStopped {
      // As many as the peer takes at once are opened; then all their answers are read, whatever the first of them say.
      let opened = openRequests(batch, from: next)
      next += opened.count
      isStopped = opened.isEmpty || opened.contains { $0.written.outcome == .jobFails }
      await answersGate.pass()
      handOver(opened.filter { $0.written.reason != .timedOut }, answered)
      let silent = opened.filter { $0.written.reason == .timedOut }
      if !silent.isEmpty { await timeLimitGate.pass() }
      handOver(silent, answered)
    }
    return SendEnd()
  }

  private func handOver(_ opened: [OpenRequest], _ answered: (AnswerChunk) -> Void) {
    guard !opened.isEmpty else { return }
    let isCut = isClosed
    var chunk = AnswerChunk()
    for request in opened {
      let verdict = isCut ? Verdict.answerLost : request.written
      chunk.append(
        verdict.outcome == .delivered ? .delivered(request.sent) : .answered(verdict, request.sent), for: request.index)
    }
    answered(chunk)
  }

  public func check(_ batch: PushBatch) async -> [EnvironmentAnswer] {
    let tokens = batch.selection.map { batch.tokens.token($0) }
    var answers: [EnvironmentAnswer] = []
    for token in tokens {
      guard !isClosed, batch.permit.allows(at: clock.now) else {
        answers.append(.notAsked)
        continue
      }
      checkLog.append(token)
      answers.append(script.withLock { $0.checks[token.bytes] } ?? .unknownThere)
    }
    await checksGate.pass()
    return answers
  }

  /// Returns once this many tokens were asked about in the other environment.
  public func waitUntilChecked(_ count: Int) async { await checkLog.wait(for: count) }

  public func close() async {
    script.withLock { $0.isClosed = true }
    answersGate.open()
    checksGate.open()
    timeLimitGate.open()
  }

  private func openRequests(_ batch: PushBatch, from first: Int) -> [OpenRequest] {
    guard let message = batch.message.content as? PushMessage else { return [] }
    var opened: [OpenRequest] = []
    for index in batch.selection[first...].prefix(streams) {
      let token = batch.tokens.token(index)
      let request = script.withLock { script -> OpenRequest? in
        guard !script.isClosed, !Task.isCancelled, batch.permit.allows(at: clock.now) else { return nil }
        let sent = script.takeNumber()
        let verdict = script.takeAnswer(for: token)
        // In the lock, so that the log has the order of the numbers.
        log.append(
          SentPush(
            token: token, message: message, expiresAt: batch.expiresAt, route: batch.route, sent: sent, verdict: verdict
          ))
        return OpenRequest(index: index, written: verdict.without(token), sent: sent)
      }
      guard let request else { break }
      opened.append(request)
    }
    return opened
  }
}

/// A request whose answer is still to come.
private struct OpenRequest {
  var index: Int
  var written: Verdict
  var sent: PushAnswer.Sent
}

/// What was written for a scripted transport, and how far it has come.
private struct TransportScript: Sendable {
  var byToken: [[UInt8]: [(verdict: Verdict, times: Int)]] = [:]
  var checks: [[UInt8]: EnvironmentAnswer] = [:]
  var standard = Verdict.delivered
  var laneFault: Verdict?
  var credential: UInt32 = 1
  var isClosed = false
  private var order: UInt64 = 0

  mutating func takeNumber() -> PushAnswer.Sent {
    order += 1
    return PushAnswer.Sent(order: order, credential: credential)
  }

  mutating func takeAnswer(for token: DeviceToken) -> Verdict {
    guard var left = byToken[token.bytes], let first = left.first else { return standard }
    if first.times <= 1 {
      left.removeFirst()
    } else if first.times < .max {
      left[0].times -= 1
    }
    byToken[token.bytes] = left
    return first.verdict
  }
}

extension Verdict {
  /// The same verdict, whose words do not show the token even if the service's did.
  fileprivate func without(_ token: DeviceToken) -> Verdict {
    guard let words else { return self }
    var verdict = self
    verdict.words = ServiceWords.shortened(words, hiding: token.bytes[...])
    return verdict
  }
}
