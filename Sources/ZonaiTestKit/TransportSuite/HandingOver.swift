import ZonaiCore

extension TransportConformance {
  /// Answers are handed over as they come.
  static var handingOver: [Check<Fixture>] {
    [
      Check("answers are handed over while another request is open", law: "section 7, send") { fixture in
        let tokens = fixture.tokens(10)
        // The last, so that a transport of one request at a time has had the other answers.
        try await fixture.script(.loseAnswer(.silence), for: tokens[9], times: 1)
        let (batch, log) = try fixture.logged(tokens)
        async let end = fixture.transport.send(batch) { log.take($0) }
        let early = await first(within: .seconds(10), of: log) { $0.count { $0 != nil } >= 9 }
        try await fixture.outlastTimeLimit()
        let result = log.end(await end)
        try expect(early?.count { $0 != nil }, is: 9, "answers while one is open")
        try expect(early?.last.map { $0 == nil }, is: true, "whether the withheld answer is not among them")
        try expect(result.answers[9]?.verdict?.answerMayBeLost, is: true, "whether the last one is told as lost")
        try expect(log.problems, is: [], "problems")
      },
      Check("each recipient is named once, and none after the return", law: "section 7, send") { fixture in
        let tokens = fixture.tokens(300)
        try await fixture.script(.reportDead, for: tokens[20], times: .max)
        try await fixture.script(.fail(), for: tokens[30], times: .max)
        if fixture.capabilities.throttle == .device {
          try await fixture.script(.throttle(), for: tokens[40], times: .max)
        }
        let (batch, log) = try fixture.logged(tokens, Array(10..<290))
        let result = log.end(await fixture.transport.send(batch) { log.take($0) })
        // Ends its threads, and with them what they might still hand over.
        await fixture.transport.close()
        try expect(log.problems, is: [], "problems")
        try expect(result.answers.count { $0 == nil }, is: 0, "recipients without an answer")
        try expect(log.answers == result.answers, "no further answers after the return")
      },
      Check("a slow receiver loses no answer", law: "section 7, send") { fixture in
        let tokens = fixture.tokens(300)
        let (batch, log) = try fixture.logged(tokens)
        let end = await fixture.transport.send(batch) { chunk in
          let start = ContinuousClock.now
          while log.chunks.isEmpty, ContinuousClock.now - start < .milliseconds(20) {}
          log.take(chunk)
        }
        try expect(log.problems, is: [], "problems")
        try expect(log.end(end).answers.count { $0.word == "delivered" }, is: 300, "deliveries that are told")
      },
    ]
  }

  /// The answers as they are when they first fulfil the condition; nil if they do not within this
  /// time.
  private static func first(
    within limit: Duration, of log: AnswerLog, _ condition: @escaping @Sendable ([PushAnswer?]) -> Bool
  ) async -> [PushAnswer?]? {
    let seen = Recording<[PushAnswer?]?>()
    let waiting = Task {
      await log.wait { answers in
        guard condition(answers) else { return false }
        seen.append(answers)
        return true
      }
    }
    let ending = Task {
      try await Task.sleep(for: limit)
      seen.append(nil)
    }
    await seen.wait(for: 1)
    ending.cancel()
    waiting.cancel()
    return seen.elements[0]
  }
}
