import ZonaiCore

/// The transport suite's fixture for `ScriptedTransport`; a fixture of a real service has this shape.
public struct ScriptedFixture: TransportFixture {
  public let transport: ScriptedTransport
  public let capabilities: TransportCapabilities

  public init() { self.init(TransportCapabilities(concurrency: 100, hasOtherEnvironment: true)) }

  /// As a service with other capabilities has it; its tokens are of the form `instance:secret`.
  public init(_ capabilities: TransportCapabilities) {
    transport = ScriptedTransport(
      streams: capabilities.concurrency, otherEnvironment: capabilities.hasOtherEnvironment ? .canBeAsked : .none)
    var capabilities = capabilities
    capabilities.secrets = { $0.split(separator: ":").dropFirst().map(String.init) }
    self.capabilities = capabilities
  }

  public var now: Int64 { transport.clock.now }
  public var wallClock: Int64 { transport.clock.now }

  public func tokens(_ count: Int) -> [String] {
    MadeUpTokens.text(count, length: 80).enumerated().map { "device-\($0):\($1)" }
  }

  public var oversizeMessage: PushMessage { message(body: String(repeating: "x", count: 4097)) }

  public func script(_ behaviour: PeerBehaviour, for token: String?, times: Int) async throws {
    if behaviour == .loseAnswer(.silence) { transport.timeLimitGate.shut() }
    if let token {
      transport.answer(token, with: verdict(behaviour), times: times)
    } else {
      transport.answerEverybody(with: verdict(behaviour))
    }
  }

  public func delivered() async throws -> [DeliveredPush] {
    transport.sent.filter { $0.verdict.outcome == .delivered || $0.verdict.answerMayBeLost }
      .map { DeliveredPush(token: $0.token.text, expiresAt: $0.expiresAt) }
  }

  public func waitUntilDelivered(to token: String) async throws { await transport.waitUntilSent(to: token) }

  public func requestsSeen() async throws -> Int { transport.sent.count }

  public func outlastTimeLimit() async throws { transport.timeLimitGate.open() }

  /// There are no connections.
  public func waitUntilDisconnected() async throws {}

  public func unplug() async throws {
    transport.breakLane(Verdict(.transientlyFailed, fault: .connection, retry: .attempts, reason: .cannotConnect))
  }

  public func renewCredential() async throws { transport.renewCredential() }

  public func scriptOtherEnvironment(_ behaviour: OtherEnvironmentBehaviour, for token: String) async throws {
    switch behaviour {
    case .knows: transport.answerCheck(token, with: .aliveThere(.wrongTopic))
    case .doesNotKnow: transport.answerCheck(token, with: .unknownThere)
    case .fails: transport.answerCheck(token, with: .undecided("the other environment answers 503"))
    }
  }

  private func verdict(_ behaviour: PeerBehaviour) -> Verdict {
    switch behaviour {
    case .reportDead: return .dead
    case .throttle(let wait):
      let milliseconds = wait.map { Int64($0.seconds) * 1000 }
      guard capabilities.throttle == .lane else { return .throttled(retryAfterMilliseconds: milliseconds) }
      var verdict = Verdict.serviceAway(retryAfterMilliseconds: milliseconds)
      verdict.status = 429
      verdict.slowsLane = true
      return verdict
    case .fail(let wait): return .serviceAway(retryAfterMilliseconds: wait.map { Int64($0.seconds) * 1000 })
    case .refuseCredentials: return .credentialsRefused
    case .refuseMessage: return .messageRefused
    case .loseAnswer(let loss):
      var verdict = loss == .silence ? Verdict.timedOut : .answerLost
      verdict.words = loss.rawValue
      return verdict
    case .refuse: return .notHandled
    case .say(let text):
      var verdict = Verdict.unheardOf
      verdict.words = "what is \(text)?"
      return verdict
    }
  }
}
