import Testing
import ZonaiHTTP
import ZonaiThreads

/// Servers that cannot be reached, or should not be trusted.
@Suite struct ConnectFailureTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var script = ServerScript()
    var code: HTTPFailure.Code
    /// A word that the sentence must have for the reader.
    var word: String
    var change: @Sendable (inout HTTPOrigin, inout HTTP2Options) -> Void = { _, _ in }
  }

  static let cases: [Case] = [
    Case(testDescription: "wrong CA", code: .certificateNotTrusted, word: "CA") { $1.caFile = nil },
    Case(
      testDescription: "wrong name", script: ServerScript(name: "elsewhere.example"), code: .certificateNameMismatch,
      word: "name"),
    Case(testDescription: "no ALPN", script: ServerScript(welcome: .noALPN), code: .http11Only, word: "HTTP/2"),
    Case(
      testDescription: "HTTP/1.1 only", script: ServerScript(welcome: .http1Only), code: .http11Only, word: "HTTP/2"),
    Case(testDescription: "unknown name", code: .nameNotResolved, word: "resolve") { origin, _ in
      origin.host = "no-such-host.invalid"
    },
    Case(testDescription: "nobody listens", code: .unreachable, word: "connect") { origin, _ in origin.port = 1 },
    Case(testDescription: "no CA file", code: .unreadableCAFile, word: "/nowhere") { $1.caFile = "/nowhere/ca.pem" },
    Case(
      testDescription: "closes at once", script: ServerScript(welcome: .closes), code: .handshakeFailed, word: "TLS"),
    Case(
      testDescription: "closes after the handshake", script: ServerScript(welcome: .closesAfterHandshake),
      code: .closedBeforeAnswer, word: "before it answered"),
    Case(
      testDescription: "says nothing", script: ServerScript(welcome: .isMute), code: .connectTimedOut, word: "within"
    ) {
      $1.connectTimeout = 100
    },
  ]

  @Test(arguments: cases)
  func `a failed connect is told in a sentence and tried once a batch`(_ fault: Case) async throws {
    let server = try TestServer(fault.script)
    var origin = server.origin
    var options = HTTP2Options.test(server)
    options.reconnectDelay = 5
    fault.change(&origin, &options)
    let pool = try HTTP2Pool(origin: origin, options: options)
    for batch in 1...3 {
      let result = await pool.send(.tokens(0..<5))
      #expect(result.failure?.code == fault.code)
      let message = result.failure?.message ?? ""
      #expect(message.contains(fault.word))
      #expect(result.outcomes.allSatisfy { $0.status == nil })
      #expect(server.connections <= batch)
    }
    await pool.close()
    await server.shutDown()
  }

  @Test func `the next connect waits its turn, and a permit is not outlasted by the wait`() async throws {
    try await withServer(
      ServerScript(welcome: .closes),
      {
        $0.reconnectDelay = 600_000
        $0.maxReconnectDelay = 600_000
      }
    ) { server in
      #expect(await server.pool.send(.tokens(0..<1)).failure?.code == .handshakeFailed)
      let permit = HTTP2Permit(until: MonotonicClock.milliseconds() + 30)
      #expect(await server.pool.send(.tokens(0..<1, permit: permit)).outcomes == [.notSent(.permitEnded)])
      #expect(server.connections == 1)
    }
  }

  @Test func `a connection that drops at the first request counts as a failed connect`() async throws {
    try await withServer(ServerScript(react: { _ in .drop }), { $0.singleStreamUntilAccepted = true }) { server in
      let result = await server.pool.send(.tokens(0..<3))
      #expect(result.outcomes == [.answerLost(.connectionLost), .notSent(.noConnection), .notSent(.noConnection)])
      #expect(result.failure?.code == .closedBeforeAnswer)
      #expect(server.connections == 1)
    }
  }

  @Test func `a server that says GOAWAY to everything is not asked in a hot loop, and its words come through`()
    async throws
  {
    let script = ServerScript(react: { _ in .goAway(lastStream: 0, code: 11, debugData: "too_many_pings") })
    try await withServer(script, { $0.singleStreamUntilAccepted = true }) { server in
      let result = await server.pool.send(.tokens(0..<3))
      #expect(result.outcomes == [.notHandled(.goAway), .notSent(.noConnection), .notSent(.noConnection)])
      let detail = result.failure?.detail ?? ""
      #expect(detail.contains("too_many_pings"))
      #expect(server.connections == 1)
    }
  }

  @Test func `an orderly end of a connection before its first answer is not a failed connect`() async throws {
    let script = ServerScript(react: { $0.connection < 3 ? .goAway(lastStream: 0) : .ok })
    try await withServer(
      script,
      {
        $0.singleStreamUntilAccepted = true
        $0.reconnectDelay = 1
      }
    ) { server in
      let result = await server.pool.send(.tokens(0..<6))
      #expect(result.outcomes[0..<3].allSatisfy { $0 == .notHandled(.goAway) })
      #expect(result.outcomes[3...].allSatisfy { $0 == .answered(200) })
      #expect(result.failure == nil)
    }
  }

  @Test func `a server that ends every connection in order and answers nothing is told after some of them`()
    async throws
  {
    try await withServer(
      ServerScript(react: { _ in .goAway(lastStream: 0) }),
      {
        $0.singleStreamUntilAccepted = true
        $0.reconnectDelay = 1
      }
    ) { server in
      let result = await server.pool.send(.tokens(0..<50))
      #expect(result.outcomes.last == .notSent(.noConnection))
      #expect(result.failure?.code == .closedBeforeAnswer)
      #expect(server.connections == 5)
    }
  }

  @Test func `a connection that is replaced before it answered is not a failed connect`() async throws {
    let script = ServerScript(react: { $0.connection == 0 ? .reset(Reaction.cancelled) : .ok })
    try await withServer(
      script,
      {
        $0.reconnectDelay = 600_000
        $0.maxReconnectDelay = 600_000
      }
    ) { server in
      #expect(await server.pool.send(.tokens(0..<1)).outcomes == [.answerLost(.reset)])
      server.pool.reconnect()
      let result = await server.pool.send(.tokens(1..<3))
      #expect(result.outcomes == [.answered(200), .answered(200)])
    }
  }

  @Test(arguments: [Reaction.sequence([.ok, .drop]), .sequence([.ok, .goAway(lastStream: 1)])])
  func `a server that ends each connection after one answer is not asked in a hot loop`(
    _ reaction: Reaction
  ) async throws {
    try await withServer(
      ServerScript(react: { _ in reaction }),
      {
        $0.singleStreamUntilAccepted = true
        $0.reconnectDelay = 600_000
        $0.maxReconnectDelay = 600_000
      }
    ) { server in
      #expect(await server.pool.send(.tokens(0..<1)).outcomes == [.answered(200)])
      let permit = HTTP2Permit(until: MonotonicClock.milliseconds() + 200)
      let outcomes = await server.pool.send(.tokens(1..<3, permit: permit)).outcomes
      #expect(outcomes.last == .notSent(.permitEnded))
      #expect(server.connections == 1)
    }
  }

  @Test func `a failure of one connection does not stop those that work`() async throws {
    let script = ServerScript(
      streamLimit: 1,
      react: { request in
        switch request.connection {
        case 0: request.number == 1 ? .hold : .ok
        default: .drop
        }
      })
    try await withServer(
      script,
      {
        $0.maxConnections = 2
        $0.patienceBeforeAnotherConnection = 0
        $0.reconnectDelay = 600_000
        $0.maxReconnectDelay = 600_000
      }
    ) { server in
      async let result = server.pool.send(.tokens(0..<6))
      await server.untilHeld(1)
      await server.untilConnected(2)
      server.release()
      let outcomes = await result.outcomes
      #expect(outcomes.filter { $0 == .answered(200) }.count == 5)
      #expect(outcomes.filter { $0 == .answerLost(.connectionLost) }.count == 1)
    }
  }
}
