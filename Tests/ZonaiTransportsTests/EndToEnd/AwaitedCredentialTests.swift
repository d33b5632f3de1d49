import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiSimulator
import ZonaiTestKit

@testable import ZonaiTransports

/// Credentials that are slow to come: no send waits longer than it may.
@Suite(.timeLimit(.minutes(1))) struct AwaitedCredentialTests {
  /// How a send ends while its lane has no credential.
  enum End: CaseIterable, Sendable {
    case revoked
    case lapsed
    case cancelled
    case closed
  }

  @Test(arguments: End.allCases)
  func `a send that must stop while the token endpoint hangs opens no request`(_ end: End) async throws {
    try await Services.with { services in
      try await services.fault(["lane": "oauth", "action": "silence"])
      let fcm = try await services.fcm { $0.requestTimeout = 600_000 }
      try await expectUnsent(fcm, Services.fcmTokens(20), end) { try await services.requests("oauth") > 0 }
      #expect(try await services.requests("fcm") == 0)
      await fcm.close()
    }
  }

  @Test(arguments: End.allCases)
  func `a send that must stop while the store of provider tokens hangs opens no request`(
    _ end: End
  ) async throws {
    try await withHangingStore(requestTimeout: 600_000) { services, apns, secrets in
      try await expectUnsent(apns, Services.apnsTokens(20), end) { secrets.asked > 0 }
      #expect(try await services.requests("apns") == 0)
    }
  }

  @Test func `a send that must stop while a refused token is renewed names no recipient`() async throws {
    try await Services.with { services in
      let fcm = try await services.fcm { $0.requestTimeout = 600_000 }
      let tokens = Services.fcmTokens(50)
      #expect(try await fcm.send(to: tokens).delivered == 50)
      try await services.simulator.control("POST", "/credentials", ["lane": "fcm", "action": "expire"])
      try await services.fault(["lane": "oauth", "action": "silence"])
      let before = try await services.requests("oauth")
      try await expectUnsent(fcm, tokens, .revoked) { try await services.requests("oauth") > before }
      await fcm.close()
    }
  }

  @Test func `a credential that does not come in time is the service's fault, and names what is missing`()
    async throws
  {
    try await withHangingStore(requestTimeout: 100) { _, apns, _ in
      let result = try await apns.send(to: Services.apnsTokens(5))
      #expect(result.notSent == 5)
      #expect(result.laneFault?.fault == .service)
      #expect(result.laneFault?.outcome == .transientlyFailed)
      #expect(result.laneFault?.words?.contains("provider token") == true)
    }
  }

  /// A transport whose store of provider tokens gives no answer while the body runs.
  private func withHangingStore(
    requestTimeout: Int64, _ body: (Services, APNsTransport, CountingSecrets) async throws -> Void
  ) async throws {
    try await Services.with { services in
      let secrets = CountingSecrets()
      secrets.gate.shut()
      let apns = try await services.worker {
        $0.secrets = secrets
        $0.requestTimeout = requestTimeout
      }
      try await body(services, apns, secrets)
      secrets.gate.open()
      await apns.close()
    }
  }

  private func expectUnsent(
    _ transport: some Transport, _ tokens: [String], _ end: End, when isWaiting: () async throws -> Bool
  ) async throws {
    let permit = SendPermit(validUntil: end == .lapsed ? SendPermit.now + 300 : .max)
    let sending = Task { try await transport.send(to: tokens, permit: permit) }
    if end != .lapsed { while try await !isWaiting() { try await Task.sleep(for: .milliseconds(5)) } }
    switch end {
    case .revoked: permit.revoke()
    case .lapsed: break
    case .cancelled: sending.cancel()
    case .closed: await transport.close()
    }
    let result = try await sending.value
    #expect(result.notSent == tokens.count)
    #expect(result.laneFault == nil)
  }
}
