import ZonaiCore

extension TransportConformance {
  /// Every recipient gets its own answer.
  static var sending: [Check<Fixture>] {
    [
      Check("each recipient gets its own answer", law: "section 6, Transport") {
        fixture in
        let tokens = fixture.tokens(12)
        for index in [3, 7, 8] { try await fixture.script(.reportDead, for: tokens[index], times: .max) }
        try await fixture.script(.say("an odd answer"), for: tokens[5], times: .max)
        let selection = [8, 0, 11, 5, 3, 1]
        let result = try await fixture.send(tokens, selection)
        try expect(
          result.answers.map(\.word),
          is: ["dead", "delivered", "delivered", "transient unknown", "dead", "delivered"], "the answers")
        let delivered = try await fixture.delivered().map(\.token)
        try expect(delivered.sorted(), is: [0, 11, 1].map { tokens[$0] }.sorted(), "deliveries")
      },
      Check("an empty batch is answered at once and opens nothing", law: "section 6, Transport") { fixture in
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
        let first = try await fixture.send(tokens, Array(0..<20)).answers.compactMap(\.?.sent)
        let second = try await fixture.send(tokens, Array(20..<40)).answers.compactMap(\.?.sent)
        try expect(Set((first + second).map(\.order)).count, is: 40, "different numbers")
        try expect(
          (first.map(\.order).max() ?? 0) < (second.map(\.order).min() ?? 0), "greater numbers in a later batch")
        try expect(Set((first + second).map(\.credential)).count, is: 1, "credentials while none is renewed")
      },
      Check("a renewed credential is told apart", law: "section 3, one odd row") { fixture in
        guard fixture.capabilities.renewsCredentials else { return }
        let tokens = fixture.tokens(2)
        let first = try await fixture.send(tokens, [0]).answers[0]?.sent
        try await fixture.renewCredential()
        let second = try await fixture.send(tokens, [1]).answers[0]?.sent
        try expect(first != nil && second != nil, "both to be sent")
        try expect(first?.credential != second?.credential, "another credential after the renewal")
      },
    ]
  }
}
