import Synchronization
import ZonaiCore
import ZonaiTestKit

extension TransportFlaw {
  static let all: [TransportFlaw] =
    preparing + sending + handingOver + stopping + waiting + hiding + losing + otherEnvironments + closing

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
    onChunk("gives an answer too few") { chunk, batch in
      guard batch.count == 6 else { return }
      chunk.indexes.removeLast()
      chunk.answers.removeLast()
    },
    onSend("sends to all recipients when none is selected") { transport, batch, answered in
      guard batch.selection.isEmpty else { return await transport.send(batch, answered) }
      return await transport.send(batch.with(selection: Array(0..<batch.tokens.count))) { _ in }
    },
    resending("sends twice to some when there are many") { answer in
      guard case .delivered(let sent) = answer else { return false }
      return sent.order > 5000
    },
    mixingBatches,
    onChunk("numbers its sends from 0 again in each batch") { chunk, batch in
      for place in chunk.answers.indices {
        if case .delivered(let sent) = chunk.answers[place] {
          let number = batch.selection.firstIndex(of: chunk.indexes[place]) ?? 0
          chunk.answers[place] = .delivered(PushAnswer.Sent(order: UInt64(number), credential: sent.credential))
        }
      }
    },
    onAnswer("does not tell one credential from another") { answer in
      guard case .delivered(let sent) = answer else { return answer }
      return .delivered(PushAnswer.Sent(order: sent.order, credential: 0))
    },
    onBatch("says nothing of the time to live") { _, batch in batch.with(expiresAt: .some(nil)) },
    onBatch("invents a time to live") { transport, batch in
      batch.with(expiresAt: batch.expiresAt ?? transport.clock.now + 60_000)
    },
  ]

  /// Two batches at once get each other's answers.
  private static var mixingBatches: TransportFlaw {
    let last = Shared(Mutex<[PushAnswer]>([]))
    return onChunk("mixes the answers of batches of one length") { chunk, batch in
      guard batch.count == 50, chunk.answers.count == 50 else { return }
      let other = last.value.withLock { last in
        defer { last = chunk.answers }
        return last
      }
      if !other.isEmpty { chunk.answers = other }
    }
  }

  private static let stopping: [TransportFlaw] = [
    onBatch("does not look at permits") { _, batch in batch.with(permit: SendPermit(validUntil: .max)) },
    onSend("looks at a permit once") { transport, batch, answered in
      let isValid = batch.permit.allows(at: transport.clock.now)
      return await transport.send(batch.with(permit: SendPermit(validUntil: isValid ? .max : .min)), answered)
    },
    onSend("goes on when its task is cancelled") { transport, batch, answered in
      await Task.detached { await transport.send(batch, answered) }.value
    },
    onSend("goes on after a fault of the lane") { transport, batch, answered in
      var end = SendEnd()
      for index in batch.selection { end = await transport.send(batch.with(selection: [index]), answered) }
      return end
    },
    onChunk("forgets the answers that came after a fault") { chunk, _ in
      guard chunk.answers.contains(where: { $0.isStop }) else { return }
      chunk.removeAll { !$0.isStop }
    },
    onChunk("stops at a dead token") { chunk, _ in
      chunk.stop { if case .answered(let verdict, _) = $0 { verdict.outcome == .permanentlyRejected } else { false } }
    },
    onChunk("stops at a throttled device") { chunk, _ in
      chunk.stop {
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

extension AnswerChunk {
  /// Takes back everything behind the first answer for which `isStop` holds.
  fileprivate mutating func stop(at isStop: (PushAnswer) -> Bool) {
    guard let first = answers.firstIndex(where: isStop) else { return }
    indexes = Array(indexes[...first])
    answers = Array(answers[...first])
  }
}
