import ZonaiCore

extension TransportConformance {
  /// A service that asks for a wait gets it: the engine waits, by what the verdict says.
  static var waiting: [Check<Fixture>] {
    [
      waitCheck("a wait in seconds that an answer asks for is passed on", .seconds(1800), \.asksForSeconds),
      waitCheck("a wait until a date that an answer asks for is passed on", .date(secondsAhead: 2400), \.asksForDates),
      Check("an answer that asks for no wait has none", law: "section 3, waits") { fixture in
        let tokens = fixture.tokens(1)
        try await fixture.script(.fail(), for: tokens[0], times: .max)
        let verdict = try await fixture.send(tokens).answers[0].verdict
        try expect(verdict != nil, "an answer that is not a delivery")
        try expect(verdict?.retryAfterMilliseconds, is: nil, "the wait that is asked for")
      },
    ]
  }

  private static func waitCheck(
    _ name: String, _ wait: PeerBehaviour.Wait, _ isAsked: @escaping @Sendable (TransportCapabilities) -> Bool
  ) -> Check<Fixture> {
    Check(name, law: "section 3, waits") { fixture in
      guard isAsked(fixture.capabilities) else { return }
      var behaviours = [PeerBehaviour.fail(wait)]
      if fixture.capabilities.throttle != nil { behaviours.append(.throttle(wait)) }
      for (token, behaviour) in zip(fixture.tokens(behaviours.count), behaviours) {
        try await fixture.script(behaviour, for: token, times: .max)
        let verdict = try await fixture.send([token]).answers[0].verdict
        // A transport that has no other clock compares a date with this machine's.
        try expectNear(
          verdict?.retryAfterMilliseconds, Int64(wait.seconds) * 1000,
          "the wait that the answer to \(behaviour) asks for")
      }
    }
  }
}
