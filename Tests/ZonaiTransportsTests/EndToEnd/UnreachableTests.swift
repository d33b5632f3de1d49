import Testing
import ZonaiCore
import ZonaiHTTP
import ZonaiSimulator
import ZonaiTestKit

@testable import ZonaiTransports

/// Peers that cannot be spoken to. Nobody is sent to, no row is touched, and the fault says what to look at.
@Suite struct UnreachableTests {
  struct Trouble: Sendable, CustomTestStringConvertible {
    let name: String
    let reason: Reason
    let fault: Fault
    let outcome: Verdict.Outcome
    /// Points a lane at the trouble; what must live as long as the lane is given back.
    let make: @Sendable (Services) async throws -> (endpoint: Endpoint, caFile: String?, keeps: (any Sendable)?)
    var testDescription: String { name }
  }

  private static let troubles = [
    Trouble(
      name: "an authority that is not trusted", reason: .certificateNotTrusted, fault: .configuration,
      outcome: .jobFails
    ) { services in
      let other = try CertificateAuthority().certificatePEM
      let path = try services.folder.write("other.pem", other)
      return (try Endpoint(services.simulator.endpoints.apns, setting: ""), path, nil)
    },
    Trouble(
      name: "a certificate of another name", reason: "certificateNameWrong", fault: .configuration, outcome: .jobFails
    ) { services in
      let authority = try CertificateAuthority()
      let path = try services.folder.write("other.pem", authority.certificatePEM)
      let identity = try authority.issue(names: ["example.com"])
      let server = try serve(.http2, identity)
      return (Endpoint(host: "127.0.0.1", port: server.ports[0]), path, server)
    },
    Trouble(name: "HTTP/1.1 only", reason: .http2NotSpoken, fault: .configuration, outcome: .jobFails) { services in
      let authority = try CertificateAuthority()
      let path = try services.folder.write("other.pem", authority.certificatePEM)
      let server = try serve(.http1, try authority.issue(names: [], addresses: ["127.0.0.1"]))
      return (Endpoint(host: "127.0.0.1", port: server.ports[0]), path, server)
    },
    Trouble(
      name: "nobody listens", reason: .cannotConnect, fault: .connection, outcome: .transientlyFailed
    ) { services in
      // A port that was free a moment ago may be another test's by now.
      (Endpoint(host: "127.0.0.1", port: 1), services.caFile, nil)
    },
    Trouble(
      name: "a name without an address", reason: .nameNotResolved, fault: .connection, outcome: .transientlyFailed
    ) { services in (Endpoint(host: "no-such-host.invalid"), services.caFile, nil) },
    Trouble(
      name: "a CA file that is not there", reason: "unreadableCAFile", fault: .configuration, outcome: .jobFails
    ) { services in
      (try Endpoint(services.simulator.endpoints.apns, setting: ""), services.folder.path + "/none.pem", nil)
    },
  ]

  private static func serve(_ protocols: ServerService.Protocols, _ identity: ServerIdentity) throws -> HTTPServer {
    let server = try HTTPServer([
      ServerService(name: "other", port: 0, protocols: protocols, identity: identity) { exchange in
        exchange.respond(ServerResponse(status: 200))
      }
    ])
    try server.start()
    return server
  }

  @Test(arguments: troubles)
  func `an APNs that cannot be spoken to sends nobody anything`(_ trouble: Trouble) async throws {
    try await Services.with { services in
      let peer = try await trouble.make(services)
      let apns = try await services.apns {
        $0.endpoint = peer.endpoint
        $0.caFile = peer.caFile
      }
      let result = try await apns.send(to: Services.apnsTokens(30))
      expect(result, trouble, of: 30)
      await apns.close()
      if let server = peer.keeps as? HTTPServer { await server.stop() }
    }
  }

  @Test func `an OAuth endpoint that is not trusted gets no assertion, and the fault names it`() async throws {
    try await Services.with { services in
      let path = try services.folder.write("other.pem", try CertificateAuthority().certificatePEM)
      let fcm = try await services.fcm { $0.caFile = path }
      let result = try await fcm.send(to: Services.fcmTokens(5))
      #expect(result.notSent == 5)
      #expect(result.laneFault?.outcome == .jobFails)
      #expect(result.laneFault?.reason == .certificateNotTrusted)
      #expect(result.laneFault?.names == "CA file or OAuth endpoint")
      #expect(try await services.requests("oauth") == 0)
      await fcm.close()
    }
  }

  private func expect(_ result: CollectedSend, _ trouble: Trouble, of count: Int) {
    #expect(result.notSent == count)
    #expect(result.laneFault?.reason == trouble.reason)
    #expect(result.laneFault?.fault == trouble.fault)
    #expect(result.laneFault?.outcome == trouble.outcome)
    #expect(result.laneFault?.words?.isEmpty == false)
  }
}
