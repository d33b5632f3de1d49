import Testing
import ZonaiHTTP
import ZonaiThreads

/// What servers and networks do in the middle of a batch.
@Suite struct PoolFaultTests {
  @Test func `after GOAWAY the streams above the last one were surely not handled, and go through when sent again`()
    async throws
  {
    let script = ServerScript(react: { request in
      switch (request.connection, request.number) {
      case (1..., _), (0, 0...4): .ok
      case (0, 5): .goAway(lastStream: 9, code: 0, debugData: "{\"reason\":\"Shutdown\"}")
      default: .silence
      }
    })
    try await withServer(script) { server in
      // As many as are opened at once.
      var batch = HTTP2Batch.tokens(0..<8)
      let result = await server.pool.send(batch)
      #expect(result.outcomes[0...4].allSatisfy { $0 == .answered(200) })
      #expect(result.outcomes[5...].allSatisfy { $0 == .notHandled(.goAway) })
      #expect(result.goAways.map { String(decoding: $0.debugData, as: UTF8.self) } == ["{\"reason\":\"Shutdown\"}"])
      #expect(result.goAways.map(\.lastStream) == [9])
      batch.selection = result.outcomes.indices.filter { result.outcomes[$0] == .notHandled(.goAway) }
      let again = await server.pool.send(batch)
      #expect(again.outcomes[5...].allSatisfy { $0 == .answered(200) })
      #expect(server.connections == 2)
    }
  }

  @Test func `a polite GOAWAY lets what is under way finish, and the next batch takes a new connection`() async throws {
    try await withServer(ServerScript(react: { $0.connection == 0 ? .hold : .ok })) { server in
      async let first = server.pool.send(.tokens(0..<1))
      await server.untilHeld(1)
      server.endPolitely()
      server.release()
      #expect(await first.outcomes == [.answered(200)])
      #expect(await server.pool.send(.tokens(1..<2)).outcomes == [.answered(200)])
      #expect(server.requests.map(\.connection) == [0, 1])
    }
  }

  @Test(arguments: [
    (Reaction.reset(Reaction.cancelled), HTTP2Outcome.answerLost(.reset)),
    (.reset(Reaction.refused), .notHandled(.refused)),
    (.silence, .answerLost(.timedOut)),
    (.answer(503), .answered(503)),
  ])
  func `what happens to one request happens to no other`(_ reaction: Reaction, _ outcome: HTTP2Outcome) async throws {
    let script = ServerScript(react: { $0.token == 3 ? reaction : .ok })
    // Long enough for a server that means to answer, on a machine that is busy.
    try await withServer(script, { $0.requestTimeout = 1000 }) { server in
      let outcomes = await server.pool.send(.tokens(0..<10)).outcomes
      #expect(outcomes[3] == outcome)
      #expect(outcomes.filter { $0 == .answered(200) }.count == 9)
      #expect(await server.pool.send(.tokens(10..<12)).outcomes == [.answered(200), .answered(200)])
      #expect(server.connections == 1)
    }
  }

  @Test func `a connection that drops loses the answers of what was written`() async throws {
    let script = ServerScript(react: { request in
      switch (request.connection, request.number) {
      case (0, 6): .drop
      case (0, 4...): .silence
      default: .ok
      }
    })
    try await withServer(script) { server in
      let result = await server.pool.send(.tokens(0..<7))
      #expect(result.outcomes[0..<4].allSatisfy { $0 == .answered(200) })
      #expect(result.outcomes[4...].allSatisfy { $0 == .answerLost(.connectionLost) })
      #expect(result.failure == nil)
      #expect(await server.pool.send(.tokens(7..<8)).outcomes == [.answered(200)])
    }
  }

  @Test func `a request whose end was never written was surely not handled`() async throws {
    try await withServer(ServerScript(window: 0), { $0.requestTimeout = 50 }) { server in
      let result = await server.pool.send(.tokens(0..<3))
      // The first one may be written before the server's window is known.
      #expect(result.outcomes[1...].allSatisfy { $0 == .notHandled(.neverWritten) })
      #expect(result.places[1...] == [0, 0])
    }
  }

