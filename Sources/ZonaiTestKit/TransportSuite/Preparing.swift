import ZonaiCore

extension TransportConformance {
  /// Messages are made ready before anything is sent.
  static var preparing: [Check<Fixture>] {
    [
      Check("preparing measures the message", law: "section 5, enqueue") { fixture in
        let short = try fixture.transport.prepare(fixture.message())
        let long = try fixture.transport.prepare(fixture.message(body: "hello" + String(repeating: "x", count: 100)))
        try expect(short.size > 0 && short.size <= short.limit, "a size within the limit", found: "\(short.size)")
        try expect(long.size, is: short.size + 100, "the size of a message that is 100 bytes longer")
        try expect(long.limit, is: short.limit, "the limit")
      },
      Check("a message above the limit is refused, naming the field and what to do", law: "section 5, enqueue") {
        fixture in
        try expectRefused(fixture.oversizeMessage, by: fixture)
      },
      Check("a fingerprint is the lane's with what the message adds, and stays", law: "section 1, lane") { fixture in
        let message = fixture.message()
        let first = try fixture.transport.prepare(message)
        let other = try fixture.transport.prepare(fixture.message(title: "other", body: "words"))
        try expect(
          first.fingerprint.hasPrefix(fixture.transport.lane.fingerprint), "the lane's fingerprint at its beginning",
          found: first.fingerprint)
        try expect(
          try fixture.transport.prepare(message).fingerprint, is: first.fingerprint,
          "the fingerprint of one message twice")
        try expect(other.fingerprint, is: first.fingerprint, "the fingerprint of another message of the same kind")
      },
    ]
  }

  /// What a push says of its end.
  static var expiring: [Check<Fixture>] {
    [
      Check("every send carries what is left of the time to live", law: "section 5, send") { fixture in
        guard fixture.capabilities.timeToLive != .unknown else { return }
        let tokens = fixture.tokens(2)
        let expiry = fixture.wallClock + 7_200_000
        _ = try await fixture.send(tokens, [0], expiresAt: expiry)
        try expectNear(
          try await fixture.delivered().first { $0.token == tokens[0] }?.expiresAt, expiry, "when the push expires")
      },
      Check(
        "a message without a time to live is sent as the service demands, and no time is made up",
        law: "section 5, send"
      ) {
        fixture in
        switch fixture.capabilities.timeToLive {
        case .unknown: break
        case .required:
          var message = fixture.message()
          message.timeToLive = nil
          try expect(try expectRefused(message, by: fixture).field, is: "timeToLive", "the field that is named")
        case .optional, .supplied:
          let tokens = fixture.tokens(1)
          _ = try await fixture.send(tokens)
          let delivered = try await fixture.delivered()
          try expect(delivered.count, is: 1, "deliveries")
          if case .supplied(let seconds) = fixture.capabilities.timeToLive {
            try expectNear(delivered[0].expiresAt, fixture.wallClock + Int64(seconds) * 1000, "when the push expires")
          } else {
            try expect(delivered[0].expiresAt, is: nil, "when the push expires")
          }
        }
      },
    ]
  }

  @discardableResult
  private static func expectRefused(_ message: PushMessage, by fixture: Fixture) throws -> MessageFault {
    do {
      _ = try fixture.transport.prepare(message)
    } catch {
      try expect(!error.field.isEmpty, "the name of a field")
      try expect(error.sentence.contains(" "), "a sentence", found: error.sentence)
      return error
    }
    throw CheckFailure(expected: "the message to be refused", found: "prepared")
  }
}
