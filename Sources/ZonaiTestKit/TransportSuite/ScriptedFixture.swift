import ZonaiCore

/// The transport suite's fixture for `ScriptedTransport`; a fixture of a real service has this shape.
public struct ScriptedFixture: TransportFixture {
  public let transport: ScriptedTransport
  public let capabilities = TransportCapabilities(concurrency: 100)

  public init() { transport = ScriptedTransport(streams: 100) }

  public var now: Int64 { transport.clock.now }
  public var wallClock: Int64 { transport.clock.now }

  public func tokens(_ count: Int) -> [String] { (0..<count).map { "scripted-device-\($0)-of-\(count)" } }

  public var oversizeMessage: PushMessage {
    PushMessage(title: "news", body: String(repeating: "x", count: 4097))
  }

  public func script(_ behaviour: PeerBehaviour, for token: String?, times: Int) async throws {
    if behaviour == .staySilent { transport.answersGate.shut() }
    let verdict = ScriptedFixture.verdict(behaviour, token)
    if let token {
      transport.answer(token, with: verdict, times: times)
    } else {
      transport.answerEverybody(with: verdict)
    }
  }

  public func delivered() async throws -> [DeliveredPush] {
    transport.sent.filter { $0.verdict.outcome == .delivered || $0.verdict.answerMayBeLost }
      .map { DeliveredPush(token: $0.token.text, expiresAt: $0.expiresAt) }
  }

  public func requestsSeen() async throws -> Int { transport.sent.count }

  public func waitUntilSeen(_ count: Int) async throws { await transport.waitUntilSent(count) }

  public func outlastTimeLimit() async throws { transport.answersGate.open() }

  public func unplug() async throws {
    transport.breakLane(Verdict(.transientlyFailed, fault: .connection, retry: .attempts, reason: .cannotConnect))
  }

  public func renewCredential() async throws { transport.renewCredential() }

  private static func verdict(_ behaviour: PeerBehaviour, _ token: String?) -> Verdict {
    switch behaviour {
    case .reportDead: return .dead
    case .throttle: return .throttled()
    case .fail: return .serviceAway()
    case .refuseCredentials: return .credentialsRefused
    case .refuseMessage: return .messageRefused
    case .loseAnswer: return .answerLost
    case .staySilent: return .timedOut
    case .refuseStream, .goAway: return .notHandled
    case .quoteToken:
      var verdict = Verdict.unheardOf
      verdict.words = "what is \(token ?? "that")?"
      return verdict
    }
  }
}
