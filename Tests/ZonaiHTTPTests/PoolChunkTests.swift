import Synchronization
import Testing
import ZonaiHTTP

/// How the pool hands over what was settled.
@Suite struct PoolChunkTests {
  /// The chunks of one batch, kept as they were handed over.
  private final class ChunkLog: Sendable {
    let chunks = Mutex<[HTTP2Chunk]>([])

    func take(_ chunk: HTTP2Chunk) { chunks.withLock { $0.append(chunk) } }

    var requests: [Int] { chunks.withLock { $0.flatMap(\.settled).map(\.request) } }

    func wait(for count: Int) async {
      while requests.count < count { await Task.yield() }
    }
  }

  @Test func `answers are handed over while others of the batch are under way`() async throws {
    try await withServer(ServerScript(react: { $0.token == 3 ? .hold : .ok })) { server in
      let log = ChunkLog()
      async let end = server.pool.send(.tokens(0..<10)) { log.take($0) }
      await log.wait(for: 9)
      #expect(Set(log.requests) == Set(0..<10).subtracting([3]))
      await server.untilHeld(1)
      server.release()
      #expect(await end.unopened.isEmpty)
      #expect(log.requests.count == 10)
      #expect(log.requests.last == 3)
    }
  }

  @Test func `each request is named once, with its place and connection, and kept chunks stay as they are`()
    async throws
  {
    let script = ServerScript(streamLimit: 20, react: { .answer(200 + $0.token % 2, body: "token-\($0.token)") })
    try await withServer(script, { $0.maxConnections = 3 }) { server in
      let log = ChunkLog()
      let end = await server.pool.send(.tokens(0..<1000)) { log.take($0) }
      #expect(end.reason == nil)
      let chunks = log.chunks.withLock { $0 }
      #expect(chunks.flatMap(\.settled).map(\.request).sorted() == Array(0..<1000))
      #expect(chunks.flatMap(\.settled).map(\.place).sorted() == (1...1000).map(UInt64.init))
      #expect(chunks.allSatisfy { !$0.settled.isEmpty })
      let servedBy = Dictionary(uniqueKeysWithValues: server.requests.map { ($0.token, $0.connection) })
      // The server may count connections that are made at once in another order.
      var numbers: [Int: Set<UInt32>] = [:]
      for chunk in chunks {
        for settled in chunk.settled {
          let body = chunk.answer(to: settled).map { String(decoding: $0.body, as: UTF8.self) }
          #expect(body == (settled.request % 2 == 0 ? nil : "token-\(settled.request)"))
          if let connection = servedBy[settled.request] {
            numbers[connection, default: []].insert(settled.connection)
          }
        }
      }
      #expect(numbers.values.allSatisfy { $0.count == 1 })
      // A connection that was opened for nothing served no request.
      #expect(Set(numbers.values.flatMap(\.self)).count == numbers.count)
    }
  }

  @Test func `what is not opened is in no chunk and has one reason`() async throws {
    let permit = HTTP2Permit()
    try await withServer(.revoking(permit)) { server in
      let log = ChunkLog()
      var batch = HTTP2Batch.tokens(0..<6, permit: permit)
      batch.selection = [5, 1, 0, 3, 4]
      let end = await server.pool.send(batch) { log.take($0) }
      #expect(log.requests == [5, 1, 0])
      #expect(end.unopened == [3, 4])
      #expect(end.reason == .permitEnded)
    }
  }

  @Test func `a receiver that is slow loses nothing`() async throws {
    try await withServer { server in
      let log = ChunkLog()
      _ = await server.pool.send(.tokens(0..<500)) { chunk in
        let start = ContinuousClock.now
        while log.requests.count < 20, ContinuousClock.now - start < .milliseconds(20) {}
        log.take(chunk)
      }
      #expect(log.requests.sorted() == Array(0..<500))
    }
  }
}
