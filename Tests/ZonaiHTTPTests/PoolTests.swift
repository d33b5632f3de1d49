import Synchronization
import Testing
import ZonaiHTTP
import ZonaiThreads

@Suite struct PoolTests {
  @Test func `each answer comes back to the request that it belongs to`() async throws {
    try await withServer(ServerScript(react: { .answer(200 + $0.token % 3, body: "token-\($0.token)") })) { server in
      let result = await server.pool.send(.tokens(0..<50))
      #expect(result.failure == nil)
      for index in 0..<50 {
        #expect(result.outcomes[index] == .answered(200 + UInt16(index % 3)))
        let body = result.answer(index).map { String(decoding: $0.body, as: UTF8.self) }
        #expect(body == (index % 3 == 0 ? nil : "token-\(index)"))
      }
    }
  }

  @Test func `ten thousand requests in eight batches over four connections are each sent once and answered rightly`()
    async throws
  {
    let script = ServerScript(
      streamLimit: 20, react: { .answer($0.token % 7 == 0 ? 410 : 200, body: "token-\($0.token)") })
    try await withServer(
      script,
      {
        $0.maxConnections = 4
        $0.patienceBeforeAnotherConnection = 0
      }
    ) { server in
      let pool = server.pool
      let results = await withTaskGroup(of: (Int, HTTP2BatchResult).self) { group in
        for batch in 0..<8 {
          group.addTask { (batch, await pool.send(.tokens(batch * 1250..<(batch + 1) * 1250))) }
        }
        return await group.reduce(into: [Int: HTTP2BatchResult]()) { $0[$1.0] = $1.1 }
      }
      var wrong = 0
      for (batch, result) in results {
        for index in 0..<1250 {
          let token = batch * 1250 + index
          let body = result.answer(index).map { String(decoding: $0.body, as: UTF8.self) }
          let isRight =
            result.outcomes[index] == .answered(token % 7 == 0 ? 410 : 200)
            && body == (token % 7 == 0 ? "token-\(token)" : nil)
          if !isRight { wrong += 1 }
        }
      }
      #expect(wrong == 0)
      #expect(server.requests.map(\.token).sorted() == Array(0..<10_000))
      #expect(server.connections == 4)
      let places = results.values.flatMap(\.places)
      #expect(places.sorted() == (1...10_000).map(UInt64.init))
    }
  }

  @Test func `the value goes into path and body, and large bodies wait for the server's window`() async throws {
    try await withServer(ServerScript(window: 1000)) { server in
      var values = ByteColumn()
      for value in ["alpha", "", "gamma"] { values.append(value.utf8) }
      let filler = String(repeating: "x", count: 50_000)
      let batch = HTTP2Batch(
        path: ByteTemplate(segments: ["/a/", "/b/", "?c"].map { Array($0.utf8) }),
        fields: [HTTPField("x-kind", "test")],
        body: ByteTemplate(segments: ["{\"t\":\"", "\",\"f\":\"\(filler)\",\"u\":\"", "\"}"].map { Array($0.utf8) }),
        values: values)
      let result = await server.pool.send(batch)
      #expect(result.outcomes.allSatisfy { $0 == .answered(200) })
      let requests = server.requests.sorted { $0.stream < $1.stream }
      #expect(requests.map(\.path) == ["/a/alpha/b/alpha?c", "/a//b/?c", "/a/gamma/b/gamma?c"])
      let bodies = requests.map { String(decoding: $0.body, as: UTF8.self) }
      #expect(bodies == ["alpha", "", "gamma"].map { "{\"t\":\"\($0)\",\"f\":\"\(filler)\",\"u\":\"\($0)\"}" })
      #expect(requests.allSatisfy { $0.fields["x-kind"] == "test" && $0.fields[":method"] == "POST" })
      #expect(requests.allSatisfy { $0.fields[":authority"] == "localhost:\(server.origin.port)" })
    }
  }

