import ZonaiCore

/// What every transport must do, as checks: `TransportConformance<MyFixture>.checks`.
///
/// They are grouped by what they are about, in files of the same name.
public enum TransportConformance<Fixture: TransportFixture> {
  public static var checks: [Check<Fixture>] {
    preparing + sending + handingOver + expiring + permits + stopping + waiting + hiding + losing + otherEnvironments
      + closing
  }
}

extension TransportFixture {
  /// A message that is well below the service's limit.
  func message(title: String = "news", body: String = "hello") -> PushMessage {
    var message = PushMessage(title: title, body: body)
    if capabilities.timeToLive == .required { message.timeToLive = 3600 }
    return message
  }

  /// Sends a short message to these tokens; all of them when no selection is given.
  func send(
    _ tokens: [String], _ selection: [Int]? = nil, expiresAt: Int64? = nil, permit: SendPermit? = nil
  ) async throws -> CollectedSend {
    let (batch, log) = try logged(tokens, selection, expiresAt: expiresAt, permit: permit)
    let result = log.end(await transport.send(batch) { log.take($0) })
    try expect(log.problems, is: [], "problems with the answers")
    return result
  }

  /// A batch that sends a short message to these tokens, and a log for its answers.
  func logged(
    _ tokens: [String], _ selection: [Int]? = nil, expiresAt: Int64? = nil, permit: SendPermit? = nil
  ) throws -> (PushBatch, AnswerLog) {
    var message = message()
    var expiresAt = expiresAt
    if let expiresAt {
      message.timeToLive = Int((expiresAt - wallClock) / 1000)
    } else if let seconds = message.timeToLive {
      expiresAt = wallClock + Int64(seconds) * 1000
    }
    let batch = PushBatch(
      message: try transport.prepare(message), tokens: TokenList(tokens),
      selection: selection ?? Array(tokens.indices), expiresAt: expiresAt,
      permit: permit ?? SendPermit(validUntil: now + 3_600_000))
    return (batch, AnswerLog(batch))
  }
}

extension PushAnswer? {
  /// The answer in a word or two.
  var word: String {
    switch self {
    case .delivered: "delivered"
    case nil: "not sent"
    case .answered(let verdict, _): verdict.word
    }
  }

  var verdict: Verdict? { self?.verdict }
}

extension PushAnswer {
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
