import ZonaiCore
import ZonaiHTTP

/// The answers of one send call, as they come together over its rounds. A round is one pass of the pool with one credential.
struct SendLedger<Reader: AnswerReader> {
  let batch: PushBatch
  let transport: TransportName
  /// One for each element of the batch's selection.
  private(set) var answers: [PushAnswer]
  /// The places in the selection that are to be sent in the next round, in order.
  private(set) var pending: [Int] = []
  private(set) var laneFault: Verdict?
  private var laneAnswered = false

  init(_ batch: PushBatch, transport: TransportName) {
    self.batch = batch
    self.transport = transport
    answers = Array(repeating: .notSent, count: batch.count)
    pending.reserveCapacity(batch.count)
    for place in 0..<batch.count { pending.append(place) }
  }

  var result: PushBatchResult {
    PushBatchResult(answers: answers, laneFault: laneFault, laneAnswered: laneAnswered)
  }

  /// Takes out recipients that are not sent to, with the reason.
  mutating func refuse(_ refusal: (_ token: UnsafeRawBufferPointer) -> Verdict?) {
    let tokens = batch.tokens
    let selection = batch.selection
    var refused = false
    tokens.bytes.withUnsafeBytes { bytes in
      for place in pending {
        let range = tokens.range(selection[place])
        guard let verdict = refusal(UnsafeRawBufferPointer(rebasing: bytes[range])) else { continue }
        answers[place] = .answered(verdict, PushAnswer.Sent(order: 0, credential: 0))
        refused = true
      }
    }
    if refused { pending.removeAll { answers[$0] != .notSent } }
  }

  /// Nothing further can be sent, and this is why.
  mutating func stop(because fault: Verdict?) {
    laneFault = fault ?? laneFault
    pending = []
  }

  /// What a round leaves to decide. All are places in the selection, in order.
  struct Leftovers {
    /// Refused for the lane's credential.
    var refused: [Int] = []
    /// Not opened, after an answer that speaks about the lane or the message, or since new connections were asked for.
    var unopened: [Int] = []
    /// Handed back unread when the server ended the connection.
    var handedBack: [Int] = []
    /// The first answer that speaks about the whole lane or the message, the credential's aside.
    var otherFault: Verdict?
    /// The first answer that refuses the credential.
    var credentialFault: Verdict?
    /// Whether the service wants fewer requests from the whole lane: the rest is for a later send.
    var isThrottled = false
    /// Whether an answer spoke about the connection that it came over: APNs' own, or 421, which
    /// another connection may cure.
    var hasDyingConnection = false
    /// The place of the last delivery in the order of sending.
    var lastDelivery: UInt64 = 0
  }

  /// Reads what became of the pending requests.
  mutating func take(_ result: HTTP2BatchResult, credential: UInt32) -> Leftovers {
    var left = Leftovers()
    if result.hadAnswers { laneAnswered = true }
    for place in pending {
      let index = batch.selection[place]
      let sent = PushAnswer.Sent(order: result.places[index], credential: credential)
      switch result.outcomes[index] {
      case .answered(200) where result.answer(index) == nil:
        answers[place] = .delivered(sent)
        left.lastDelivery = max(left.lastDelivery, sent.order)
      case .answered(let status):
        let verdict = verdict(status, result.answer(index), index)
        guard verdict.outcome != .delivered else {
          answers[place] = .delivered(sent)
          continue
        }
        answers[place] = .answered(verdict, sent)
        if verdict.fault == .connection || status == 421 { left.hasDyingConnection = true }
        if verdict.slowsLane { left.isThrottled = true }
        guard verdict.outcome == .jobFails else { continue }
        if verdict.fault == .credentials {
          left.refused.append(place)
          left.credentialFault = left.credentialFault ?? verdict
        } else {
          left.otherFault = left.otherFault ?? verdict
        }
      case .notHandled(let how):
        answers[place] = .answered(connection(.notHandled), sent)
        if how == .goAway { left.handedBack.append(place) }
      case .answerLost(let how):
        answers[place] = .answered(connection(how == .timedOut ? .timedOut : .answerLost), sent)
      case .notSent(.stopped):
        left.unopened.append(place)
      case .notSent(.malformed):
        answers[place] = .answered(SendLedger.unsendable, sent)
      case .notSent:
        break
      }
    }
    pending = []
    if let failure = result.failure { laneFault = failure.verdict(on: transport) }
    return left
  }

  /// Has these sent again, or at last, in the next round. Until then they count as not sent, which is as good as refused for
  /// the lane's credential: no device has got anything.
  mutating func sendNext(_ places: [Int]) {
    pending = places.sorted()
    for place in pending { answers[place] = .notSent }
  }

  /// What is sent in the next round when no credential has to be renewed first.
  func rest(_ left: Leftovers) -> [Int] { left.otherFault == nil && !left.isThrottled ? left.unopened : [] }

  /// Whether everybody who was refused for the credential was sent to before somebody who was delivered to under the same one:
  /// then it is good, and they are not refused for it.
  func areOdd(_ left: Leftovers) -> Bool {
    left.refused.allSatisfy { answers[$0].sent.map { $0.order < left.lastDelivery } ?? false }
  }

  /// No cure is left. Answers stand as they are; whom a GOAWAY handed back has none, so the lane carries the fault. A key
  /// file that was replaced by one that cannot be used is the reason to name.
  mutating func giveUp(_ left: Leftovers, because fault: Verdict, file problem: SetupError?) {
    let unanswered = left.refused.filter { place in
      guard problem == nil, case .answered(let verdict, _) = answers[place] else { return true }
      return verdict.fault == .connection
    }
    guard !unanswered.isEmpty else { return }
    sendNext(unanswered)
    stop(because: problem?.verdict ?? fault)
  }

  private func verdict(_ status: UInt16, _ answer: HTTP2Answer?, _ index: Int) -> Verdict {
    Reader.verdict(
      status: Int(status), body: answer?.body ?? [], field: { answer?[$0] }, token: batch.tokens[index])
  }

  private func connection(_ failure: ConnectionFailure) -> Verdict {
    ConnectionVerdicts.verdict(for: failure, on: transport)
  }

  private static var unsendable: Verdict {
    Verdict(
      .transientlyFailed, fault: .configuration, reason: .tokenNotForLane,
      words: "the token cannot stand in a request's path", names: "the token column")
  }
}
