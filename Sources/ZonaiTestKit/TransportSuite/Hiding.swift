import ZonaiCore

extension TransportConformance {
  /// No text holds a token, or more of one than the few characters by which people tell tokens
  /// apart.
  static var hiding: [Check<Fixture>] {
    [
      Check("no answer shows a token", law: "law 10") { fixture in
        var behaviours: [PeerBehaviour] = [.reportDead, .fail(), .refuseCredentials, .refuseMessage]
        if fixture.capabilities.throttle != nil { behaviours.append(.throttle()) }
        if fixture.capabilities.losses.contains(.connectionReset) { behaviours.append(.loseAnswer(.connectionReset)) }
        for (token, behaviour) in zip(fixture.tokens(behaviours.count), behaviours) {
          try await fixture.script(behaviour, for: token, times: .max)
          try await expectHidden(token, in: "the answer to \(behaviour)", fixture)
        }
      },
      quoteCheck("no answer shows a token that the service quotes") { [$0] },
      quoteCheck("no answer shows a piece of a token that the service quotes") { token in
        let half = token.count / 2
        return [String(token.prefix(12)), String(token.prefix(half)), String(token.dropFirst(half))]
      },
      quoteCheck("no answer shows a token that the service quotes in another case") {
        [$0.uppercased(), $0.lowercased()]
      },
      quoteCheck("no answer shows a token that the service quotes in an encoding") { token in
        let bytes = Array(token.utf8)
        return [
          TokenTraces.percentEncoded(bytes, all: false), TokenTraces.percentEncoded(bytes, all: true),
          TokenTraces.base64(bytes), bytes.hex,
        ]
      },
    ]
  }

  /// The service quotes the token, and the secret parts that it is made of, in such ways.
  private static func quoteCheck(_ name: String, _ quotes: @escaping @Sendable (String) -> [String]) -> Check<Fixture> {
    Check(name, law: "law 10") { fixture in
      let count = fixture.tokens(1).flatMap { quoted(of: $0, fixture, quotes) }.count
      for (index, token) in fixture.tokens(count).enumerated() {
        let texts = quoted(of: token, fixture, quotes)
        try await fixture.script(.say(texts[index]), for: token, times: .max)
        try await expectHidden(token, in: "the answer that quotes \(texts[index])", fixture)
      }
    }
  }

  private static func quoted(of token: String, _ fixture: Fixture, _ quotes: (String) -> [String]) -> [String] {
    let parts = fixture.capabilities.secrets(token).filter { $0 != token }
    return ([token] + parts).flatMap(quotes)
  }

  private static func expectHidden(_ token: String, in place: String, _ fixture: Fixture) async throws {
    let result = try await fixture.send([token])
    var shown = "\(result) "
    dump(result, to: &shown)
    for verdict in [result.answers[0].verdict, result.laneFault].compactMap(\.self) {
      shown += " " + [verdict.reason.rawValue, verdict.words, verdict.names].compactMap(\.self).joined(separator: " ")
    }
    let trace = TokenTraces(of: fixture.capabilities.secrets(token)).found(in: shown)
    try expect(trace == nil, "nothing of the token in \(place)", found: trace ?? "")
  }
}