  @Test func `a constant path and a hole in the body make FCM's requests`() async throws {
    try await withServer { server in
      var values = ByteColumn()
      for number in 0..<30 { values.append("token-\(number)".utf8) }
      let batch = HTTP2Batch(
        path: ByteTemplate("/v1/projects/p/messages:send".utf8), fields: [],
        body: ByteTemplate(segments: [Array("<".utf8), Array(">".utf8)]), values: values)
      _ = await server.pool.send(batch)
      #expect(Set(server.requests.map { String(decoding: $0.body, as: UTF8.self) }).count == 30)
      #expect(server.requests.allSatisfy { $0.path == "/v1/projects/p/messages:send" })
    }
  }

  @Test func `only what is selected is sent, in the order of the selection`() async throws {
    try await withServer(ServerScript(streamLimit: 1)) { server in
      var batch = HTTP2Batch.tokens(0..<10)
      batch.selection = [7, 2, 5]
      let result = await server.pool.send(batch)
      #expect(server.requests.map(\.token) == [7, 2, 5])
      #expect(result.outcomes.filter { $0 == .notSent(.notSelected) }.count == 7)
      #expect(result.places == [0, 0, 2, 0, 0, 3, 0, 1, 0, 0])
    }
  }

  @Test func `of an answer other than 200 the named fields and the first 4 KiB are kept`() async throws {
    let body = String(repeating: "b", count: 10_000)
    let script = ServerScript(react: {
      .answer($0.token == 0 ? 200 : 429, fields: ["retry-after": "17", "x-other": "no"], body: body)
    })
    try await withServer(script) { server in
      let result = await server.pool.send(.tokens(0..<2))
      #expect(result.answer(0) == nil)
      let answer = try #require(result.answer(1))
      #expect(answer["retry-after"] == "17")
      #expect(answer["x-other"] == nil)
      #expect(answer.body.count == 4096)
    }
  }

