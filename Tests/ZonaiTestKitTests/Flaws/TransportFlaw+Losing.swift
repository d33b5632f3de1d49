import ZonaiCore
import ZonaiTestKit

extension TransportFlaw {
  static let losing: [TransportFlaw] =
    PeerBehaviour.Loss.allCases.map { loss in
      resending("sends again what was lost by \(loss)") { $0.verdict?.isLost(by: loss) ?? false }
    } + [
      // What HTTP clients do by themselves.
      resending("sends again what was lost on a connection that was in use") { answer in
        answer.verdict?.isLost(by: .connectionClosed) ?? false && answer.sent.order > 1
      },
      resending("sends again what was lost, and tells the first answer", telling: false) { answer in
        answer.verdict?.isLost(by: .connectionReset) ?? false
      },
      onAnswer("takes a request that was lost with its connection for a delivery") { answer in
        guard answer.verdict?.isLost(by: .connectionClosed) ?? false else { return answer }
        return .delivered(answer.sent)
      },
      onVerdict("takes half of an answer for an answer") { verdict, _ in
        if verdict.isLost(by: .insideBody) { verdict = .dead }
      },
      onVerdict("does not say that a push without an answer may have arrived") { verdict, _ in
        if verdict.isLost(by: .silence) { verdict.answerMayBeLost = false }
      },
      onVerdict("repeats a lost answer for free") { verdict, _ in
        if verdict.isLost(by: .streamReset) { verdict.retry = .free }
      },
      onVerdict("takes a refused stream for a lost answer") { verdict, _ in
        if verdict.reason == .notHandled { verdict = .answerLost }
      },
      onSend("does not say why nothing was sent") { transport, batch, answered in
        _ = await transport.send(batch, answered)
        return SendEnd()
      },
    ]

  static let closing: [TransportFlaw] = [
    TransportFlaw("sends after it was closed") { flaw in flaw.close = { transport in transport.timeLimitGate.open() } },
    TransportFlaw("sends after it was closed, and says that it did not") { flaw in
      flaw.close = { transport in transport.timeLimitGate.open() }
      flaw.sendClosed = { transport, batch, _ in await transport.send(batch) { _ in } }
    },
    onAnswer("takes what closing cut off for deliveries") { answer in
      answer.verdict == .answerLost ? .delivered(answer.sent) : answer
    },
  ]
}

extension Verdict {
  /// Whether this is what the scripted fixture answers when an answer is lost so.
  fileprivate func isLost(by loss: PeerBehaviour.Loss) -> Bool { answerMayBeLost && words == loss.rawValue }
}
