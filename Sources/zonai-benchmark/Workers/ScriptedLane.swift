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

  func send(_ batch: PushBatch) async -> PushBatchResult {
    // Whoever ends the sleep has answers all the same: a batch is never given up here.
    if latency > 0 { try? await Task.sleep(for: .milliseconds(latency)) }
    var answers: [PushAnswer] = []
    answers.reserveCapacity(batch.count)
    let sent = PushAnswer.Sent(order: 0, credential: 0)
    for index in 0..<batch.count {
      answers.append(index % Stores.deadEvery == 0 ? .answered(Self.dead, sent) : .delivered(sent))
    }
    return PushBatchResult(answers: answers)
  }

  func close() async {}
}
