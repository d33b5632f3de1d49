import ZonaiCore

extension TransportConformance {
  /// No request is opened that the batch's owner may no longer answer for.
  static var permits: [Check<Fixture>] {
    [
      Check("a permit that has lapsed opens nothing", law: "law 8") { fixture in
        let result = try await fixture.send(fixture.tokens(5), permit: SendPermit(validUntil: fixture.now))
        try expect(result.answers.map(\.word), is: Array(repeating: "not sent", count: 5), "the answers")
        try expect(try await fixture.requestsSeen(), is: 0, "requests that the peer saw")
      },
      Check("a permit that is revoked opens nothing more, and what is open is read", law: "law 8") { fixture in
        let tokens = fixture.tokens(fixture.capabilities.concurrency * 2 + 50)
        try await fixture.script(.loseAnswer(.silence), for: nil, times: .max)
        let permit = SendPermit(validUntil: fixture.now + 3_600_000)
        async let sending = fixture.send(tokens, permit: permit)
        try await fixture.waitUntilDelivered(to: tokens[0])
        permit.revoke()
        // Nothing brings it back.
        permit.extend(to: fixture.now + 7_200_000)
        try await fixture.outlastTimeLimit()
        let answers = try await sending.answers
        let opened = answers.count { $0 != nil }
        try expect(opened > 0, "some requests to have been opened")
        try expect(opened < tokens.count, "some recipients that were not sent to", found: "all \(opened) were")
        try expect(try await fixture.requestsSeen() <= opened, "no request that is told as not sent")
      },
      Check("a task that is cancelled opens nothing more, and what is open is read", law: "section 7, send") {
        fixture in
        let tokens = fixture.tokens(fixture.capabilities.concurrency * 2 + 50)
        try await fixture.script(.loseAnswer(.silence), for: nil, times: .max)
        let sending = Task { try await fixture.send(tokens) }
        try await fixture.waitUntilDelivered(to: tokens[0])
        sending.cancel()
        try await fixture.outlastTimeLimit()
        let answers = try await sending.value.answers
        let opened = answers.count { $0 != nil }
        try expect(opened > 0, "some requests to have been opened")
        try expect(opened < tokens.count, "some recipients that were not sent to", found: "all \(opened) were")
        try expect(try await fixture.requestsSeen() <= opened, "no request that is told as not sent")
      },
    ]
  }

  /// An answer about the lane or the message ends the opening of requests.
  static var stopping: [Check<Fixture>] {
    [
      stopCheck("refused credentials stop the batch", .refuseCredentials, .credentials),
      stopCheck("a refused message stops the batch", .refuseMessage, .message),
      drainCheck("what is open when one's credentials are refused is read", .refuseCredentials, .credentials),
      drainCheck("what is open when one's message is refused is read", .refuseMessage, .message),
      goOnCheck("a dead token stops no other recipient", .reportDead, "dead"),
      goOnCheck("a service in trouble stops no other recipient, and is not asked again", .fail(), "transient service"),
      goOnCheck("an unknown answer is transient", .say("an odd answer"), "transient unknown"),
      Check("a throttle is told as the device's or the lane's, and is not asked again", law: "section 3") { fixture in
        guard let throttle = fixture.capabilities.throttle else { return }
        let tokens = fixture.tokens(30)
        try await fixture.script(.throttle(), for: tokens[0], times: .max)
        let answers = try await fixture.send(tokens).answers
        let opened = answers.count { $0 != nil }
        switch throttle {
        case .device:
          try expect(answers[0].word, is: "transient recipient", "the first answer")
          try expect(answers[0].verdict?.slowsLane, is: false, "whether the lane is to slow down")
          try expect(opened, is: 30, "recipients that were sent to")
        case .lane:
          try expect(answers[0].word, is: "transient service", "the first answer")
          try expect(answers[0].verdict?.slowsLane, is: true, "whether the lane is to slow down")
        }
        try expect(try await fixture.requestsSeen(), is: opened, "requests that the peer saw")
      },
    ]
  }

  /// Every answer speaks about more than a token.
  private static func stopCheck(_ name: String, _ behaviour: PeerBehaviour, _ fault: Fault) -> Check<Fixture> {
    Check(name, law: "section 6, Transport") { fixture in
      let tokens = fixture.tokens(fixture.capabilities.concurrency * 2 + 50)
      try await fixture.script(behaviour, for: nil, times: .max)
      let words = try await fixture.send(tokens).answers.map(\.word)
      let word = "job fails, \(fault.rawValue)"
      try expect(words[0], is: word, "the first answer")
      try expect(words.last, is: "not sent", "the last answer")
      try expect(Set(words), is: [word, "not sent"], "all answers")
    }
  }

  /// The first recipient's answer speaks about more than its token, the others' would be deliveries.
  private static func drainCheck(_ name: String, _ behaviour: PeerBehaviour, _ fault: Fault) -> Check<Fixture> {
    Check(name, law: "section 6, Transport") { fixture in
      let tokens = fixture.tokens(fixture.capabilities.concurrency * 2 + 50)
      try await fixture.script(behaviour, for: tokens[0], times: .max)
      let words = try await fixture.send(tokens).answers.map(\.word)
      try expect(words[0], is: "job fails, \(fault.rawValue)", "the first answer")
      // How many others were open by then is the transport's affair.
      try expect(
        Set(words.dropFirst()).isSubset(of: ["delivered", "not sent"]), "the others delivered or not sent",
        found: "\(Set(words))")
      let told = zip(tokens, words).filter { $0.1 == "delivered" }.map(\.0)
      try expect(try await fixture.delivered().map(\.token).sorted(), is: told.sorted(), "deliveries")
    }
  }

  /// One recipient's answer speaks about that recipient alone, and is its only one: the engine
  /// decides what is repeated.
  private static func goOnCheck(_ name: String, _ behaviour: PeerBehaviour, _ word: String) -> Check<Fixture> {
    Check(name, law: "section 3") { fixture in
      let tokens = fixture.tokens(30)
      try await fixture.script(behaviour, for: tokens[0], times: .max)
      let words = try await fixture.send(tokens).answers.map(\.word)
      try expect(words[0], is: word, "the first answer")
      try expect(words.dropFirst().allSatisfy { $0 == "delivered" }, "deliveries to all others", found: "\(Set(words))")
      try expect(Set(try await fixture.delivered().map(\.token)), is: Set(tokens.dropFirst()), "deliveries")
      try expect(try await fixture.requestsSeen(), is: 30, "requests that the peer saw")
    }
  }
}
