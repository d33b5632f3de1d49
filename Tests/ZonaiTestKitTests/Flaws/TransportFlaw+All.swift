import Synchronization
import ZonaiCore
import ZonaiTestKit

extension TransportFlaw {
  static let all: [TransportFlaw] = preparing + sending + stopping + waiting + hiding + losing + closing

  private static let preparing: [TransportFlaw] = [
    onPrepared("measures nothing") {
      PreparedMessage(fingerprint: $0.fingerprint, size: 0, limit: $0.limit, content: $0.content)
    },
    TransportFlaw("takes any message") { flaw in
      flaw.prepare = { (transport, message) throws(MessageFault) in
        var short = message
        short.body = message.body.map { String($0.prefix(1000)) }
        let prepared = try transport.prepare(short)
        let size = prepared.size + (message.body?.utf8.count ?? 0) - (short.body?.utf8.count ?? 0)
        return PreparedMessage(
          fingerprint: prepared.fingerprint, size: size, limit: prepared.limit, content: prepared.content)
      }
    },
    onPrepared("puts the message into the fingerprint") {
      let title = ($0.content as? PushMessage)?.title ?? ""
      return PreparedMessage(
        fingerprint: "\($0.fingerprint)/\(title)", size: $0.size, limit: $0.limit, content: $0.content)
    },
  ]

  private static func onPrepared(
    _ name: String, _ change: @escaping @Sendable (PreparedMessage) -> PreparedMessage
  ) -> TransportFlaw {
    TransportFlaw(name) { flaw in
      flaw.prepare = { (transport, message) throws(MessageFault) in change(try transport.prepare(message)) }
    }
  }

  static let sending: [TransportFlaw] = [
    onBatch("sends in the order of the tokens") { _, batch in batch.with(selection: batch.selection.sorted()) },
    onResult("gives an answer too few") { result, _ in if result.answers.count == 6 { result.answers.removeLast() } },
    TransportFlaw("sends to everybody when nobody is selected") { flaw in
      flaw.send = { transport, batch in
        guard batch.selection.isEmpty else { return await transport.send(batch) }
        _ = await transport.send(batch.with(selection: Array(0..<batch.tokens.count)))
        return PushBatchResult(answers: [])
      }
    },
    resending("sends twice to some when there are many") { answer in
      guard case .delivered(let sent) = answer else { return false }
      return sent.order > 5000
    },
    mixingBatches,
    onResult("numbers its sends anew in each batch") { result, _ in
      for index in result.answers.indices {
        if case .delivered(let sent) = result.answers[index] {
          result.answers[index] = .delivered(PushAnswer.Sent(order: UInt64(index), credential: sent.credential))
        }
      }
    },
    onResult("does not tell one credential from another") { result, _ in
      for index in result.answers.indices {
        if case .delivered(let sent) = result.answers[index] {
          result.answers[index] = .delivered(PushAnswer.Sent(order: sent.order, credential: 0))
        }
      }
    },
    onBatch("says nothing of the time to live") { _, batch in batch.with(expiresAt: .some(nil)) },
    onBatch("invents a time to live") { transport, batch in
      batch.with(expiresAt: batch.expiresAt ?? transport.clock.now + 60_000)
    },
  ]

  /// Two batches at once get each other's answers.
  private static var mixingBatches: TransportFlaw {
    let state = Shared(Mutex<(open: Int, last: [PushAnswer])>((0, [])))
    return TransportFlaw("mixes the answers of batches of one length") { flaw in
      flaw.send = { transport, batch in
        let result = await transport.send(batch)
        guard batch.count == 50, result.answers.count == 50 else { return result }
        let other = state.value.withLock { state in
          defer { state.last = result.answers }
          return state.last
        }
        return PushBatchResult(answers: other.isEmpty ? result.answers : other)
      }
    }
  }

  private static let stopping: [TransportFlaw] = [
    onBatch("does not look at permits") { _, batch in batch.with(permit: SendPermit(validUntil: .max)) },
    TransportFlaw("looks at a permit once") { flaw in
      flaw.send = { transport, batch in
        let isValid = batch.permit.allows(at: transport.clock.now)
        return await transport.send(batch.with(permit: SendPermit(validUntil: isValid ? .max : .min)))
      }
    },
    TransportFlaw("goes on after a fault of the lane") { flaw in
      flaw.send = { transport, batch in
        var answers: [PushAnswer] = []
        for index in batch.selection { answers += await transport.send(batch.with(selection: [index])).answers }
        return PushBatchResult(answers: answers)
      }
    },
    onResult("forgets the answers that came after a fault") { result, _ in
      guard result.answers.contains(where: { $0.isStop }) else { return }
      for index in result.answers.indices where !result.answers[index].isStop { result.answers[index] = .notSent }
    },
    onResult("stops at a dead token") { result, _ in
      result.stop { if case .answered(let verdict, _) = $0 { verdict.outcome == .permanentlyRejected } else { false } }
    },
    onResult("stops at a throttled device") { result, _ in
      result.stop {
        if case .answered(let verdict, _) = $0 {
          verdict.fault == .recipient && verdict.outcome == .transientlyFailed
        } else {
          false
        }
      }
    },
    onVerdict("takes a service in trouble for a dead token") { verdict, _ in
      if verdict.status == 503 { verdict = .dead }
    },
    onVerdict("takes what it does not know for a dead token") { verdict, _ in
      if verdict.fault == .unknown { verdict = .suspect(.namesNothing) }
    },
    onVerdict("takes a device's throttle for the lane's") { verdict, _ in
      if verdict.status == 429 { verdict.slowsLane = true }
    },
    resending("asks a service in trouble again by itself") { $0.verdict?.status == 503 },
    resending("asks again for a throttled device by itself") { $0.verdict?.status == 429 },
    resending("asks again by itself after an answer that it does not know") { $0.verdict?.fault == .unknown },
  ]

  private static let waiting: [TransportFlaw] = [
    onVerdict("drops the wait of a throttle") { verdict, _ in
      if verdict.status == 429 { verdict.retryAfterMilliseconds = nil }
    },
    onVerdict("drops the wait of a service in trouble") { verdict, _ in
      if verdict.status == 503 { verdict.retryAfterMilliseconds = nil }
    },
    onVerdict("drops a wait in seconds") { verdict, _ in
      if verdict.retryAfterMilliseconds == 1_800_000 { verdict.retryAfterMilliseconds = nil }
    },
    onVerdict("drops a wait until a date") { verdict, _ in
      if verdict.retryAfterMilliseconds == 2_400_000 { verdict.retryAfterMilliseconds = nil }
    },
    onVerdict("takes seconds for milliseconds") { verdict, _ in
      verdict.retryAfterMilliseconds = verdict.retryAfterMilliseconds.map { $0 / 1000 }
    },
    onVerdict("makes up a wait") { verdict, _ in
      if verdict.status == 503 { verdict.retryAfterMilliseconds = verdict.retryAfterMilliseconds ?? 60_000 }
    },
  ]
}

extension PushAnswer {
  var verdict: Verdict? {
    if case .answered(let verdict, _) = self { verdict } else { nil }
  }

  /// Whether the answer speaks about more than its token.
  fileprivate var isStop: Bool {
    if case .answered(let verdict, _) = self { verdict.outcome == .jobFails } else { false }
  }
}

extension PushBatchResult {
  /// Takes back everything behind the first answer for which `isStop` holds.
  fileprivate mutating func stop(at isStop: (PushAnswer) -> Bool) {
    guard let first = answers.firstIndex(where: isStop) else { return }
    for index in answers.indices where index > first { answers[index] = .notSent }
  }
}
