import ZonaiCore

extension TransportConformance {
  /// Answers that never come. Only what certainly was not handled may be sent again.
  static var losing: [Check<Fixture>] {
    PeerBehaviour.Loss.allCases.map(lossCheck) + [
      refusalCheck("a stream that was refused was certainly not handled", .stream),
      refusalCheck("what a GOAWAY leaves out was certainly not handled", .goAway),
      Check("a peer that cannot be reached is told, and no recipient counts as sent to", law: "section 6, Transport") {
        fixture in
        try await fixture.unplug()
        let result = try await fixture.send(fixture.tokens(20))
        try expect(
          result.answers.allSatisfy { $0 == nil || $0.word == "transient connection" },
          "no recipient sent to", found: "\(Set(result.answers.map(\.word)))")
        if result.answers.contains(nil) {
          try expect(result.laneFault != nil, "the reason why nothing was sent")
          try expect(result.laneFault?.outcome != .permanentlyRejected, "a reason that calls no token dead")
        }
        try expect(try await fixture.delivered().count, is: 0, "deliveries")
      },
    ]
  }

  /// HTTP clients repeat by themselves what was lost, many only on a connection that was used
  /// before: so an answer is lost on the first request, on one among others, and on a lone one over
  /// a connection that is in use.
  private static func lossCheck(_ loss: PeerBehaviour.Loss) -> Check<Fixture> {
    Check("a push is sent once and told as perhaps delivered if \(loss.clause)", law: "law 6") { fixture in
      guard fixture.capabilities.losses.contains(loss) else { return }
      let tokens = fixture.tokens(13)
      try await lose(loss, 0, among: [0], tokens, fixture)
      try await deliver([1, 2], tokens, fixture)
      try await lose(loss, 6, among: Array(3...10), tokens, fixture)
      try await deliver([11], tokens, fixture)
      try await lose(loss, 12, among: [12], tokens, fixture)
    }
  }

  private static func deliver(_ selection: [Int], _ tokens: [String], _ fixture: Fixture) async throws {
    let words = try await fixture.send(tokens, selection).answers.map(\.word)
    try expect(words, is: selection.map { _ in "delivered" }, "the answers after one was lost")
  }

  /// Sends to the selection; the answer to one of it is lost.
  private static func lose(
    _ loss: PeerBehaviour.Loss, _ lost: Int, among selection: [Int], _ tokens: [String], _ fixture: Fixture
  ) async throws {
    // Once: if the request is sent again, that is accepted, and shows.
    try await fixture.script(.loseAnswer(loss), for: tokens[lost], times: 1)
    async let sending = fixture.send(tokens, selection)
    if loss == .silence {
      try await fixture.waitUntilDelivered(to: tokens[lost])
      try await fixture.outlastTimeLimit()
    }
    let answers = try await sending.answers
    let deliveries = Dictionary(grouping: try await fixture.delivered(), by: \.token).mapValues(\.count)
    for (index, answer) in zip(selection, answers) {
      let count = deliveries[tokens[index], default: 0]
      try expect(count <= 1, "each push to be sent once", found: "\(count) times, told as \(answer.word)")
      switch answer {
      case .delivered: try expect(count, is: 1, "deliveries of a push that is told as delivered")
      case nil: try expect(count, is: 0, "deliveries of a push that is told as not sent")
      case .answered(let verdict, _) where verdict.answerMayBeLost: break
      case .answered: try expect(count, is: 0, "deliveries of a push that is told as not delivered (\(answer.word))")
      }
      guard index == lost else { continue }
      try expect(count, is: 1, "deliveries of the push whose answer was lost")
      // A head that accepts the push may count as the answer.
      if loss == .afterHead, answer.word == "delivered" { continue }
      try expect(answer.word, is: "transient service", "the answer")
      try expect(answer.verdict?.answerMayBeLost, is: true, "whether it may have arrived all the same")
      try expect(answer.verdict?.retry != .free, "a repeat that uses up an attempt")
    }
  }

  /// The peer leaves one request alone, once. The transport may send it again, or say so.
  private static func refusalCheck(_ name: String, _ refusal: PeerBehaviour.Refusal) -> Check<Fixture> {
    Check(name, law: "section 3, connection") { fixture in
      guard fixture.capabilities.refusals.contains(refusal) else { return }
      let tokens = fixture.tokens(10)
      try await fixture.script(.refuse(refusal), for: tokens[4], times: 1)
      let answers = try await fixture.send(tokens).answers
      for answer in answers {
        guard let verdict = answer.verdict else { continue }
        try expect(verdict.word, is: "transient connection", "an answer that is not a delivery")
        try expect(verdict.answerMayBeLost, is: false, "whether it may have arrived all the same")
        try expect(verdict.retry, is: .free, "what a repeat costs")
      }
      let delivered = try await fixture.delivered().map(\.token)
      let told = zip(tokens, answers).filter { $0.1.word == "delivered" }.map(\.0)
      try expect(delivered.sorted(), is: told.sorted(), "deliveries, each once")
    }
  }
}

extension PeerBehaviour.Loss {
  fileprivate var clause: String {
    switch self {
    case .connectionReset: "its connection is reset before the answer"
    case .connectionClosed: "its connection is closed before the answer"
    case .afterHead: "its connection ends behind the head of the answer"
    case .insideBody: "its connection ends inside the body of the answer"
    case .streamReset: "its stream is reset"
    case .silence: "no answer ever comes"
    }
  }
}
