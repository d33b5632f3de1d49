import Testing
import ZonaiHTTP
import ZonaiThreads

/// Name servers that do not answer.
@Suite(.enabled(if: NameServer.obstacle == nil, "\(NameServer.obstacle ?? "")"))
struct HangingLookupTests {
  private func with(
    _ names: NameServer, _ body: @escaping @Sendable (NameServer) async throws -> Void
  ) async throws {
    let result: Result<Void, any Error>
    do { result = .success(try await names.run { try await body(names) }) } catch { result = .failure(error) }
    names.close()
    try result.get()
  }

  @Test func `a pool whose name server hangs says so in time, and can be closed`() async throws {
    try await with(try NameServer(71)) { names in
      var options = HTTP2Options()
      options.connectTimeout = 500
      let pool = try HTTP2Pool(origin: HTTPOrigin(host: "first.lookup.test", port: 1), options: options)
      let result = await pool.send(.tokens(0..<3))
      #expect(result.outcomes.allSatisfy { $0 == .notSent(.noConnection) })
      #expect(result.failure?.code == .connectTimedOut)
      await pool.close()
    }
  }

  @Test func `a pool is closed while the look-up of its first connection hangs`() async throws {
    try await with(try NameServer(72)) { names in
      let pool = try HTTP2Pool(origin: HTTPOrigin(host: "closing.lookup.test", port: 1))
      async let result = pool.send(.tokens(0..<1))
      await names.untilHanging()
      await pool.close()
      #expect(await result.outcomes == [.notSent(.poolClosed)])
    }
  }

  @Test func `connections go on while the look-up of a further one hangs`() async throws {
    try await with(try NameServer(73, answers: 1)) { names in
      let name = "further.lookup.test"
      let server = try TestServer(
        ServerScript(streamLimit: 1, name: name, react: { $0.number == 1 ? .hold : .ok }))
      var options = HTTP2Options.test(server)
      options.maxConnections = 2
      let pool = try HTTP2Pool(origin: HTTPOrigin(host: name, port: server.port), options: options)
      async let result = pool.send(.tokens(0..<50))
      // The second request is held until the look-up hangs; the rest goes over the first
      // connection.
      await names.untilHanging()
      server.release()
      #expect(await result.outcomes.allSatisfy { $0 == .answered(200) })
      #expect(server.connections == 1)
      await pool.close()
      server.close()
    }
  }

  @Test func `a single request whose name server hangs ends in time`() async throws {
    try await with(try NameServer(74)) { names in
      var request = HTTPRequest("GET", "https://fetch.lookup.test/")
      request.connectTimeout = 500
      let failure = await #expect(throws: HTTPFailure.self) { try await request.fetch() }
      #expect(failure?.code == .connectTimedOut)
    }
  }

  @Test func `a single request is cancelled while its name server hangs`() async throws {
    try await with(try NameServer(75)) { names in
      await withTaskGroup(of: HTTPFailure.Code?.self) { group in
        group.addTask {
          do throws(HTTPFailure) { _ = try await HTTPRequest("GET", "https://cancelled.lookup.test/").fetch() } catch {
            return error.code
          }
          return nil
        }
        await names.untilHanging()
        group.cancelAll()
        #expect(await group.next() == .cancelled)
      }
    }
  }
}
