import Synchronization
import ZonaiCore
import ZonaiJSON
import ZonaiTestKit
import ZonaiThreads

@testable import ZonaiTransports

/// The transport suite's fixture for both services: the simulator is the peer, and the transport speaks to it over real TLS.
final class SimulatedFixture<Subject: Transport>: TransportFixture {
  /// Where one lane differs from the other.
  struct Wording: Sendable {
    let lane: String
    let makeTokens: @Sendable (Int) -> [String]
    let dead: JSON
    let throttled: JSON
    let refusedCredentials: JSON
    let refusedMessage: JSON
    /// An answer that nobody knows, around the token.
    let unknown: @Sendable (String) -> JSON
    /// When a message of the inbox expires, in milliseconds since 1970.
    let expiry: @Sendable (JSON) -> Int64?
  }

  let services: Services
  let transport: Subject
  let capabilities: TransportCapabilities
  private let wording: Wording
  /// What had been delivered when the peer was unplugged.
  private let lastDeliveries = Mutex<[DeliveredPush]?>(nil)

  init(_ services: Services, _ transport: Subject, concurrency: Int, wording: Wording) {
    self.services = services
    self.transport = transport
    self.wording = wording
    capabilities = TransportCapabilities(concurrency: concurrency)
  }

  var now: Int64 { MonotonicClock.milliseconds() }
  var wallClock: Int64 { services.clock.wall() }

  func tokens(_ count: Int) -> [String] { wording.makeTokens(count) }

  var oversizeMessage: PushMessage { PushMessage(title: "news", body: String(repeating: "x", count: 4097)) }

  func script(_ behaviour: PeerBehaviour, for token: String?, times: Int) async throws {
    var fault: [String: JSON] = ["lane": .string(wording.lane)]
    if let token { fault["token"] = .string(token) }
    if times != .max { fault["times"] = .integer(Int64(times)) }
    let effect: JSON =
      switch behaviour {
      case .reportDead: wording.dead
      case .throttle: wording.throttled
      case .fail: ["status": 503]
      case .refuseCredentials: wording.refusedCredentials
      case .refuseMessage: wording.refusedMessage
      case .quoteToken: wording.unknown(token ?? "that")
      case .loseAnswer: ["action": "drop", "deliver": true]
      case .staySilent: ["action": "silence", "deliver": true]
      case .refuseStream: ["action": "reset", "errorCode": "REFUSED_STREAM"]
      case .goAway: ["action": "goaway"]
      }
    fault.merge(effect.object ?? [:]) { _, new in new }
    try await services.fault(.object(fault))
  }

  func delivered() async throws -> [DeliveredPush] {
    if let last = lastDeliveries.withLock({ $0 }) { return last }
    return try await services.inbox(1_000_000).compactMap { message in
      message["token"]?.string.map { DeliveredPush(token: $0, expiresAt: wording.expiry(message)) }
    }
  }

  func requestsSeen() async throws -> Int { Int(try await services.requests(wording.lane)) }

  func waitUntilSeen(_ count: Int) async throws {
    while try await requestsSeen() < count { await Task.yield() }
  }

  /// Time is real here, and the limit short.
  func outlastTimeLimit() async throws {}

  func unplug() async throws {
    let last = try await delivered()
    lastDeliveries.withLock { $0 = last }
    await services.simulator.stop()
  }

  func renewCredential() async throws { try await services.turn(minutes: 57) }

  /// Long enough for the slowest machine to answer, short enough to wait for.
  static var requestTimeout: Int64 { 5000 }
}

extension SimulatedFixture<APNsTransport> {
  static func apns(_ services: Services) async throws -> SimulatedFixture {
    let transport = try await services.apns {
      $0.requestTimeout = requestTimeout
      $0.connectionsPerLane = 1
    }
    let wording = Wording(
      lane: "apns", makeTokens: Services.apnsTokens,
      dead: ["status": 410, "body": ["reason": "Unregistered", "timestamp": 1_700_000_000_000]],
      throttled: ["status": 429, "body": ["reason": "TooManyRequests"]],
      refusedCredentials: ["status": 403, "body": ["reason": "InvalidProviderToken"]],
      refusedMessage: ["status": 400, "body": ["reason": "BadCollapseId"]],
      unknown: { ["status": 400, "body": ["reason": .string("New \($0)")]] },
      expiry: { message in
        message["headers"]?["apns-expiration"]?.string.flatMap { Int64($0) }.map { $0 * 1000 }
      })
    return SimulatedFixture(services, transport, concurrency: 100, wording: wording)
  }
}

extension SimulatedFixture<FCMTransport> {
  static func fcm(_ services: Services) async throws -> SimulatedFixture {
    let transport = try await services.fcm {
      $0.requestTimeout = requestTimeout
      $0.connectionsPerLane = 1
    }
    @Sendable func error(
      _ status: Int64, _ word: String, _ text: String, _ code: String? = nil, _ field: String? = nil
    ) -> JSON {
      var details: [JSON] = []
      if let code {
        details.append(["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": .string(code)])
      }
      if let field {
        details.append([
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          "fieldViolations": [["field": .string(field), "description": "odd"]],
        ])
      }
      let body: JSON = [
        "code": .integer(status), "message": .string(text), "status": .string(word), "details": .array(details),
      ]
      return ["status": .integer(status), "body": ["error": body]]
    }
    let wording = Wording(
      lane: "fcm", makeTokens: Services.fcmTokens,
      dead: error(404, "NOT_FOUND", "Requested entity was not found.", "UNREGISTERED"),
      throttled: error(429, "RESOURCE_EXHAUSTED", "Device message rate exceeded", "QUOTA_EXCEEDED"),
      refusedCredentials: error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
      refusedMessage: error(
        400, "INVALID_ARGUMENT", "Invalid value", "INVALID_ARGUMENT", "message.android.ttl"),
      unknown: { error(409, "ABORTED", "what is \($0)?", "NEW_CODE") },
      expiry: { message in
        message["body"]?["message"]?["apns"]?["headers"]?["apns-expiration"]?.string.flatMap { Int64($0) }
          .map { $0 * 1000 }
      })
    return SimulatedFixture(services, transport, concurrency: 100, wording: wording)
  }
}
