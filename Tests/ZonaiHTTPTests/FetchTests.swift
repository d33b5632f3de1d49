import Testing
import ZonaiHTTP
import ZonaiThreads

@Suite struct FetchTests {
  @Test func `a request goes out and its answer comes back, over TLS`() async throws {
    let script = ServerScript(react: { _ in .answer(401, fields: ["x-kind": "test"], body: "{\"error\":1}") })
    try await withServer(script) { server in
      let request = HTTPRequest(
        "POST", server.url + "/token?a=b", fields: [HTTPField("content-type", "text/plain"), HTTPField("x-empty", "")],
        body: Array("grant=1".utf8), caFile: server.caFile)
      let answer = try await request.fetch()
      #expect(answer.status == 401)
      #expect(answer["x-kind"] == "test")
      #expect(String(decoding: answer.body, as: UTF8.self) == "{\"error\":1}")
      let seen = try #require(server.requests.first)
      #expect(seen.path == "/token?a=b")
      #expect(seen.fields[":method"] == "POST" && seen.fields["content-type"] == "text/plain")
      #expect(seen.fields["x-empty"] == "")
      #expect(String(decoding: seen.body, as: UTF8.self) == "grant=1")
    }
  }

  @Test(arguments: ["GET", "PUT", "DELETE"])
  func `plain HTTP goes to loopback`(_ method: String) async throws {
    let server = try PlainServer(answer: "HTTP/1.1 200 OK\r\nX-Spaced:   a b  \r\ncontent-length: 2\r\n\r\nhi")
    let body = method == "PUT" ? Array("body".utf8) : nil
    let answer = try await HTTPRequest(method, "http://127.0.0.1:\(server.port)/x", body: body).fetch()
    #expect(answer.status == 200)
    #expect(answer["x-spaced"] == "a b")
    #expect(answer.body == Array("hi".utf8))
    let seen = try #require(server.requests.first)
    #expect(seen.hasPrefix("\(method) /x HTTP/1.1\r\n"))
    #expect(seen.hasSuffix(method == "PUT" ? "\r\n\r\nbody" : "\r\n\r\n"))
    server.close()
  }

  @Test(arguments: [
    "http://example.com/", "http://127.0.0.1.example.com/", "http://localhost.example.com/", "ftp://127.0.0.1/",
    "file:///etc/passwd", "not a url", "https://",
  ])
  func `what is neither https nor loopback is refused`(_ url: String) async throws {
    #expect(await failure(of: HTTPRequest("GET", url))?.code == .malformedRequest)
  }

  @Test func `a line break in a field is refused`() async throws {
    let request = HTTPRequest("GET", "https://localhost:1/", fields: [HTTPField("a", "b\r\nc: d")])
    #expect(await failure(of: request)?.code == .malformedRequest)
  }

  @Test func `a redirect is an answer like any other`() async throws {
    let script = ServerScript(react: { _ in .answer(302, fields: ["location": "https://localhost:1/"]) })
    try await withServer(script) { server in
      let answer = try await HTTPRequest("GET", server.url, caFile: server.caFile).fetch()
      #expect(answer.status == 302)
    }
  }

  @Test func `each thing that can go wrong has its code`() async throws {
    let script = ServerScript(react: { request in
      switch request.path {
      case "/large": .answer(200, body: String(repeating: "x", count: 2000))
      case "/silent": .silence
      default: .drop
      }
    })
    try await withServer(script) { server in
      var large = HTTPRequest("GET", server.url + "/large", caFile: server.caFile)
      large.maxAnswerBytes = 1999
      #expect(await failure(of: large)?.code == .answerTooLarge)
      large.maxAnswerBytes = 2000
      #expect(await failure(of: large) == nil)
      var silent = HTTPRequest("GET", server.url + "/silent", caFile: server.caFile)
      silent.timeout = 100
      #expect(await failure(of: silent)?.code == .timedOut)
      #expect(await failure(of: HTTPRequest("GET", server.url + "/drop", caFile: server.caFile))?.code == .other)
      #expect(await failure(of: HTTPRequest("GET", server.url))?.code == .certificateNotTrusted)
      #expect(await failure(of: HTTPRequest("GET", "https://localhost:1/"))?.code == .unreachable)
      #expect(await failure(of: HTTPRequest("GET", "https://no-such-host.invalid/"))?.code == .nameNotResolved)
    }
  }

  @Test func `a cancelled request ends`() async throws {
    try await withServer(ServerScript(react: { _ in .hold })) { server in
      let request = HTTPRequest("GET", server.url, caFile: server.caFile)
      let task = Task { await failure(of: request) }
      await server.untilHeld(1)
      task.cancel()
      #expect(await task.value?.code == .cancelled)
    }
  }
}

private func failure(of request: HTTPRequest) async -> HTTPFailure? {
  do throws(HTTPFailure) {
    _ = try await request.fetch()
    return nil
  } catch {
    return error
  }
}
