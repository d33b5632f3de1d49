import ZonaiCore

extension TransportConformance {
  /// Tokens that the service calls bad, asked about in its other environment.
  static var otherEnvironments: [Check<Fixture>] {
    [
      Check("what the other environment says of each token is told, in the order of the selection", law: "section 4") {
        fixture in
        guard fixture.capabilities.hasOtherEnvironment else { return }
        let tokens = fixture.tokens(5)
        try await fixture.scriptOtherEnvironment(.knows, for: tokens[0])
        try await fixture.scriptOtherEnvironment(.fails, for: tokens[1])
        try await fixture.scriptOtherEnvironment(.doesNotKnow, for: tokens[3])
        let (batch, _) = try fixture.logged(tokens, [3, 0, 1])
        try expect(batch.message.otherEnvironment, is: .canBeAsked, "what the message says of another environment")
        let answers = await fixture.transport.check(batch)
        try expect(answers.map(\.word), is: ["unknown there", "alive there", "undecided"], "the answers")
        guard case .aliveThere(let verdict) = answers[1] else { return }
        try expect(verdict.outcome, is: .transientlyFailed, "what becomes of a token that is alive there")
        try expect(verdict.fault, is: .configuration, "whose fault that is")
        try expect(verdict.names != nil, "the setting's name")
      },
      Check("the other environment is not asked once the permit has lapsed", law: "law 8") { fixture in
        guard fixture.capabilities.hasOtherEnvironment else { return }
        let tokens = fixture.tokens(2)
        for token in tokens { try await fixture.scriptOtherEnvironment(.doesNotKnow, for: token) }
        let (batch, _) = try fixture.logged(tokens, permit: SendPermit(validUntil: fixture.now))
        try expect(await fixture.transport.check(batch).map(\.word), is: ["not asked", "not asked"], "the answers")
      },
    ]
  }
}

extension EnvironmentAnswer {
  fileprivate var word: String {
    switch self {
    case .unknownThere: "unknown there"
    case .aliveThere: "alive there"
    case .undecided: "undecided"
    case .notAsked: "not asked"
    }
  }
}
