import Testing
import ZonaiCore
import ZonaiTestKit

/// Services that differ from FCM and APNs: their transports pass the suite, and it still notices
/// what is wrong with them.
@Suite struct TransportTraitTests {
  /// A service, the sound transport to it, and a mistake that its declaration brings into reach.
  struct Service: Sendable, CustomTestStringConvertible {
    let name: String
    let capabilities: TransportCapabilities
    let sound: TransportFlaw
    let flawed: TransportFlaw
    /// The check that must notice.
    let check: String

    var testDescription: String { name }
  }

  static let services: [Service] = [
    Service(
      name: "demands a time to live", capabilities: TransportCapabilities(concurrency: 100, timeToLive: .required),
      sound: requiring, flawed: nothing("takes a message without the time to live that the service demands"),
      check: "a message without a time to live is sent as the service demands, and no time is made up"),
    Service(
      name: "demands a time to live, and its transport has one of its own",
      capabilities: TransportCapabilities(concurrency: 100, timeToLive: .supplied(seconds: 86_400)),
      sound: .onBatch("supplies a day") { transport, batch in
        batch.with(expiresAt: batch.expiresAt ?? transport.clock.now + 86_400_000)
      },
      flawed: nothing("leaves the time to live out"),
      check: "a message without a time to live is sent as the service demands, and no time is made up"),
    Service(
      name: "knows no time to live", capabilities: TransportCapabilities(concurrency: 100, timeToLive: .unknown),
      sound: .onBatch("leaves the time to live out") { _, batch in batch.with(expiresAt: .some(nil)) },
      flawed: .onVerdict("takes a service in trouble for a dead token") { verdict, _ in
        if verdict.status == 503 { verdict = .dead }
      }, check: "a service in trouble stops no other recipient, and is not asked again"),
    Service(
      name: "throttles everything at once", capabilities: TransportCapabilities(concurrency: 100, throttle: .lane),
      sound: nothing("changes nothing"),
      flawed: .onVerdict("takes the lane's throttle for a device's") { verdict, _ in
        if verdict.status == 429 { verdict = .throttled(retryAfterMilliseconds: verdict.retryAfterMilliseconds) }
      }, check: "a throttle is told as the device's or the lane's, and is not asked again"),
    Service(
      name: "never throttles, never asks for a wait",
      capabilities: TransportCapabilities(concurrency: 100, throttle: nil, asksForSeconds: false, asksForDates: false),
      sound: .onVerdict("has no waits") { verdict, _ in verdict.retryAfterMilliseconds = nil },
      flawed: .onVerdict("makes up a wait") { verdict, _ in
        if verdict.status == 503 { verdict.retryAfterMilliseconds = 60_000 }
      }, check: "an answer that asks for no wait has none"),
    Service(
      name: "takes one call at a time, over no connection",
      capabilities: TransportCapabilities(
        concurrency: 1, refusals: [], losses: [.silence], renewsCredentials: false),
      sound: nothing("changes nothing"),
      flawed: .resending("sends again after a time-out") { $0.verdict?.reason == .timedOut },
      check: "a push is sent once and told as perhaps delivered if no answer ever comes"),
  ]

  @Test(arguments: services)
  func `a transport to a service of another kind passes`(_ service: Service) async throws {
    for check in TransportConformance<BrokenTransportFixture>.checks {
      try await check(BrokenTransportFixture(service.sound, service.capabilities))
    }
  }

  @Test(arguments: services)
  func `what is wrong with a transport to a service of another kind is noticed`(_ service: Service) async throws {
    let check = try #require(
      TransportConformance<BrokenTransportFixture>.checks.first { $0.name == service.check })
    await #expect(throws: CheckFailure.self) {
      try await check(BrokenTransportFixture(service.flawed, service.capabilities))
    }
  }

  private static func nothing(_ name: String) -> TransportFlaw { TransportFlaw(name) { _ in } }

  private static let requiring = TransportFlaw("refuses a message without a time to live") { flaw in
    flaw.prepare = { (transport, message) throws(MessageFault) in
      guard message.timeToLive != nil else {
        throw MessageFault(field: "timeToLive", "the service demands a time to live: set timeToLive")
      }
      return try transport.prepare(message)
    }
  }
}
