import ZonaiCore

/// What every transport must do, as checks: `TransportConformance<MyFixture>.checks`.
public enum TransportConformance<Fixture: TransportFixture> {
  public static var checks: [Check<Fixture>] {
    preparing + sending + permits + stopping + losing + closing
  }

  /// Messages are made ready before anything is sent.
  static var preparing: [Check<Fixture>] {
    [
      Check("preparing measures the message", law: "section 5, enqueue") { fixture in
        let short = try fixture.transport.prepare(PushMessage(title: "news", body: "hello"))
        let long = try fixture.transport.prepare(
          PushMessage(title: "news", body: "hello" + String(repeating: "x", count: 100)))
        try expect(short.size > 0 && short.size <= short.limit, "a size within the limit", found: "\(short.size)")
        try expect(long.size, is: short.size + 100, "the size of a message that is 100 bytes longer")
        try expect(long.limit, is: short.limit, "the limit")
      },
      Check("a message above the limit is refused, naming the field and what to do", law: "section 5, enqueue") {
        fixture in
        do {
          _ = try fixture.transport.prepare(fixture.oversizeMessage)
        } catch let error as MessageFault {
          try expect(!error.field.isEmpty, "the name of a field")
          try expect(error.sentence.contains(" "), "a sentence", found: error.sentence)
          return
        }
        throw CheckFailure(expected: "the message to be refused", found: "prepared")
      },
      Check("a fingerprint is the lane's with what the message adds, and stays", law: "section 1, lane") { fixture in
        let message = PushMessage(title: "news", body: "hello")
        let first = try fixture.transport.prepare(message)
        let other = try fixture.transport.prepare(PushMessage(title: "other", body: "words"))
        try expect(
          first.fingerprint.hasPrefix(fixture.transport.lane.fingerprint), "the lane's fingerprint at its beginning",
          found: first.fingerprint)
        try expect(
          try fixture.transport.prepare(message).fingerprint, is: first.fingerprint,
          "the fingerprint of one message twice")
        try expect(other.fingerprint, is: first.fingerprint, "the fingerprint of another message of the same kind")
      },
    ]
  }

