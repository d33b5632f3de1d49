import ZonaiCore

extension TransportConformance {
  static var closing: [Check<Fixture>] {
    [
      Check("closing ends what is in flight, and opens nothing more", law: "section 6, Transport") { fixture in
        let tokens = fixture.tokens(6)
        let first = try await fixture.send(tokens, [0]).answers
        try await fixture.script(.loseAnswer(.silence), for: nil, times: .max)
        async let sending = fixture.send(tokens, [1, 2, 3])
        try await fixture.waitUntilDelivered(to: tokens[1])
        await fixture.transport.close()
        let ended = try await sending.answers
        for answer in ended {
          try expect(
            ["not sent", "transient service", "transient connection"].contains(answer.word),
            "answers as after a lost connection", found: answer.word)
        }
        let after = try await fixture.send(tokens, [4, 5]).answers
        try expect(after.map(\.word), is: ["not sent", "not sent"], "the answers after the closing")
        // A second time does nothing.
        await fixture.transport.close()
        // Until now the peer may have been reading what had been written before.
        try await fixture.waitUntilDisconnected()
        let deliveries = Dictionary(grouping: try await fixture.delivered(), by: \.token).mapValues(\.count)
        for (token, answer) in zip(tokens, first + ended + after) {
          let isSent = answer == first[0] || answer.verdict?.answerMayBeLost ?? false
          try expect(
            deliveries[token, default: 0] <= (isSent ? 1 : 0), "no delivery of a push that is told as \(answer.word)",
            found: "\(deliveries[token, default: 0])")
        }
        try expect(try await fixture.requestsSeen(), is: deliveries.values.reduce(0, +), "requests that the peer saw")
      }
    ]
  }
}