  @Test(arguments: [Reaction.drop, .reset(Reaction.cancelled)])
  func `a request that ended before its end was written was surely not handled`(_ reaction: Reaction) async throws {
    let script = ServerScript(window: 10, reactToHead: { _ in reaction })
    try await withServer(script) { server in
      let result = await server.pool.send(.tokens(0..<1, body: String(repeating: "x", count: 200_000)))
      #expect(result.outcomes == [.notHandled(.neverWritten)])
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `a request that is answered before its end was read counts as answered`() async throws {
    let script = ServerScript(window: 10, react: { _ in .ok }, reactToHead: { _ in .answer(413) })
    try await withServer(script) { server in
      let result = await server.pool.send(.tokens(0..<1, body: String(repeating: "x", count: 200_000)))
      #expect(result.outcomes == [.answered(413)])
    }
  }

  @Test func `a server that accepts and never answers ends the wait after the time for requests`() async throws {
    try await withServer(
      ServerScript(react: { _ in .silence }),
      {
        $0.requestTimeout = 100
        $0.singleStreamUntilAccepted = true
      }
    ) { server in
      let result = await server.pool.send(.tokens(0..<4))
      #expect(result.outcomes[0] == .answerLost(.timedOut))
      #expect(result.outcomes[1...].allSatisfy { $0 == .notSent(.noConnection) })
      #expect(result.failure?.code == .closedBeforeAnswer)
    }
  }

  @Test func `a PING finds a connection that died without a word`() async throws {
    let script = ServerScript(react: { $0.number == 1 && $0.connection == 0 ? .freeze : .ok })
    try await withServer(script, { $0.pingAfterSilence = 500 }) { server in
      #expect(await server.pool.send(.tokens(0..<2)).outcomes == [.answered(200), .answerLost(.connectionLost)])
      #expect(await server.pool.send(.tokens(2..<3)).outcomes == [.answered(200)])
    }
  }

  @Test func `a server that is merely slow answers the PING and keeps its requests`() async throws {
    try await withServer(ServerScript(react: { _ in .hold }), { $0.pingAfterSilence = 1000 }) { server in
      async let result = server.pool.send(.tokens(0..<1))
      await server.untilPinged()
      server.release()
      #expect(await result.outcomes == [.answered(200)])
    }
  }

  @Test func `a connection that was idle is asked with a PING before it is used again`() async throws {
    try await withServer(ServerScript(), { $0.pingAfterIdle = 0 }) { server in
      for number in 0..<3 {
        #expect(await server.pool.send(.tokens(number..<number + 1)).outcomes == [.answered(200)])
      }
      #expect(server.pings == 3)
      #expect(server.connections == 1)
    }
  }

  @Test func `an idle connection that died without a word costs no request, only another connection`() async throws {
    let script = ServerScript(react: { $0.connection == 0 ? .sequence([.ok, .freeze]) : .ok })
    try await withServer(
      script,
      {
        $0.pingAfterIdle = 0
        $0.requestTimeout = 1000
        $0.reconnectDelay = 600_000
        $0.maxReconnectDelay = 600_000
      }
    ) { server in
      #expect(await server.pool.send(.tokens(0..<1)).outcomes == [.answered(200)])
      #expect(await server.pool.send(.tokens(1..<4)).outcomes == Array(repeating: .answered(200), count: 3))
      #expect(server.requests.map(\.connection) == [0, 1, 1, 1])
    }
  }

  @Test func `without PINGs none is sent`() async throws {
    let script = ServerScript(react: { _ in .silence })
    try await withServer(
      script,
      {
        $0.pingAfterSilence = nil
        $0.requestTimeout = 60
      }
    ) { server in
      _ = await server.pool.send(.tokens(0..<1))
      #expect(server.pings == 0)
    }
  }

  @Test(arguments: [
    (AcceptedBody.anything, "", true), (.anything, "{", true), (.nothing, "", true), (.nothing, "<", true),
    (.object, "", false), (.object, " ", false), (.object, " {", true), (.object, "<", true),
  ])
  func `a 200 whose end is lost with the connection was an answer, once it is one that counts or does not`(
    _ accepted: AcceptedBody, _ body: String, _ isAnswer: Bool
  ) async throws {
    let script = ServerScript(react: { request in
      switch request.token {
      case 0: .begin(200, body: body)
      case 1: .begin(404, body: "{")
      default: .drop
      }
    })
    try await withServer(script, { $0.acceptedBody = accepted }) { server in
      let result = await server.pool.send(.tokens(0..<3))
      #expect(result.outcomes[0] == (isAnswer ? .answered(200) : .answerLost(.connectionLost)))
      // Of any other answer the body decides, and that is not there.
      #expect(result.outcomes[1...] == [.answerLost(.connectionLost), .answerLost(.connectionLost)])
      #expect((result.answer(0) != nil) == (body == "<"))
    }
  }

  @Test func `a request that waited in vain ends no other one's wait, and the connection gets no new ones`()
    async throws
  {
    // The second one is let in by the PING, when half of the first one's time is over, and answered when that one is given up.
    let script = ServerScript(
      streamLimit: 1,
      react: { request in
        switch request.token {
        case 0: .silence
        case 1: .hold
        default: .ok
        }
      }, reactToPing: .allow(2), releasesOnReset: true)
    try await withServer(
      script,
      {
        $0.requestTimeout = 4000
        $0.pingAfterSilence = 2000
      }
    ) { server in
      #expect(await server.pool.send(.tokens(0..<2)).outcomes == [.answerLost(.timedOut), .answered(200)])
      #expect(await server.pool.send(.tokens(2..<3)).outcomes == [.answered(200)])
      #expect(server.requests.map(\.connection) == [0, 0, 1])
    }
  }

  @Test func `connects that fail are made ever more rarely, also while another connection works`() async throws {
    let script = ServerScript(
      streamLimit: 1,
      react: { request in
        switch (request.connection, request.number) {
        case (0, 0): .ok
        case (0, _): .hold
        default: .drop
        }
      })
    let permit = HTTP2Permit()
    try await withServer(
      script,
      {
        $0.maxConnections = 2
        $0.reconnectDelay = 8
        $0.maxReconnectDelay = 60_000
        $0.requestTimeout = 2000
        $0.patienceBeforeAnotherConnection = 0
      }
    ) { server in
      #expect(await server.pool.send(.tokens(0..<1)).outcomes == [.answered(200)])
      async let waiting = server.pool.send(.tokens(1..<2))
      await server.untilHeld(1)
      async let others = server.pool.send(.tokens(2..<1000, permit: permit))
      // Each wait is at least twice the shortest of the one before: 4, 8, … ms, of which nine fit into this time.
      #expect(await waiting.outcomes == [.answerLost(.timedOut)])
      permit.revoke()
      _ = await others
      #expect(server.connections <= 12)
    }
  }
}
