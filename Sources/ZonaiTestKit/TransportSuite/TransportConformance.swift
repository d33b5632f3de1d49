import ZonaiCore

/// What every transport must do, as checks: `TransportConformance<MyFixture>.checks`.
///
/// They are grouped by what they are about, in files of the same name.
public enum TransportConformance<Fixture: TransportFixture> {
  public static var checks: [Check<Fixture>] {
    preparing + sending + expiring + permits + stopping + waiting + hiding + losing + closing
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
  ) async throws -> PushBatchResult {
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
