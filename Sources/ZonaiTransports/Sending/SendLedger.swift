import ZonaiCore
import ZonaiHTTP

/// One send call over its rounds: who is to be sent to next, and how the call ends.
struct SendLedger<Reader: AnswerReader> {
  let batch: PushBatch
  let transport: TransportName
  private let answered: @Sendable (AnswerChunk) -> Void
  /// Indexes of the recipients that are sent to in the next round, in order.
  private(set) var pending: [Int]
  private(set) var end = SendEnd()

  init(_ batch: PushBatch, transport: TransportName, answered: @escaping @Sendable (AnswerChunk) -> Void) {
    self.batch = batch
    self.transport = transport
    self.answered = answered
    pending = batch.selection
  }

  /// Takes out recipients that are not sent to, and hands over the reason.
  mutating func refuse(_ refusal: (_ token: UnsafeRawBufferPointer) -> Verdict?) {
    let tokens = batch.tokens
    var refused = AnswerChunk()
    tokens.bytes.withUnsafeBytes { bytes in
      for index in pending {
        guard let verdict = refusal(UnsafeRawBufferPointer(rebasing: bytes[tokens.range(index)])) else { continue }
        refused.append(.answered(verdict, PushAnswer.Sent(order: 0, credential: 0)), for: index)
      }
    }
    guard !refused.isEmpty else { return }
    let out = Set(refused.indexes)
    pending.removeAll { out.contains($0) }
    answered(refused)
  }

  /// Sends to the pending recipients, with one credential.
  mutating func send(
    _ request: RoundRequest, over pool: HTTP2Pool, credential: UInt32
  ) async -> SendRound<Reader>.Leftovers {
    let round = SendRound<Reader>(batch, transport: transport, credential: credential, answered: answered)
    let result = await pool.send(request.batch(pending, of: batch, reader: Reader.self)) { round.take($0) }
    pending = []
    if result.hadAnswers { end.laneAnswered = true }
    if let failure = result.failure { end.laneFault = failure.verdict(on: transport) }
    return round.end(result)
  }

  /// Has these sent again, or at last, in the next round.
  mutating func sendNext(refused: [SendRound<Reader>.Held] = [], unopened: ArraySlice<Int>) {
    pending = refused.map(\.index) + unopened
  }

  /// Nothing further can be sent, and this is why.
  mutating func stop(because fault: Verdict) {
    end.laneFault = fault
    pending = []
  }

  /// The answers stand as they are.
  func handOver(_ refused: [SendRound<Reader>.Held]) {
    guard !refused.isEmpty else { return }
    answered(AnswerChunk(indexes: refused.map(\.index), answers: refused.map(\.answer)))
  }

  /// No cure is left. Answers stand as they are; recipients that a GOAWAY handed back have none, so
  /// the lane carries the fault. A key file that was replaced by one that cannot be used is the
  /// reason to name.
  mutating func giveUp(_ refused: [SendRound<Reader>.Held], because fault: Verdict, file problem: SetupError?) {
    let told = problem == nil ? refused.filter { $0.verdict.fault != .connection } : []
    handOver(told)
    if told.count < refused.count { stop(because: problem?.verdict ?? fault) }
  }
}
