import Synchronization
import ZonaiCore
import ZonaiTestKit

/// The example's transport, with a gateway whose answers can be written.
struct PagerFixture: TransportFixture {
  let gateway = ScriptedGateway()
  let transport: PagerTransport
  // One call at a time. A call breaks off or is never answered, a busy gateway does not say for how long, and the password
  // stays as it is.
  let capabilities = TransportCapabilities(
    concurrency: 1, refusals: [.stream], losses: [.connectionClosed, .silence], asksForSeconds: false,
    asksForDates: false, renewsCredentials: false)

  init() { transport = PagerTransport(gateway: gateway) }

  var now: Int64 { SendPermit.now }
  // The gateway is told the moment itself; which clock it came from plays no part.
  var wallClock: Int64 { 1_700_000_000_000 }

  func tokens(_ count: Int) -> [String] { (0..<count).map { "0171-\(1_000_000 + $0)" } }
  var oversizeMessage: PushMessage { PushMessage(title: "news", body: String(repeating: "x", count: 235)) }

  func script(_ behaviour: PeerBehaviour, for token: String?, times: Int) async throws {
    gateway.write(behaviour, for: token, times: times)
  }
  func delivered() async throws -> [DeliveredPush] { gateway.state.withLock { $0.delivered } }
  func waitUntilDelivered(to token: String) async throws { await gateway.seen.wait { $0.contains(token) } }
  func requestsSeen() async throws -> Int { gateway.seen.count }
  func outlastTimeLimit() async throws { gateway.silence.open() }
  // The gateway is called directly.
  func waitUntilDisconnected() async throws {}
  func unplug() async throws { gateway.state.withLock { $0.isUnplugged = true } }
  func renewCredential() async throws {}
  func scriptOtherEnvironment(_ behaviour: OtherEnvironmentBehaviour, for token: String) async throws {}
}

/// A gateway that does what was written for it.
final class ScriptedGateway: PagerGateway {
  struct State: Sendable {
    var scripts: [(token: String?, behaviour: PeerBehaviour, times: Int)] = []
    var delivered: [DeliveredPush] = []
    var isUnplugged = false
    var isHungUp = false

    mutating func behaviour(for token: String) -> PeerBehaviour? {
      guard let index = scripts.firstIndex(where: { $0.times > 0 && ($0.token ?? token) == token }) else { return nil }
      if scripts[index].times < .max { scripts[index].times -= 1 }
      return scripts[index].behaviour
    }
  }

  let state = Mutex(State())
  /// The numbers that were called.
  let seen = Recording<String>()
  /// Shut while the gateway keeps silent.
  let silence = Gate()

  func write(_ behaviour: PeerBehaviour, for token: String?, times: Int) {
    if behaviour == .loseAnswer(.silence) { silence.shut() }
    state.withLock { $0.scripts.append((token, behaviour, times)) }
  }

  func page(
    _ number: ArraySlice<UInt8>, _ text: String, expiresAt: Int64?
  ) async throws(GatewayFailure) -> GatewayAnswer {
    let token = String(decoding: number, as: UTF8.self)
    let (isUnplugged, behaviour) = state.withLock { state in
      let behaviour = state.behaviour(for: token)
      guard !state.isUnplugged else { return (true, behaviour) }
      seen.append(token)
      switch behaviour {
      case nil, .loseAnswer: state.delivered.append(DeliveredPush(token: token, expiresAt: expiresAt))
      default: break
      }
      return (false, behaviour)
    }
    if isUnplugged { throw .noLine }
    switch behaviour {
    case nil: return .sent
    case .reportDead: return .noSuchPager
    case .throttle: return .pagerBusy
    case .fail: return .gatewayBusy
    case .refuseCredentials: return .badPassword
    case .refuseMessage: return .badText
    case .say: return .other(599)
    case .refuse: throw .notTaken
    case .loseAnswer(.silence):
      await silence.pass()
      throw state.withLock { $0.isHungUp } ? .lineLost : .noAnswer
    case .loseAnswer: throw .lineLost
    }
  }

  func hangUp() async {
    state.withLock { $0.isHungUp = true }
    silence.open()
  }
}
