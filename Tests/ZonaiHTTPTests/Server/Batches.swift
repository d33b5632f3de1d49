import ZonaiHTTP
import ZonaiThreads

extension HTTP2Batch {
  /// Requests as APNs has them: the token in the path, the same body for all.
  static func tokens(
    _ numbers: Range<Int>, permit: HTTP2Permit = HTTP2Permit(), route: HTTP2Route = .any, body: String = "{}"
  ) -> HTTP2Batch {
    var values = ByteColumn()
    for number in numbers { values.append("token-\(number)".utf8) }
    return HTTP2Batch(
      path: ByteTemplate(segments: [Array("/3/device/".utf8), []]),
      fields: [HTTPField("authorization", "bearer secret")],
      body: ByteTemplate(body.utf8), values: values, permit: permit, route: route)
  }
}

extension ServedRequest {
  /// The number of the token in the path.
  var token: Int { Int(path.drop { !$0.isNumber }.drop { $0 != "-" }.dropFirst()) ?? -1 }
}

extension HTTP2Options {
  /// Trusts the test's authority, and keeps to one connection.
  static func test(_ server: TestServer) -> HTTP2Options {
    var options = HTTP2Options()
    options.caFile = server.files.authority
    options.maxConnections = 1
    // Every test of the package runs at once: a handshake may wait long for its turn.
    options.connectTimeout = 60_000
    return options
  }
}

/// A server with a pool that leads to it.
struct ServerAndPool: Sendable {
  let server: TestServer
  let pool: HTTP2Pool

  var origin: HTTPOrigin { server.origin }
  var url: String { "https://localhost:\(server.port)" }
  var caFile: String { server.files.authority }
  var connections: Int { server.connections }
  var requests: [ServedRequest] { server.requests }
  var pings: Int { server.pings }

  func release() { server.release() }
  func endPolitely() { server.endPolitely() }

  // Waiting blocks a thread, so each wait has one of its own.
  func untilHeld(_ count: Int) async { await onThread { $0.waitUntilHeld(count) } }
  func untilConnected(_ count: Int) async { await onThread { $0.waitUntilConnected(count) } }
  func untilPinged() async { await onThread { $0.waitUntilPinged() } }
  func untilFarewell() async { await onThread { $0.waitUntilFarewell() } }

  private func onThread(_ wait: @escaping @Sendable (TestServer) -> Void) async { await server.onThread(wait) }
}

extension TestServer {
  fileprivate func onThread(_ work: @escaping @Sendable (TestServer) -> Void) async {
    await withCheckedContinuation { continuation in
      do {
        _ = try NamedThread(name: "test-wait") { [self] in
          work(self)
          continuation.resume()
        }
      } catch {
        work(self)
        continuation.resume()
      }
    }
  }

  func shutDown() async { await onThread { $0.close() } }
}

/// Runs a test against a server and a pool, and takes both down.
func withServer(
  _ script: ServerScript = ServerScript(), _ change: (inout HTTP2Options) -> Void = { _ in },
  _ test: (ServerAndPool) async throws -> Void
) async throws {
  let server = try TestServer(script)
  var options = HTTP2Options.test(server)
  change(&options)
  let pool = try HTTP2Pool(origin: server.origin, options: options)
  let result: Result<Void, any Error>
  do { result = .success(try await test(ServerAndPool(server: server, pool: pool))) } catch { result = .failure(error) }
  await pool.close()
  await server.shutDown()
  try result.get()
}
