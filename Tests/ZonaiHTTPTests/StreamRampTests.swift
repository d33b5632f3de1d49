import Testing
import ZonaiThreads

@testable import ZonaiHTTP

/// How many streams are open at once on a server that would allow more.
@Suite struct StreamRampTests {
  @Test func `a round of answers doubles the width`() {
    var ramp = StreamRamp(width: 8)
    for width in [8, 16, 32, 64] {
      #expect(ramp.width == width)
      for _ in 0..<width { ramp.answered() }
    }
    #expect(ramp.isDoubling)
  }

  @Test func `streams that were refused together halve it once, and then it grows by one a round`() {
    var ramp = StreamRamp(width: 100)
    // A macro's argument cannot change it.
    var cuts = [ramp.refused(41, next: 201)]
    for stream in stride(from: 43 as Int32, to: 201, by: 2) { cuts.append(ramp.refused(stream, next: 201)) }
    #expect(cuts.filter { $0 }.count == 1)
    #expect(ramp.width == 50)
    #expect(!ramp.isDoubling)
    for _ in 0..<50 { ramp.answered() }
    #expect(ramp.width == 51)
    _ = ramp.refused(201, next: 203)
    #expect(ramp.width == 25)
  }

  @Test func `it never ends at nothing`() {
    var ramp = StreamRamp(width: 0)
    #expect(ramp.width == 1)
    for stream in stride(from: 1 as Int32, to: 20, by: 2) { _ = ramp.refused(stream, next: stream + 2) }
    #expect(ramp.width == 1)
    ramp.answered()
    #expect(ramp.width == 2)
  }

  @Test func `a server that allows a thousand at once is not taken at its word`() async throws {
    try await withServer(ServerScript(streamLimit: 1000)) { server in
      let result = await server.pool.send(.tokens(0..<600))
      #expect(result.outcomes.allSatisfy { $0 == .answered(200) })
      #expect(result.hadAnswers)
      #expect(server.requests.filter { $0.number < 8 }.allSatisfy { $0.openStreams <= 8 })
      #expect(server.requests.filter { $0.number < 24 }.allSatisfy { $0.openStreams <= 16 })
      #expect(server.requests.filter { $0.number < 56 }.allSatisfy { $0.openStreams <= 32 })
    }
  }

  @Test func `it grows to as many as the server allows`() async throws {
    try await withServer(ServerScript(streamLimit: 1000, react: { $0.number < 92 ? .ok : .hold })) { server in
      async let result = server.pool.send(.tokens(0..<185))
      await server.untilHeld(93)
      server.release()
      #expect(await result.outcomes.allSatisfy { $0 == .answered(200) })
    }
  }

  @Test func `what a server refused or left out is remembered for its next connections`() async throws {
    // It answers two requests on each connection and leaves out the others.
    let script = ServerScript(react: { request in
      switch request.number {
      case 0, 1: .ok
      case 2: .goAway(lastStream: 3)
      default: .silence
      }
    })
    try await withServer(script, { $0.maxReconnectDelay = 1 }) { server in
      var left = Array(0..<60)
      var rounds = 0
      while !left.isEmpty, rounds < 20 {
        rounds += 1
        var batch = HTTP2Batch.tokens(0..<60)
        batch.selection = left
        let outcomes = await server.pool.send(batch).outcomes
        #expect(left.allSatisfy { outcomes[$0] == .answered(200) || outcomes[$0] == .notHandled(.goAway) })
        left.removeAll { outcomes[$0] == .answered(200) }
      }
      #expect(left.isEmpty)
      #expect(rounds <= 8)
      let late = server.requests.filter { $0.connection >= 4 }
      #expect(late.allSatisfy { $0.openStreams <= 3 })
    }
  }
}
