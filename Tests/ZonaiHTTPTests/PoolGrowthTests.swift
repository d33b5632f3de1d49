import Testing
import ZonaiHTTP

/// How many connections a pool opens.
@Suite struct PoolGrowthTests {
  @Test func `connections are opened until there is room for all that waits, with one answer seen`() async throws {
    // Nothing but the first request is ever answered.
    let script = ServerScript(
      streamLimit: 10, react: { $0.connection == 0 && $0.number == 0 ? .ok : .silence })
    try await withServer(script, { $0.maxConnections = 32 }) { server in
      async let result = server.pool.send(.tokens(0..<1000))
      await server.untilConnected(32)
      #expect(server.connections == 32)
      await server.pool.close()
      #expect(await result.outcomes.count { $0 == .answered(200) } == 1)
    }
  }

  @Test func `no more are opened than what waits would fill`() async throws {
    let script = ServerScript(
      streamLimit: 10, react: { $0.connection == 0 && $0.number == 0 ? .ok : .hold })
    try await withServer(script, { $0.maxConnections = 32 }) { server in
      async let result = server.pool.send(.tokens(0..<61))
      // Eight each at first, ten at most: six are enough, once they have grown.
      await server.untilConnected(6)
      await server.untilHeld(48)
      server.release()
      await server.untilHeld(60)
      server.release()
      #expect(await result.outcomes.allSatisfy { $0 == .answered(200) })
      #expect(server.connections < 12)
    }
  }

  @Test func `beside a connection that never answered no other is opened`() async throws {
    try await withServer(ServerScript(react: { _ in .silence }), { $0.maxConnections = 32 }) { server in
      let permit = HTTP2Permit()
      async let result = server.pool.send(.tokens(0..<1000, permit: permit))
      await server.untilConnected(1)
      while server.requests.count < 8 { await Task.yield() }
      permit.revoke()
      // Longer than any growth would take to begin.
      #expect(server.connections == 1)
      await server.pool.close()
      #expect(await result.outcomes.filter { $0 == .answerLost(.poolClosed) }.count == 8)
    }
  }

  @Test func `connections that are opened later begin with what the server was seen to take`() async throws {
    // The first connection gets up to a hundred; then it drops, and the next one begins.
    let script = ServerScript(
      streamLimit: 100,
      react: { request in
        switch (request.connection, request.number) {
        case (0, 0..<2000): .ok
        case (0, _): .drop
        default: .hold
        }
      })
    try await withServer(script, { $0.reconnectDelay = 1 }) { server in
      #expect(await server.pool.send(.tokens(0..<2000)).outcomes.allSatisfy { $0 == .answered(200) })
      #expect(await server.pool.send(.tokens(2000..<2001)).outcomes == [.answerLost(.connectionLost)])
      async let result = server.pool.send(.tokens(3000..<3100))
      // Answered only when all are there at once.
      await server.untilHeld(100)
      server.release()
      #expect(await result.outcomes.allSatisfy { $0 == .answered(200) })
      #expect(server.connections == 2)
    }
  }
}
