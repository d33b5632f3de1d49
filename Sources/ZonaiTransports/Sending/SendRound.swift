import Synchronization
import ZonaiCore
import ZonaiHTTP

/// One pass of the pool with one credential: reads what comes back, on the pool's thread, and hands
/// over what is final.
///
/// Recipients that were refused for the credential are held back: after a cure they are sent to
/// again, and have one answer only.
final class SendRound<Reader: AnswerReader>: Sendable {
  /// What a round leaves to decide.
  struct Leftovers {
    /// Refused for the lane's credential, in the order of sending.
    var refused: [Held] = []
    /// Indexes of recipients that were not opened, after an answer that speaks about the lane or
    /// the message, or since new connections were asked for.
    var unopened: ArraySlice<Int> = []
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
    /// How many GOAWAYs were read, and the credential's fault that one of them spoke of.
    fileprivate var heard = 0
    fileprivate var goAwayFault: Verdict?

    /// Whether every recipient that was refused for the credential was sent to before one that was
    /// delivered to under the same one: then it is good, and they are not refused for it.
    var areRefusedOdd: Bool { refused.allSatisfy { $0.sent.order < lastDelivery } }

    /// What is sent in the next round when no credential has to be renewed first.
    var rest: ArraySlice<Int> { otherFault == nil && !isThrottled ? unopened : [] }
  }

  /// A recipient whose answer is not final yet.
  struct Held {
    var index: Int
    var verdict: Verdict
    var sent: PushAnswer.Sent

    var answer: PushAnswer { .answered(verdict, sent) }
  }

  private let batch: PushBatch
  private let transport: TransportName
  private let credential: UInt32
  private let answered: @Sendable (AnswerChunk) -> Void
  private let left = Mutex(Leftovers())

  init(
    _ batch: PushBatch, transport: TransportName, credential: UInt32,
    answered: @escaping @Sendable (AnswerChunk) -> Void
  ) {
    self.batch = batch
    self.transport = transport
    self.credential = credential
    self.answered = answered
  }

  func take(_ chunk: HTTP2Chunk) {
    var final = AnswerChunk()
    final.reserve(chunk.settled.count)
    left.withLock { left in
      for goAway in chunk.goAways[left.heard...] {
        left.goAwayFault = left.goAwayFault ?? Reader.credentialFault(in: goAway)
      }
      left.heard = chunk.goAways.count
      for settled in chunk.settled {
        if let answer = read(settled, in: chunk, &left) { final.append(answer, for: settled.request) }
      }
    }
    if !final.isEmpty { answered(final) }
  }

  /// What the round left, once it is over.
  func end(_ end: HTTP2BatchEnd) -> Leftovers {
    left.withLock { left in
      if end.reason == .stopped { left.unopened = end.unopened }
      // A request that was never written has no place: it would have been the last.
      left.refused.sort { $0.sent.order &- 1 < $1.sent.order &- 1 }
      return left
    }
  }

  /// The answer, if it is final.
  private func read(_ settled: HTTP2Chunk.Settled, in chunk: HTTP2Chunk, _ left: inout Leftovers) -> PushAnswer? {
    let sent = PushAnswer.Sent(order: settled.place, credential: credential, connection: settled.connection)
    switch settled.outcome {
    case .answered(let status):
      let answer = chunk.answer(to: settled)
      if status == 200, answer == nil {
        left.lastDelivery = max(left.lastDelivery, sent.order)
        return .delivered(sent)
      }
      let verdict = Reader.verdict(
        status: Int(status), body: answer?.body ?? [], field: { answer?[$0] }, token: batch.tokens[settled.request])
      return take(verdict, status, Held(index: settled.request, verdict: verdict, sent: sent), &left)
    case .notHandled(let how):
      let held = Held(index: settled.request, verdict: connection(.notHandled), sent: sent)
      guard how == .goAway, let fault = left.goAwayFault else { return held.answer }
      left.credentialFault = left.credentialFault ?? fault
      left.refused.append(held)
      return nil
    case .answerLost(let how):
      return .answered(connection(how == .timedOut ? .timedOut : .answerLost), sent)
    case .notSent:
      return .answered(SendRound.unsendable, sent)
    }
  }

  private func take(_ verdict: Verdict, _ status: UInt16, _ held: Held, _ left: inout Leftovers) -> PushAnswer? {
    if verdict.outcome == .delivered { return .delivered(held.sent) }
    if verdict.fault == .connection || status == 421 { left.hasDyingConnection = true }
    if verdict.slowsLane { left.isThrottled = true }
    guard verdict.outcome == .jobFails else { return held.answer }
    guard verdict.fault == .credentials else {
      left.otherFault = left.otherFault ?? verdict
      return held.answer
    }
    left.credentialFault = left.credentialFault ?? verdict
    left.refused.append(held)
    return nil
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
