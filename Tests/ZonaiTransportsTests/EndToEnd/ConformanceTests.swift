import Testing
import ZonaiSimulator
import ZonaiTestKit

@testable import ZonaiTransports

@Suite struct ConformanceTests {
  @Test(arguments: TransportConformance<SimulatedFixture<APNsTransport>>.checks)
  func `APNs conforms`(_ check: Check<SimulatedFixture<APNsTransport>>) async throws {
    // Few at once, so that the slowest machine answers each within the fixture's short limit.
    var options = SimulatorOptions()
    options.apnsStreamLimit = 100
    try await Services.with(options) { services in
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
