import Synchronization
import ZonaiCore
import ZonaiThreads

/// The transport alone: batches at its seam, several in flight, no store.
enum TransportRun {
  static func run(_ options: Options) async throws -> Report {
    let transport = try await Lanes.make(options)
    let prepared = try transport.prepare(Lanes.message)
    var tokens = TokenList()
    tokens.reserve(tokens: options.batch)
    for number in 0..<options.batch { tokens.append(Lanes.token(number, options.lane)) }
    let batch = PushBatch(
      message: prepared, tokens: tokens, selection: Array(0..<options.batch), expiresAt: nil,
      permit: SendPermit(validUntil: .max))
    // Connections, the access token, the first SETTINGS: not what is measured.
    _ = await transport.send(batch) { _ in }

    let rounds = options.recipients / options.batch
    let before = Usage.now()
    let start = MonotonicClock.milliseconds()
    var report = Report(options)
    await withTaskGroup(of: (delivered: Int, otherwise: Int).self) { group in
      var started = 0
      func next() {
        guard started < rounds else { return }
        started += 1
        group.addTask {
          let counts = Counts()
          _ = await transport.send(batch) { counts.add($0) }
          return counts.value.withLock { $0 }
        }
      }
      for _ in 0..<options.inFlight { next() }
      for await counts in group {
        report.delivered += counts.delivered
        report.otherwise += counts.otherwise
        next()
      }
    }
    report.milliseconds = MonotonicClock.milliseconds() - start
    report.measure(since: before, recipients: rounds * options.batch)
    await transport.close()
    return report
  }
}

/// The answers of one send, counted as they come.
private final class Counts: Sendable {
  let value = Mutex((delivered: 0, otherwise: 0))

  func add(_ chunk: AnswerChunk) {
    value.withLock { value in
      for answer in chunk.answers {
        if case .delivered = answer { value.delivered += 1 } else { value.otherwise += 1 }
      }
    }
  }
}
