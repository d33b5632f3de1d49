import ZonaiCore

extension TransportConformance {
  /// Answers that never come. Only what surely was not handled may be sent again.
  static var losing: [Check<Fixture>] {
    [
      Check("a push whose answer was lost is not sent again, and may have arrived", law: "law 6") { fixture in
        try await lost(fixture, .loseAnswer)
      },
      Check("a peer that never answers is not waited for without end", law: "law 12") { fixture in
        try await lost(fixture, .staySilent)
      },
      refusedCheck("a stream that was refused was surely not handled", .refuseStream),
      refusedCheck("what a GOAWAY leaves out was surely not handled", .goAway),
      Check("a peer that cannot be reached is told, and nobody counts as sent to", law: "section 6, Transport") {
        fixture in
        try await fixture.unplug()
        let result = try await fixture.send(fixture.tokens(20))
        try expect(
          result.answers.allSatisfy { $0 == .notSent || $0.word == "transient connection" },
          "nobody sent to", found: "\(Set(result.answers.map(\.word)))")
        if result.answers.contains(.notSent) {
          try expect(result.laneFault != nil, "the reason why nothing was sent")
          try expect(result.laneFault?.outcome != .permanentlyRejected, "a reason that is nobody's death")
        }
        try expect(try await fixture.delivered().count, is: 0, "deliveries")
      },
    ]
  }

  /// One push is delivered and its answer is lost.
  private static func lost(_ fixture: Fixture, _ behaviour: PeerBehaviour) async throws {
    let tokens = fixture.tokens(1)
    try await fixture.script(behaviour, for: tokens[0], times: .max)
    async let sending = fixture.send(tokens)
    try await fixture.waitUntilSeen(1)
    try await fixture.outlastTimeLimit()
    let result = try await sending
    let verdict = result.answers[0].verdict
    try expect(verdict?.word, is: "transient service", "the answer")
    try expect(verdict?.answerMayBeLost, is: true, "whether it may have arrived all the same")
    try expect(verdict?.retry != .free, "no repeat for nothing")
    try expect(try await fixture.delivered().count, is: 1, "deliveries")
  }

  /// The peer leaves one request alone, once. The transport may send it again, or say so.
  private static func refusedCheck(_ name: String, _ behaviour: PeerBehaviour) -> Check<Fixture> {
    Check(name, law: "section 3, connection") { fixture in
      guard fixture.capabilities.refusals.contains(behaviour) else { return }
      let tokens = fixture.tokens(10)
      try await fixture.script(behaviour, for: tokens[4], times: 1)
      let answers = try await fixture.send(tokens).answers
      for answer in answers {
        guard let verdict = answer.verdict else { continue }
        try expect(verdict.word, is: "transient connection", "an answer that is no delivery")
        try expect(verdict.answerMayBeLost, is: false, "whether it may have arrived all the same")
        try expect(verdict.retry, is: .free, "what a repeat costs")
      }
      let delivered = try await fixture.delivered().map(\.token)
      let told = zip(tokens, answers).filter { $0.1.word == "delivered" }.map(\.0)
      try expect(delivered.sorted(), is: told.sorted(), "who was delivered to, each once")
    }
  }

  static var closing: [Check<Fixture>] {
    [
      Check("closing ends what is in flight, and opens nothing more", law: "section 6, Transport") { fixture in
        let tokens = fixture.tokens(6)
        _ = try await fixture.send(tokens, [0])
        try await fixture.script(.staySilent, for: nil, times: .max)
        async let sending = fixture.send(tokens, [1, 2, 3])
        try await fixture.waitUntilSeen(2)
        await fixture.transport.close()
        let ended = try await sending.answers
        for verdict in ended.compactMap(\.verdict) {
          try expect(
            ["transient service", "transient connection"].contains(verdict.word), "answers as after a lost connection",
            found: verdict.word)
        }
        try expect(!ended.contains { $0.word == "delivered" }, "no delivery of what was never answered")
        let seen = try await fixture.requestsSeen()
        let after = try await fixture.send(tokens, [4, 5])
        try expect(after.answers.map(\.word), is: ["not sent", "not sent"], "the answers after the closing")
        await fixture.transport.close()
        try expect(try await fixture.requestsSeen(), is: seen, "requests that the peer saw after the closing")
      }
    ]
  }
}
