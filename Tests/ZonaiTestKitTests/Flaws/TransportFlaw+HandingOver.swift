import Synchronization
import ZonaiCore
import ZonaiTestKit

extension TransportFlaw {
  static let handingOver: [TransportFlaw] = [
    onSend("hands everything over at the end") { transport, batch, answered in
      let chunks = Recording<AnswerChunk>()
      let end = await transport.send(batch) { chunks.append($0) }
      for chunk in chunks.elements { answered(chunk) }
      return end
    },
    onChunk("names throttled recipients twice") { chunk, _ in
      for (index, answer) in zip(chunk.indexes, chunk.answers) where answer.verdict?.status == 429 {
        chunk.append(answer, for: index)
      }
    },
    onChunk("names recipients that it was not asked for") { chunk, batch in
      guard batch.selection.first == 10, let answer = chunk.answers.first else { return }
      chunk.append(answer, for: 0)
    },
    handingOverLate,
    onSend("loses what comes while its receiver is busy") { transport, batch, answered in
      let isBusy = Shared(Atomic(false))
      return await transport.send(batch) { chunk in
        guard !isBusy.value.load(ordering: .relaxed) else { return }
        let start = ContinuousClock.now
        answered(chunk)
        isBusy.value.store(ContinuousClock.now - start >= .milliseconds(20), ordering: .relaxed)
      }
    },
  ]

  /// Of a large batch, the last chunk comes when the transport is closed.
  private static var handingOverLate: TransportFlaw {
    let late = Shared(Mutex<(@Sendable () -> Void)?>(nil))
    return TransportFlaw("hands the last answers over after the return") { flaw in
      flaw.send = { transport, batch, answered in
        let chunks = Recording<AnswerChunk>()
        guard batch.count == 280 else { return await transport.send(batch, answered) }
        let end = await transport.send(batch) { chunks.append($0) }
        for chunk in chunks.elements.dropLast() { answered(chunk) }
        late.value.withLock { late in late = { chunks.elements.suffix(1).forEach(answered) } }
        return end
      }
      flaw.close = { transport in
        late.value.withLock { late in
          late?()
          late = nil
        }
        await transport.close()
      }
    }
  }

  static let otherEnvironments: [TransportFlaw] = [
    TransportFlaw("answers checks in the order of the tokens") { flaw in
      flaw.check = { transport, batch in await transport.check(batch.with(selection: batch.selection.sorted())) }
    },
    TransportFlaw("takes trouble in the other environment for a token that is unknown there") { flaw in
      flaw.check = { transport, batch in
        await transport.check(batch).map { if case .undecided = $0 { .unknownThere } else { $0 } }
      }
    },
    TransportFlaw("asks the other environment without a permit") { flaw in
      flaw.check = { transport, batch in
        await transport.check(batch.with(permit: SendPermit(validUntil: .max)))
      }
    },
  ]
}
