import Testing
import ZonaiCore
import ZonaiTransports

/// What an app is bound to: nothing that a new key, another port or a time limit changes.
struct LaneIdentityTests {
  private static let test = Endpoint(host: "127.0.0.1", port: 8443)

  private func fcm(_ change: (inout FCMConfiguration) -> Void = { _ in }) async throws -> Lane {
    var configuration = FCMConfiguration(serviceAccount: .inline(TestKeys.serviceAccount()))
    change(&configuration)
    let transport = try await FCMTransport(configuration)
    await transport.close()
    return transport.lane
  }

  private func apns(_ change: (inout APNsConfiguration) -> Void = { _ in }) async throws -> Lane {
    var configuration = APNsConfiguration(
      key: .inline(TestKeys.p256), keyId: "KEY1234567", teamId: "TEAM123456", bundleId: "com.example.app")
    change(&configuration)
    let transport = try await APNsTransport(configuration)
    await transport.close()
    return transport.lane
  }

  @Test func `FCM is a project at a host, and any server in its place is a test`() async throws {
    #expect("\(try await fcm().identity)" == "FCM project demo-project at fcm.googleapis.com")
    #expect("\(try await fcm { $0.projectId = "other" }.identity)" == "FCM project other at fcm.googleapis.com")
    let atTest = "FCM project demo-project at a test server"
    #expect("\(try await fcm { $0.endpoint = Self.test }.identity)" == atTest)
    #expect("\(try await fcm { $0.oauthEndpoint = Self.test }.identity)" == atTest)
    let elsewhere = try await fcm { $0.endpoint = Endpoint(host: "127.0.0.1", port: 9443) }
    #expect(try await fcm { $0.endpoint = Self.test }.identity == elsewhere.identity)
  }

  @Test func `APNs is environment, team and bundle id at a host, whatever the key`() async throws {
    let production = try await apns()
    #expect(
      "\(production.identity)"
        == "APNs production, team TEAM123456, bundle id com.example.app at api.push.apple.com")
    #expect(
      "\(try await apns { $0.useSandbox = true }.identity)"
        == "APNs sandbox, team TEAM123456, bundle id com.example.app at api.sandbox.push.apple.com")
    let atTest = try await apns { $0.endpoint = Self.test }
    #expect(atTest.identity.host == LaneIdentity.testHost)
    #expect(atTest.identity != production.identity)
    let otherKey = try await apns {
      $0.key = .inline(TestKeys.otherP256)
      $0.keyId = "OTHER12345"
    }
    #expect(otherKey.identity == production.identity)
    #expect(otherKey.fingerprint != production.fingerprint)
    #expect(try await apns { $0.teamId = "OTHER12345" }.identity != production.identity)
    #expect(try await apns { $0.bundleId = "com.example.other" }.identity != production.identity)
  }
}
