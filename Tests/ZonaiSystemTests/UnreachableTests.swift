import Testing
import ZonaiCore
import ZonaiHTTP
import ZonaiSimulator
import ZonaiTransports

/// A peer that cannot be spoken to: what it makes of a whole job.
@Suite(.timeLimit(.minutes(3)))
struct UnreachableTests {
  struct Peer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What the job's error names; nil when the job waits for the peer instead.
    let detail: String?
    let find: @Sendable (Stage) async throws -> Found

    /// Where it is, by what authority it is known, and what must live as long as the job.
    struct Found {
      var endpoint: Endpoint?
      var caFile: String?
      var server: HTTPServer?
    }
  }

  static let peers = [
    Peer(testDescription: "an authority that is not trusted", detail: "not trusted") { stage in
      try TemporaryFolder.write(stage.folder["other.pem"], try CertificateAuthority().certificatePEM)
      return Peer.Found(caFile: stage.folder["other.pem"])
    },
    Peer(testDescription: "HTTP/1.1 only", detail: "HTTP/2") { stage in
      let authority = try CertificateAuthority()
      try TemporaryFolder.write(stage.folder["other.pem"], authority.certificatePEM)
      let server = try HTTPServer([
        ServerService(
          name: "old", port: 0, protocols: .http1, identity: try authority.issue(names: [], addresses: ["127.0.0.1"])
        ) { $0.respond(ServerResponse(status: 200)) }
      ])
      try server.start()
      return Peer.Found(
        endpoint: Endpoint(host: "127.0.0.1", port: server.ports[0]), caFile: stage.folder["other.pem"], server: server)
    },
    Peer(testDescription: "a name that does not resolve", detail: nil) { _ in
      Peer.Found(endpoint: Endpoint(host: "no-such-host.invalid"))
    },
  ]

  @Test(arguments: peers)
  func `a lane that cannot be spoken to touches no row and settles nobody`(_ peer: Peer) async throws {
    let devices = (1...40).map { $0 % 2 == 0 ? Device.ios($0) : .android($0) }
    try await Stage.with(devices) { stage in
      let found = try await peer.find(stage)
      let lanes: [any Transport] = [
        try await stage.fcm(),
        try await stage.apns {
          $0.endpoint = found.endpoint ?? $0.endpoint
          $0.caFile = found.caFile ?? $0.caFile
        },
      ]
      let before = try stage.rows
      let job = try await stage.zonai(lanes).push(to: stage.audience)
      if let detail = peer.detail {
        #expect(job.state == .failed)
        #expect(job.error?.code == .configuration)
        #expect(job.error?.detail.contains(detail) == true, "\(job.error?.detail ?? "")")
        #expect(stage.events.sends(.apns) == 1)
        // The other lane is told to stop where it is.
        #expect(job.counts.delivered <= 20)
      } else {
        #expect(job.state == .running, "\(job.error?.detail ?? "")")
        // Chance makes some due before the others, so that each further attempt is two sends.
        #expect((3...5).contains(stage.events.sends(.apns)), "as often as there are attempts")
        #expect(job.counts.delivered == 20)
      }
      #expect(job.counts.settled == job.counts.delivered)
      #expect(job.owed == 40 - job.counts.delivered)
      #expect(try await stage.inbox.total == job.counts.delivered)
      #expect(try stage.rows == before)
      await found.server?.stop()
    }
  }

  @Test func `a server that takes connections and ends them is asked a bounded number of times`() async throws {
    let devices = (1...40).map { Device.ios($0) }
    try await Stage.with(devices) { stage in
      let door = try Door()
      let apns = try await stage.apns { $0.endpoint = Endpoint(host: "127.0.0.1", port: door.port) }
      let job = try await stage.zonai([apns]).push(to: stage.audience)
      #expect(job.state == .running, "\(job.error?.detail ?? "")")
      #expect(job.counts.settled == 0)
      #expect(job.owed == 40)
      let knocks = door.close()
      #expect((1...6).contains(knocks), "\(knocks) connections for three attempts")
      #expect(try stage.cleared.isEmpty)
    }
  }
}
