import Testing
import ZonaiTestKit

@testable import ZonaiTransports

@Suite struct ConformanceTests {
  @Test(arguments: TransportConformance<SimulatedFixture<APNsTransport>>.checks)
  func `APNs conforms`(_ check: Check<SimulatedFixture<APNsTransport>>) async throws {
    try await Services.with { services in
      let fixture = try await SimulatedFixture<APNsTransport>.apns(services)
      try await check(fixture)
      await fixture.transport.close()
    }
  }

  @Test(arguments: TransportConformance<SimulatedFixture<FCMTransport>>.checks)
  func `FCM conforms`(_ check: Check<SimulatedFixture<FCMTransport>>) async throws {
    try await Services.with { services in
      let fixture = try await SimulatedFixture<FCMTransport>.fcm(services)
      try await check(fixture)
      await fixture.transport.close()
    }
  }
}
