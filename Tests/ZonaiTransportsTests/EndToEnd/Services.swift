import Synchronization
import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiSimulator
import ZonaiTestKit
import ZonaiThreads

@testable import ZonaiTransports

/// A simulator with transports that speak to it over real TLS.
final class Services: Sendable {
  let folder: TemporaryFolder
  let simulator: Simulator
  private let configuration: JSON
  /// How far the transports' clocks have been turned.
  private let offset = Mutex<Int64>(0)
  /// Where the transports share their provider token, unless they are told otherwise, and its clock.
  let secrets: InMemoryStore
  let storeClock = TurnableClock(now: WallClock.milliseconds())

  init(_ options: SimulatorOptions = SimulatorOptions()) async throws {
    folder = try TemporaryFolder()
    simulator = try await Simulator(directory: folder.path + "/simulator", options: options)
    try simulator.start()
    configuration = try JSON(parsing: shell("cat '\(folder.path)/simulator/zonai.json'").output)
    secrets = InMemoryStore(on: MemoryDatabase(clock: storeClock))
    _ = try await secrets.migrate()
  }

  /// Runs the body with services that are ended afterwards, whatever happens.
  static func with(
    _ options: SimulatorOptions = SimulatorOptions(), _ body: (Services) async throws -> Void
  ) async throws {
    let services = try await Services(options)
    do { try await body(services) } catch {
      await services.simulator.stop()
      throw error
    }
    await services.simulator.stop()
  }

  var caFile: String { simulator.directory + "/ca.pem" }

  var clock: TransportClock { clock(wrongBy: 0) }

  /// That of a machine whose clock is wrong by so many minutes.
  func clock(wrongBy minutes: Int64) -> TransportClock {
    TransportClock(
      wall: { WallClock.milliseconds() + self.offset.withLock { $0 } + minutes * 60_000 },
      monotonic: { MonotonicClock.milliseconds() + self.offset.withLock { $0 } }, pause: { _ in })
  }

  /// Turns the clocks of the transports and of the store, and the simulator's with them.
  func turn(minutes: Int64) async throws { try await turn(milliseconds: minutes * 60_000) }

  func turn(milliseconds: Int64) async throws {
    offset.withLock { $0 += milliseconds }
    storeClock.advance(milliseconds: milliseconds)
    try await simulator.control("POST", "/clock", ["advanceMs": .integer(milliseconds)])
  }

  private func setting(_ lane: String, _ name: String) throws -> String {
    try #require(configuration[lane]?[name]?.string)
  }

  func apnsKeyPath() throws -> String { try simulator.directory + "/" + setting("apns", "keyFile") }

  func apns(_ change: (inout APNsConfiguration) throws -> Void = { _ in }) async throws -> APNsTransport {
    try await worker(registry: .process, change)
  }

  /// A transport as another process has it, on a machine whose clock is wrong by so many minutes.
  func worker(
    clockWrongBy minutes: Int64 = 0, registry: ProviderTokenRegistry = ProviderTokenRegistry(),
    _ change: (inout APNsConfiguration) throws -> Void = { _ in }
  ) async throws -> APNsTransport {
    var configuration = try APNsConfiguration(
      key: .file(apnsKeyPath()), keyId: setting("apns", "keyId"),
      teamId: setting("apns", "teamId"), bundleId: setting("apns", "bundleId"))
    configuration.endpoint = try Endpoint(simulator.endpoints.apns, setting: "endpoint")
    configuration.otherEndpoint = try Endpoint(simulator.endpoints.apnsSandbox, setting: "endpoint")
    configuration.caFile = caFile
    configuration.secrets = secrets
    try change(&configuration)
    return try await APNsTransport(configuration, clock: clock(wrongBy: minutes), registry: registry)
  }

