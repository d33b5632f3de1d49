import Synchronization
import Testing
import ZonaiHTTP
import ZonaiThreads

/// Permits, cancellation, stopping, reconnecting and closing.
@Suite struct PoolControlTests {
  @Test func `a permit that has ended opens nothing, not even a connection`() async throws {
    try await withServer { server in
      let result = await server.pool.send(.tokens(0..<5, permit: HTTP2Permit(until: MonotonicClock.milliseconds())))
      #expect(result.outcomes.allSatisfy { $0 == .notSent(.permitEnded) })
      #expect(server.connections == 0)
    }
  }

  @Test func `a permit that ends midway lets what is under way finish, and opens nothing more`() async throws {
    let permit = HTTP2Permit()
    try await withServer(.revoking(permit)) { server in
      let outcomes = await server.pool.send(.tokens(0..<6, permit: permit)).outcomes
      #expect(outcomes[0...2].allSatisfy { $0 == .answered(200) })
      #expect(outcomes[3...].allSatisfy { $0 == .notSent(.permitEnded) })
    }
  }

  @Test func `a permit that is moved on goes on`() async throws {
    let permit = HTTP2Permit(until: MonotonicClock.milliseconds() + 60_000)
    try await withServer(ServerScript(streamLimit: 1, react: { _ in .hold })) { server in
      async let result = server.pool.send(.tokens(0..<1, permit: permit))
      await server.untilHeld(1)
      permit.move(to: MonotonicClock.milliseconds() + 120_000)
      server.release()
      #expect(await result.outcomes == [.answered(200)])
    }
  }

  @Test func `a permit ends also while no answer comes and nothing can be opened`() async throws {
    let permit = HTTP2Permit()
    try await withServer(ServerScript(streamLimit: 1, react: { _ in .hold })) { server in
      async let first = server.pool.send(.tokens(0..<1))
      await server.untilHeld(1)
      async let second = server.pool.send(.tokens(1..<4, permit: permit))
      permit.revoke()
      #expect(await second.outcomes.allSatisfy { $0 == .notSent(.permitEnded) })
      server.release()
      #expect(await first.outcomes == [.answered(200)])
    }
  }

  @Test func `a cancelled task still learns what became of what was under way`() async throws {
    try await withServer(ServerScript(streamLimit: 1, react: { _ in .hold })) { server in
      let pool = server.pool
      let task = Task { await pool.send(.tokens(0..<4)) }
      await server.untilHeld(1)
      task.cancel()
      server.release()
      let outcomes = await task.value.outcomes
      #expect(outcomes[0] == .answered(200))
      #expect(outcomes[1...].allSatisfy { $0 == .notSent(.permitEnded) })
    }
  }

  @Test func `an answer that says stop opens no further request of that batch`() async throws {
    let script = ServerScript(streamLimit: 1, react: { $0.token == 3 ? .answer(413, body: "too big") : .answer(400) })
    try await withServer(script) { server in
      let seen = Monitor<[String]>([])
      var batch = HTTP2Batch.tokens(0..<8)
      batch.stopAfter = { status, body in
        seen.change { $0.append("\(status) \(String(decoding: body, as: UTF8.self))") }
        return status == 413
      }
      async let other = server.pool.send(.tokens(10..<12))
      let outcomes = await server.pool.send(batch).outcomes
      #expect(outcomes[0...3] == [.answered(400), .answered(400), .answered(400), .answered(413)])
      #expect(outcomes[4...].allSatisfy { $0 == .notSent(.stopped) })
      #expect(seen.withLock { $0 } == ["400 ", "400 ", "400 ", "413 too big"])
      #expect(await other.outcomes == [.answered(400), .answered(400)])
    }
  }

  @Test func `reconnecting leaves what is under way alone and sends the rest elsewhere`() async throws {
    try await withServer(ServerScript(streamLimit: 1, react: { $0.connection == 0 ? .hold : .ok })) { server in
      async let first = server.pool.send(.tokens(0..<1))
      await server.untilHeld(1)
      server.pool.reconnect()
      #expect(await server.pool.send(.tokens(1..<3)).outcomes == [.answered(200), .answered(200)])
      #expect(server.requests.map(\.connection) == [0, 1, 1])
      server.release()
      #expect(await first.outcomes == [.answered(200)])
      // The old one has nothing more to do, and says so.
      await server.untilFarewell()
    }
  }

  @Test func `what waits for connections that are replaced comes back, and so does what is meant for them later`()
    async throws
  {
    try await withServer(ServerScript(streamLimit: 1, react: { $0.connection == 0 ? .hold : .ok })) { server in
      let (pool, old) = (server.pool, server.pool.generation)
      async let first = pool.send(.tokens(0..<3))
      await server.untilHeld(1)
      pool.reconnect(since: old)
      // Somebody else wants the same.
      pool.reconnect(since: old)
      #expect(pool.generation == old + 1)
      var late = HTTP2Batch.tokens(3..<5)
      late.generation = old
      #expect(await pool.send(late).outcomes == [.notSent(.stopped), .notSent(.stopped)])
      late.generation = pool.generation
      #expect(await pool.send(late).outcomes == [.answered(200), .answered(200)])
      server.release()
      #expect(await first.outcomes == [.answered(200), .notSent(.stopped), .notSent(.stopped)])
      #expect(server.requests.map(\.connection) == [0, 1, 1])
    }
  }

  @Test func `closing waits for nothing, says farewell, and refuses what comes later`() async throws {
    try await withServer(ServerScript(streamLimit: 1, react: { _ in .hold })) { server in
      async let result = server.pool.send(.tokens(0..<3))
      await server.untilHeld(1)
      await server.pool.close()
      let outcomes = await result.outcomes
      #expect(outcomes == [.answerLost(.poolClosed), .notSent(.poolClosed), .notSent(.poolClosed)])
      await server.untilFarewell()
      #expect(await server.pool.send(.tokens(0..<1)).outcomes == [.notSent(.poolClosed)])
      await server.pool.close()
    }
  }
}
