import Testing
import ZonaiHTTP
import ZonaiThreads

/// Batches that say which connections carry them.
@Suite struct PoolRouteTests {
  @Test func `a batch that avoids the only connection gets another one, and the avoided one is let go`() async throws {
    try await withServer(ServerScript(react: { $0.token == 0 ? .hold : .ok })) { server in
      #expect(await server.pool.send(.tokens(100..<101)).connections == [1])
      async let straggler = server.pool.send(.tokens(0..<1))
      await server.untilHeld(1)
      let again = await server.pool.send(.tokens(1..<3, route: .avoiding([1])))
      #expect(again.outcomes == [.answered(200), .answered(200)])
      #expect(again.connections == [2, 2])
      #expect(again.places == [3, 4])
      // There may be one connection: the next batches, too, go over the new one.
      #expect(await server.pool.send(.tokens(3..<4)).connections == [2])
      #expect(await server.pool.send(.tokens(4..<5, route: .avoiding([1]))).connections == [2])
      server.release()
      #expect(await straggler.outcomes == [.answered(200)])
      await server.untilFarewell()
      #expect(server.connections == 2)
    }
  }

  @Test func `a batch that avoids a connection uses another one that is open`() async throws {
    let script = ServerScript(streamLimit: 1, react: { $0.token < 2 ? .hold : .ok })
    try await withServer(script, { $0.maxConnections = 2 }) { server in
      // Another one is opened beside a connection that has answered.
      #expect(await server.pool.send(.tokens(9..<10)).connections == [1])
      async let both = server.pool.send(.tokens(0..<2))
      await server.untilHeld(2)
      server.release()
      #expect(await both.connections == [1, 2])
      #expect(await server.pool.send(.tokens(2..<6, route: .avoiding([1]))).connections == [2, 2, 2, 2])
      #expect(await server.pool.send(.tokens(6..<8, route: .avoiding([2]))).connections == [1, 1])
      #expect(server.connections == 2)
    }
  }

  @Test func `a connection that was idle is asked with a PING before such a batch uses it`() async throws {
    try await withServer(ServerScript(), { $0.pingAfterIdle = 0 }) { server in
      #expect(await server.pool.send(.tokens(0..<1)).connections == [1])
      #expect(await server.pool.send(.tokens(1..<2, route: .avoiding([9]))).connections == [1])
      #expect(server.pings >= 1)
    }
  }

  @Test func `where every connection is to be avoided, one of them is used in the end`() async throws {
    try await withServer { server in
      #expect(await server.pool.send(.tokens(0..<1)).connections == [1])
      let again = await server.pool.send(.tokens(1..<3, route: .avoiding(Set(1...9))))
      #expect(again.outcomes == [.answered(200), .answered(200)])
      // One above the limit was tried.
      #expect(server.connections == 2)
    }
  }

  @Test func `a connection of its own carries nothing else, is closed afterwards, and the next one waits for it`()
    async throws
  {
    let script = ServerScript(react: { $0.token == 1 ? .hold : .ok })
    try await withServer(script) { server in
      let pool = server.pool
      #expect(await pool.send(.tokens(0..<1)).connections == [1])
      async let first = pool.send(.tokens(1..<3, route: .own))
      await server.untilHeld(1)
      async let second = pool.send(.tokens(3..<5, route: .own))
      for token in 10..<20 { #expect(await pool.send(.tokens(token..<token + 1)).connections == [1]) }
      #expect(server.connections == 2)
      #expect(!server.requests.contains { $0.token == 3 })
      server.release()
      #expect(await first.connections == [2, 2])
      #expect(await second.connections == [3, 3])
      await server.untilFarewell()
      #expect(await pool.send(.tokens(20..<21)).connections == [1])
      #expect(server.requests.filter { $0.connection == 1 }.map(\.token).sorted() == [1, 2])
      #expect(server.requests.filter { $0.connection == 2 }.map(\.token).sorted() == [3, 4])
    }
  }

  @Test func `the first connection of a pool can be one of its own`() async throws {
    try await withServer(ServerScript(streamLimit: 1)) { server in
      #expect(await server.pool.send(.tokens(0..<3, route: .own)).connections == [1, 1, 1])
      #expect(await server.pool.send(.tokens(3..<4)).connections == [2])
    }
  }

  @Test func `a connection of its own that ends without an answer is told, and the others go on`() async throws {
    let script = ServerScript(streamLimit: 1, react: { $0.connection == 1 ? .drop : .ok })
    try await withServer(script) { server in
      #expect(await server.pool.send(.tokens(0..<1)).connections == [1])
      let own = await server.pool.send(.tokens(1..<4, route: .own))
      #expect(own.outcomes == [.answerLost(.connectionLost), .notSent(.noConnection), .notSent(.noConnection)])
      #expect(own.failure?.code == .closedBeforeAnswer)
      #expect(await server.pool.send(.tokens(4..<5)).connections == [1])
    }
  }

  @Test func `a batch that waits for a connection of its own ends with its permit, or when all are replaced`()
    async throws
  {
    try await withServer(ServerScript(react: { $0.token == 0 ? .hold : .ok })) { server in
      let pool = server.pool
      async let first = pool.send(.tokens(0..<1, route: .own))
      await server.untilHeld(1)
      let permit = HTTP2Permit()
      async let second = pool.send(.tokens(1..<2, permit: permit, route: .own))
      async let third = pool.send(.tokens(2..<3, route: .own))
      #expect(await pool.send(.tokens(3..<4)).outcomes == [.answered(200)])
      permit.revoke()
      #expect(await second.outcomes == [.notSent(.permitEnded)])
      pool.reconnect()
      #expect(await third.outcomes == [.notSent(.stopped)])
      server.release()
      #expect(await first.outcomes == [.answered(200)])
    }
  }
}
