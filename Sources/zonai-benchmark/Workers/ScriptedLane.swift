import ZonaiCore

/// A lane without a network: it answers a whole batch after a while, every fiftieth with a dead token.
struct ScriptedLane: Transport {
  let lane = Stores.lane
  let latency: Int64

  private static let dead = Verdict(
    .permanentlyRejected, fault: .recipient, evidence: .conclusive, reason: "Unregistered", status: 410)

  func prepare(_ message: PushMessage) throws(MessageFault) -> PreparedMessage {
    PreparedMessage(fingerprint: Stores.group.fingerprint, size: 300, limit: 4096, content: message)
  }

  func send(_ batch: PushBatch, _ answered: @escaping @Sendable (AnswerChunk) -> Void) async -> SendEnd {
    // Whoever ends the sleep has answers all the same: a batch is never given up here.
    if latency > 0 { try? await Task.sleep(for: .milliseconds(latency)) }
    var chunk = AnswerChunk()
    chunk.reserve(batch.count)
    let sent = PushAnswer.Sent(order: 0, credential: 0)
    for (number, index) in batch.selection.enumerated() {
      chunk.append(number % Stores.deadEvery == 0 ? .answered(Self.dead, sent) : .delivered(sent), for: index)
    }
    answered(chunk)
    return SendEnd()
  }

  func close() async {}
}
