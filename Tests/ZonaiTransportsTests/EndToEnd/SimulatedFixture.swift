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
    /// An answer that is not in the table, with this text wherever there is text.
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

  init(_ services: Services, _ transport: Subject, _ capabilities: TransportCapabilities, wording: Wording) {
    self.services = services
    self.transport = transport
    self.wording = wording
    self.capabilities = capabilities
  }

  var now: Int64 { MonotonicClock.milliseconds() }
  var wallClock: Int64 { services.clock.wall() }

  func tokens(_ count: Int) -> [String] { wording.makeTokens(count) }

  var oversizeMessage: PushMessage { PushMessage(title: "news", body: String(repeating: "x", count: 4097)) }

  func script(_ behaviour: PeerBehaviour, for token: String?, times: Int) async throws {
    var fault = effect(of: behaviour).object ?? [:]
    fault["lane"] = .string(wording.lane)
    if let token { fault["token"] = .string(token) }
    if times != .max { fault["times"] = .integer(Int64(times)) }
    try await services.fault(.object(fault))
  }

  private func effect(of behaviour: PeerBehaviour) -> JSON {
    switch behaviour {
    case .reportDead: wording.dead
    case .throttle(let wait): asking(wait, wording.throttled)
    case .fail(let wait): asking(wait, ["status": 503])
    case .refuseCredentials: wording.refusedCredentials
    case .refuseMessage: wording.refusedMessage
    case .say(let text): wording.unknown(text)
    case .loseAnswer(let loss): losing(loss)
    case .refuse(.stream): ["action": "reset", "errorCode": "REFUSED_STREAM"]
    case .refuse(.goAway): ["action": "goaway"]
    }
  }

  private func losing(_ loss: PeerBehaviour.Loss) -> JSON {
    switch loss {
    case .connectionReset: ["action": "drop", "deliver": true]
    case .connectionClosed: ["action": "close", "deliver": true]
    case .afterHead: ["action": "cut", "deliver": true]
    case .insideBody: wording.dead.with(["action": "cut", "bodyBytes": 20, "deliver": true])
    case .streamReset: ["action": "reset", "errorCode": "INTERNAL_ERROR", "deliver": true]
    case .silence: ["action": "silence", "deliver": true]
    }
  }

  private func asking(_ wait: PeerBehaviour.Wait?, _ answer: JSON) -> JSON {
    switch wait {
    case nil: answer
    case .seconds(let seconds): answer.with(["headers": ["retry-after": .integer(Int64(seconds))]])
    case .date(let seconds):
      // Whole minutes of one hour.
      answer.with([
        "headers": [
          "date": "Tue, 21 Jul 2026 07:00:00 GMT",
          "retry-after": .string("Tue, 21 Jul 2026 07:\(seconds / 60):00 GMT"),
        ]
      ])
    }
  }

  func delivered() async throws -> [DeliveredPush] {
    if let last = lastDeliveries.withLock({ $0 }) { return last }
    return try await services.inbox(1_000_000).compactMap { message in
      message["token"]?.string.map { DeliveredPush(token: $0, expiresAt: wording.expiry(message)) }
    }
  }

  func requestsSeen() async throws -> Int { Int(try await services.requests(wording.lane)) }

  func waitUntilDelivered(to token: String) async throws {
    while try await services.inbox(1, token: token).isEmpty { await Task.yield() }
  }

  func waitUntilDisconnected() async throws {
    while try await services.openConnections(wording.lane) > 0 { await Task.yield() }
  }

  /// Time is real here, and the limit short.
  func outlastTimeLimit() async throws {}

  func unplug() async throws {
    let last = try await delivered()
    lastDeliveries.withLock { $0 = last }
    await services.simulator.stop()
  }

  func renewCredential() async throws { try await services.turn(minutes: 60) }

  func scriptOtherEnvironment(_ behaviour: OtherEnvironmentBehaviour, for token: String) async throws {
    func register(_ state: JSON) async throws {
      try await services.simulator.control("PUT", "/devices/\(token)", ["state": state])
    }
    switch behaviour {
    case .knows: try await register("otherEnvironment")
    case .doesNotKnow: try await register("unknown")
    case .fails: try await services.fault(["lane": "apns-sandbox", "token": .string(token), "status": 503])
    }
  }

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
      lane: "apns", makeTokens: { MadeUpTokens.hexadecimal($0) },
      dead: ["status": 410, "body": ["reason": "Unregistered", "timestamp": 1_700_000_000_000]],
      throttled: ["status": 429, "body": ["reason": "TooManyRequests"]],
      refusedCredentials: ["status": 403, "body": ["reason": "InvalidProviderToken"]],
      refusedMessage: ["status": 400, "body": ["reason": "BadCollapseId"]],
      unknown: { ["status": 400, "body": ["reason": .string("New \($0)")]] },
      expiry: { message in
        message["headers"]?["apns-expiration"]?.string.flatMap { Int64($0) }.map { $0 * 1000 }
      })
    return SimulatedFixture(
      services, transport, TransportCapabilities(concurrency: 100, hasOtherEnvironment: true), wording: wording)
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
      lane: "fcm", makeTokens: makeTokens,
      dead: error(404, "NOT_FOUND", "Requested entity was not found.", "UNREGISTERED"),
      throttled: error(429, "RESOURCE_EXHAUSTED", "Device message rate exceeded", "QUOTA_EXCEEDED"),
      refusedCredentials: error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
      refusedMessage: error(
        400, "INVALID_ARGUMENT", "Invalid value", "INVALID_ARGUMENT", "message.android.ttl"),
      unknown: { error(409, "ABORTED", "what is \($0)?", "NEW_CODE \($0)") },
      expiry: { message in
        message["body"]?["message"]?["apns"]?["headers"]?["apns-expiration"]?.string.flatMap { Int64($0) }
          .map { $0 * 1000 }
      })
    // An instance id, which the application's own backend shows freely, and the secret behind it.
    let capabilities = TransportCapabilities(
      concurrency: 100, secrets: { $0.split(separator: ":").dropFirst().map(String.init) })
    return SimulatedFixture(services, transport, capabilities, wording: wording)
  }

  private static func makeTokens(_ count: Int) -> [String] {
    MadeUpTokens.text(count, length: 156).map { "\($0.prefix(22)):APA91b\($0.dropFirst(22))" }
  }
}

extension JSON {
  fileprivate func with(_ members: [String: JSON]) -> JSON {
    .object((object ?? [:]).merging(members) { _, new in new })
  }
}