  /// Every recipient gets its own answer.
  static var sending: [Check<Fixture>] {
    [
      Check("each recipient gets its own answer, in the order of the selection", law: "section 6, Transport") {
        fixture in
        let tokens = fixture.tokens(12)
        for index in [3, 7, 8] { try await fixture.script(.reportDead, for: tokens[index], times: .max) }
        try await fixture.script(.throttle, for: tokens[5], times: .max)
        let selection = [8, 0, 11, 5, 3, 1]
        let result = try await fixture.send(tokens, selection)
        try expect(
          result.answers.map(\.word),
          is: ["dead", "delivered", "delivered", "transient recipient", "dead", "delivered"], "the answers")
        let delivered = try await fixture.delivered().map(\.token)
        try expect(delivered.sorted(), is: [0, 11, 1].map { tokens[$0] }.sorted(), "who was delivered to")
      },
      Check("a batch of nobody is answered at once and opens nothing", law: "section 6, Transport") { fixture in
        let result = try await fixture.send(fixture.tokens(3), [])
        try expect(result.answers.count, is: 0, "answers")
        try expect(result.laneFault, is: nil, "a fault of the lane")
        try expect(try await fixture.requestsSeen(), is: 0, "requests that the peer saw")
      },
      Check("ten thousand recipients are delivered to, each once", law: "law 5") { fixture in
        let tokens = fixture.tokens(10_000)
        let result = try await fixture.send(tokens)
        try expect(result.answers.count { $0.word == "delivered" }, is: 10_000, "deliveries that are told")
        let delivered = try await fixture.delivered()
        try expect(delivered.count, is: 10_000, "deliveries")
        try expect(Set(delivered.map(\.token)).count, is: 10_000, "different devices")
      },
      Check("batches that are sent at once do not mix their answers", law: "section 6, Transport") { fixture in
        let tokens = fixture.tokens(400)
        for index in stride(from: 0, to: 400, by: 3) {
          try await fixture.script(.reportDead, for: tokens[index], times: .max)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for batch in 0..<8 {
            group.addTask {
              let selection = stride(from: batch, to: 400, by: 8).map(\.self)
              let result = try await fixture.send(tokens, selection)
              try expect(
                result.answers.map(\.word), is: selection.map { $0 % 3 == 0 ? "dead" : "delivered" },
                "the answers of batch \(batch)")
            }
          }
          try await group.waitForAll()
        }
      },
      Check("sends are numbered in the order in which they were opened", law: "section 3, one odd row") { fixture in
        let tokens = fixture.tokens(40)
        let first = try await fixture.send(tokens, Array(0..<20)).answers.compactMap(\.sent)
        let second = try await fixture.send(tokens, Array(20..<40)).answers.compactMap(\.sent)
        try expect(Set((first + second).map(\.order)).count, is: 40, "different numbers")
        try expect(
          (first.map(\.order).max() ?? 0) < (second.map(\.order).min() ?? 0), "greater numbers in a later batch")
        try expect(Set((first + second).map(\.credential)).count, is: 1, "credentials while none is renewed")
      },
      Check("a renewed credential is told apart", law: "section 3, one odd row") { fixture in
        guard fixture.capabilities.renewsCredentials else { return }
        let tokens = fixture.tokens(2)
        let first = try await fixture.send(tokens, [0]).answers[0].sent
        try await fixture.renewCredential()
        let second = try await fixture.send(tokens, [1]).answers[0].sent
        try expect(first != nil && second != nil, "both to be sent")
        try expect(first?.credential != second?.credential, "another credential after the renewal")
      },
      Check("every send carries what is left of the time to live", law: "section 5, send") { fixture in
        guard fixture.capabilities.tellsExpiry else { return }
        let tokens = fixture.tokens(2)
        let expiry = fixture.wallClock + 7_200_000
        _ = try await fixture.send(tokens, [0], expiresAt: expiry)
        _ = try await fixture.send(tokens, [1])
        let delivered = try await fixture.delivered()
        try expectNear(delivered.first { $0.token == tokens[0] }?.expiresAt, expiry, "when the first push expires")
        try expect(
          delivered.first { $0.token == tokens[1] }.map(\.expiresAt), is: .some(nil), "when the second expires")
      },
    ]
  }
}

extension TransportFixture {
  /// Sends a short message to these tokens; all of them when no selection is given.
  func send(
    _ tokens: [String], _ selection: [Int]? = nil, expiresAt: Int64? = nil, permit: SendPermit? = nil
  ) async throws -> PushBatchResult {
    var message = PushMessage(title: "news", body: "hello")
    if let expiresAt { message.timeToLive = Int((expiresAt - wallClock) / 1000) }
    let batch = PushBatch(
      message: try transport.prepare(message), tokens: TokenList(tokens),
      selection: selection ?? Array(tokens.indices), expiresAt: expiresAt,
      permit: permit ?? SendPermit(validUntil: now + 3_600_000))
    let result = await transport.send(batch)
    try expect(result.answers.count, is: batch.count, "answers, one for each recipient")
    return result
  }
}

extension PushAnswer {
  /// The answer in a word or two.
  var word: String {
    switch self {
    case .delivered: "delivered"
    case .notSent: "not sent"
    case .answered(let verdict, _): verdict.word
    }
  }

  var verdict: Verdict? {
    if case .answered(let verdict, _) = self { verdict } else { nil }
  }
}

extension Verdict {
  var word: String {
    switch outcome {
    case .delivered: "delivered"
    case .permanentlyRejected: evidence == .conclusive ? "dead" : "suspect"
    case .transientlyFailed: "transient \(fault?.rawValue ?? "")"
    case .jobFails: "job fails, \(fault?.rawValue ?? "")"
    }
  }
}
