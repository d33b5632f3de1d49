import ZonaiCore
import ZonaiTestKit

extension TransportFlaw {
  static let losing: [TransportFlaw] =
    PeerBehaviour.Loss.allCases.map { loss in
      resending("sends again what was lost by \(loss)") { $0.verdict?.isLost(by: loss) ?? false }
    } + [
      // What HTTP clients do by themselves.
      resending("sends again what was lost on a connection that was in use") { answer in
        answer.verdict?.isLost(by: .connectionClosed) ?? false && (answer.sent?.order ?? 0) > 1
      },
      resending("sends again what was lost, and tells the first answer", telling: false) { answer in
        answer.verdict?.isLost(by: .connectionReset) ?? false
      },
      onResult("takes a request that was lost with its connection for a delivery") { result, _ in
        for (index, answer) in result.answers.enumerated() {
          guard case .answered(let verdict, let sent) = answer, verdict.isLost(by: .connectionClosed) else { continue }
          result.answers[index] = .delivered(sent)
        }
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
      onResult("does not say why nothing was sent") { result, _ in result.laneFault = nil },
    ]

  static let closing: [TransportFlaw] = [
    TransportFlaw("sends after it was closed") { flaw in flaw.close = { transport in transport.timeLimitGate.open() } },
    TransportFlaw("sends after it was closed, and says that it did not") { flaw in
      flaw.close = { transport in transport.timeLimitGate.open() }
      flaw.sendClosed = { transport, batch in
        _ = await transport.send(batch)
        return .nothingSent(batch.count, because: nil)
      }
    },
    onResult("takes what closing cut off for deliveries") { result, _ in
      for (index, answer) in result.answers.enumerated() {
        guard case .answered(let verdict, let sent) = answer, verdict == .answerLost else { continue }
        result.answers[index] = .delivered(sent)
      }
    },
  ]
}

extension Verdict {
  /// Whether this is what the scripted fixture answers when an answer is lost so.
  fileprivate func isLost(by loss: PeerBehaviour.Loss) -> Bool { answerMayBeLost && words == loss.rawValue }
}
