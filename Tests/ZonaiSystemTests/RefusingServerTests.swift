import Synchronization
import Testing
import ZonaiCore
import ZonaiHTTP
import ZonaiTransports

/// A service that refuses streams, or leaves them out, over and over: what it did not handle is
/// sent again until it is.
@Suite(.timeLimit(.minutes(3)))
struct RefusingServerTests {
  @Test func `a server that refuses what is in flight after each rejection loses no recipient`() async throws {
    let devices = (1...550).map { Device.ios($0) }
    try await Stage.with(devices) { stage in
      // One in ten is for another topic.
      let server = try RefusingServer(rejects: { $0 % 10 == 3 })
      try TemporaryFolder.write(stage.folder["other.pem"], server.certificate)
      let zonai = try await stage.zonai([
        stage.apns {
          $0.endpoint = Endpoint(host: "127.0.0.1", port: server.port)
          $0.caFile = stage.folder["other.pem"]
        }
      ])
      let done = try await zonai.push(to: stage.audience)
      #expect(done.state == .completed, "\(done.error?.detail ?? "")")
      #expect(done.counts.delivered == 495)
      #expect(done.details(.transientlyFailed).allSatisfy { $0.hasPrefix("DeviceTokenNotForTopic") })
      #expect(done.counts.repeatedAfterLostAnswer == 0)
      #expect(server.seen.accepted == 495)
      #expect(server.seen.twice == 0)
      #expect(server.seen.refused < 5500, "not every request is refused ten times")
      await server.server.stop()
    }
  }

  @Test func `a server that ends each connection after two answers loses no recipient`() async throws {
    let devices = (1...200).map { Device.ios($0) }
    try await Stage.with(devices) { stage in
      let server = try RefusingServer(answersPerConnection: 2)
      try TemporaryFolder.write(stage.folder["other.pem"], server.certificate)
      let zonai = try await stage.zonai([
        stage.apns {
          $0.endpoint = Endpoint(host: "127.0.0.1", port: server.port)
          $0.caFile = stage.folder["other.pem"]
        }
      ])
      let done = try await zonai.push(to: stage.audience)
      #expect(done.state == .completed, "\(done.error?.detail ?? "")")
      #expect(done.counts.delivered == 200)
      #expect(server.seen.accepted == 200)
      #expect(server.seen.twice == 0)
      await server.server.stop()
    }
  }
}

/// Takes notifications as APNs does: one stream until one was accepted, then a thousand; one stream
/// again after a rejection, and what is open then is refused.
private final class RefusingServer: Sendable {
  struct Seen {
    var tokens: Set<String> = []
    var accepted = 0
    var twice = 0
    var refused = 0
  }

  /// Touched by the server's thread only.
  private final class Line {
    var open: [ServerExchange] = []
    var limit: UInt32 = 1
    var answered = 0
    /// Held, so that no later connection has its identity.
    let connection: ServerConnection

    init(_ connection: ServerConnection) { self.connection = connection }
  }

  /// @unchecked: touched by the server's thread only.
  private final class Lines: @unchecked Sendable {
    var all: [ObjectIdentifier: Line] = [:]
  }

  let server: HTTPServer
  let certificate: String
  private let record: Record

  private final class Record: Sendable {
    let seen = Mutex(Seen())
  }

  var seen: Seen { record.seen.withLock { $0 } }
  var port: UInt16 { server.ports[0] }

  init(rejects: @escaping @Sendable (Int) -> Bool = { _ in false }, answersPerConnection: Int = .max) throws {
    let authority = try CertificateAuthority()
    certificate = authority.certificatePEM
    let record = Record()
    self.record = record
    let lines = Lines()
    server = try HTTPServer([
      ServerService(
        name: "refusing", port: 0, protocols: .http2,
        identity: try authority.issue(names: [], addresses: ["127.0.0.1"]), streamLimit: 1
      ) { exchange in
        let line = lines.all[ObjectIdentifier(exchange.connection)] ?? Line(exchange.connection)
        lines.all[ObjectIdentifier(exchange.connection)] = line
        guard line.answered < answersPerConnection else { return exchange.goAway() }
        line.answered += 1
        if line.limit == 1, !line.open.isEmpty { return RefusingServer.refuse([exchange], record) }
        line.open.append(exchange)
        // Long enough for others to be sent meanwhile.
        exchange.wait(milliseconds: 2) {
          guard let place = line.open.firstIndex(where: { $0 === exchange }) else { return }
          line.open.remove(at: place)
          let token = String(exchange.request.target.split(separator: "/").last ?? "")
          guard !rejects(Int(token.prefix(8), radix: 16) ?? 0) else {
            line.limit = 1
            exchange.connection.limitStreams(to: 1)
            exchange.respond(
              ServerResponse(status: 400, body: Array(#"{"reason":"DeviceTokenNotForTopic"}"#.utf8)))
            RefusingServer.refuse(line.open, record)
            line.open = []
            return
          }
          record.seen.withLock { seen in
            seen.accepted += 1
            if !seen.tokens.insert(token).inserted { seen.twice += 1 }
          }
          exchange.respond(ServerResponse(status: 200))
          guard line.limit == 1 else { return }
          line.limit = 1000
          exchange.connection.limitStreams(to: 1000)
        }
      }
    ])
    try server.start()
  }

  private static func refuse(_ exchanges: [ServerExchange], _ record: Record) {
    record.seen.withLock { $0.refused += exchanges.count }
    for exchange in exchanges { exchange.reset(errorCode: 7) }
  }
}