  func fcm(_ change: (inout FCMConfiguration) throws -> Void = { _ in }) async throws -> FCMTransport {
    var configuration = try FCMConfiguration(
      serviceAccount: .file(simulator.directory + "/" + setting("fcm", "serviceAccount")))
    configuration.endpoint = try Endpoint(simulator.endpoints.fcm, setting: "endpoint")
    configuration.oauthEndpoint = try Endpoint(simulator.endpoints.oauth, setting: "endpoint")
    configuration.caFile = caFile
    try change(&configuration)
    return try await FCMTransport(configuration, clock: clock)
  }

  /// Every device got its message once, and nobody else.
  func expectInbox(_ count: Int, repeated: Int = 0, _ location: SourceLocation = #_sourceLocation) async throws {
    let inbox = try await simulator.control("GET", "/status")["inbox"]
    #expect(inbox?["recipients"]?.integer == Int64(count), sourceLocation: location)
    #expect(inbox?["repeated"]?.integer == Int64(repeated), sourceLocation: location)
  }

  /// The newest messages.
  func inbox(_ limit: Int = 100) async throws -> [JSON] {
    try await simulator.control("GET", "/inbox?limit=\(limit)")["messages"]?.array ?? []
  }

  /// The newest messages for one token.
  func inbox(_ limit: Int, token: String) async throws -> [JSON] {
    try await simulator.control("GET", "/inbox?limit=\(limit)&token=\(token)")["messages"]?.array ?? []
  }

  /// How many connections a lane has now.
  func openConnections(_ lane: String) async throws -> Int64 {
    try await simulator.control("GET", "/status")["lanes"]?[lane]?["open"]?.integer ?? 0
  }

  /// How often a lane answered this.
  func answers(_ lane: String, _ label: String) async throws -> Int64 {
    try await simulator.control("GET", "/status")["lanes"]?[lane]?["answers"]?[label]?.integer ?? 0
  }

  /// How many provider tokens the team has shown.
  func providerTokens() async throws -> Int64 {
    try await simulator.control("GET", "/credentials")["apns"]?["providerTokens"]?.integer ?? 0
  }

  func requests(_ lane: String) async throws -> Int64 {
    try await simulator.control("GET", "/status")["lanes"]?[lane]?["requests"]?.integer ?? 0
  }

  func connections(_ lane: String) async throws -> Int64 {
    try await simulator.control("GET", "/status")["lanes"]?[lane]?["connections"]?.integer ?? 0
  }

  func fault(_ fault: JSON) async throws { try await simulator.control("POST", "/faults", fault) }

  static func apnsTokens(_ count: Int) -> [String] {
    (0..<count).map { index in
      let text = String(index, radix: 16)
      return String(repeating: "0", count: 64 - text.count) + text
    }
  }

  static func fcmTokens(_ count: Int) -> [String] {
    (0..<count).map { "fcm-token-\($0):APA91b_abcdefghijklmnopqrstuvwxyz" }
  }
}

extension Transport {
  /// Sends one message to these tokens, all of them.
  func send(
    _ message: PushMessage = PushMessage(title: "t"), to tokens: [String], expiresAt: Int64? = nil,
    permit: SendPermit = SendPermit(validUntil: .max), expiresAtMoment: Int64? = nil
  ) async throws -> CollectedSend {
    let batch = PushBatch(
      message: try prepare(message), tokens: TokenList(tokens), selection: Array(tokens.indices), expiresAt: expiresAt,
      permit: permit, expiresAtMoment: expiresAtMoment)
    let log = AnswerLog(batch)
    let result = log.end(await send(batch) { log.take($0) })
    #expect(log.problems == [])
    return result
  }
}

extension CollectedSend {
  var delivered: Int { answers.count { if case .delivered = $0 { true } else { false } } }
  var notSent: Int { answers.count { $0 == nil } }

  var verdicts: [Verdict] {
    answers.compactMap { if case .answered(let verdict, _) = $0 { verdict } else { nil } }
  }

  /// The reasons of everything but deliveries, each once.
  var reasons: Set<Reason> { Set(verdicts.map(\.reason)) }

  var credentials: Set<UInt32> { Set(answers.compactMap { $0?.sent.credential }) }
}