  @Test(arguments: [
    (AcceptedBody.anything, "<html>", true), (.anything, "", true), (.nothing, "", true), (.nothing, " ", false),
    (.nothing, "{}", false), (.object, #"{"name":"n"}"#, true), (.object, "\r\n\t {", true), (.object, "", false),
    (.object, " ", false), (.object, "[]", false), (.object, " <html>", false),
    (.object, String(repeating: " ", count: 40_000) + "{}", true),
  ])
  func `a 200 with a body that is not accepted is kept and may stop the batch`(
    _ accepted: AcceptedBody, _ body: String, _ isAccepted: Bool
  ) async throws {
    try await withServer(
      ServerScript(streamLimit: 1, react: { _ in .answer(200, body: body) }), { $0.acceptedBody = accepted }
    ) { server in
      var batch = HTTP2Batch.tokens(0..<3)
      batch.stopAfter = { status, _ in status == 200 }
      let result = await server.pool.send(batch)
      #expect(result.outcomes[0] == .answered(200))
      #expect(result.outcomes[1] == (isAccepted ? .answered(200) : .notSent(.stopped)))
      let kept = result.answer(0).map { String(decoding: $0.body, as: UTF8.self) }
      #expect(kept == (isAccepted ? nil : body))
    }
  }

  @Test func `an empty batch needs no connection`() async throws {
    try await withServer { server in
      #expect(await server.pool.send(.tokens(0..<0)).outcomes.isEmpty)
      #expect(server.connections == 0)
    }
  }

  @Test func `what cannot be put on the wire is told apart and harms nobody else`() async throws {
    try await withServer { server in
      var batch = HTTP2Batch.tokens(0..<2)
      batch.values.append("line\nbreak".utf8)
      #expect(await server.pool.send(batch).outcomes == [.answered(200), .answered(200), .notSent(.malformed)])
      batch.fields.append(HTTPField("x-bad", "a\r\nb"))
      let result = await server.pool.send(batch)
      #expect(result.failure?.code == .malformedRequest)
      #expect(result.outcomes.allSatisfy { $0 == .notSent(.malformed) })
    }
  }

  // MARK: How many at once

  @Test func `a server that allows one stream gets one at a time`() async throws {
    try await withServer(ServerScript(streamLimit: 1)) { server in
      let result = await server.pool.send(.tokens(0..<40))
      #expect(result.outcomes.allSatisfy { $0 == .answered(200) })
      #expect(server.requests.allSatisfy { $0.openStreams == 1 })
      #expect(server.requests.map(\.token) == Array(0..<40))
    }
  }

  @Test func `a limit that is lowered midway is followed`() async throws {
    let script = ServerScript(
      streamLimit: 5,
      react: { request in
        switch request.number {
        case 0, 6...: .ok
        case 5: .sequence([.allow(1), .hold])
        default: .hold
        }
      })
    try await withServer(script) { server in
      async let result = server.pool.send(.tokens(0..<20))
      await server.untilHeld(5)
      server.release()
      #expect(await result.outcomes.allSatisfy { $0 == .answered(200) })
      #expect(server.requests.filter { $0.number > 5 }.allSatisfy { $0.openStreams == 1 })
    }
  }

  @Test func `the own limit holds where the server names none`() async throws {
    try await withServer(ServerScript(streamLimit: nil), { $0.maxStreamsPerConnection = 3 }) { server in
      let result = await server.pool.send(.tokens(0..<60))
      #expect(result.outcomes.allSatisfy { $0 == .answered(200) })
      #expect(server.requests.allSatisfy { $0.openStreams <= 3 })
    }
  }

  @Test func `one stream until a request was accepted, then as many as allowed`() async throws {
    let script = ServerScript(react: { request in
      switch request.number {
      case 0...2: .answer(403)
      case 3: .ok
      default: .hold
      }
    })
    try await withServer(script, { $0.singleStreamUntilAccepted = true }) { server in
      async let result = server.pool.send(.tokens(0..<12))
      await server.untilHeld(8)
      server.release()
      #expect(await result.outcomes.filter { $0 == .answered(200) }.count == 9)
      #expect(server.requests.filter { $0.number <= 4 }.allSatisfy { $0.openStreams == 1 })
    }
  }

  @Test func `one stream until the server offers more, also where nobody is accepted`() async throws {
    let script = ServerScript(
      streamLimit: 1,
      react: { request in
        switch request.number {
        case 0: .answer(410)
        case 1: .sequence([.answer(410), .allow(100)])
        default: .hold
        }
      })
    try await withServer(script, { $0.singleStreamUntilAccepted = true }) { server in
      async let result = server.pool.send(.tokens(0..<8))
      await server.untilHeld(5)
      server.release()
      _ = await result
      #expect(server.requests.filter { $0.number <= 2 }.allSatisfy { $0.openStreams == 1 })
    }
  }

  @Test func `further connections are opened when all are full and requests still wait`() async throws {
    let script = ServerScript(streamLimit: 1, react: { $0.number == 1 ? .hold : .ok })
    try await withServer(script, { $0.maxConnections = 3 }) { server in
      async let result = server.pool.send(.tokens(0..<12))
      await server.untilHeld(3)
      #expect(server.connections == 3)
      server.release()
      #expect(await result.outcomes.allSatisfy { $0 == .answered(200) })
    }
  }

  @Test func `a server that takes its streams away costs a connection a wait, and ends no batch`() async throws {
    let script = ServerScript(
      streamLimit: 1, react: { $0.number == 0 ? .sequence([.allow(0), .ok]) : .ok })
    try await withServer(script, { $0.requestTimeout = 500 }) { server in
      let result = await server.pool.send(.tokens(0..<3))
      #expect(result.outcomes.allSatisfy { $0 == .answered(200) })
      #expect(server.connections == 3)
    }
  }
}
