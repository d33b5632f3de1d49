import Synchronization
import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiSQLite
import ZonaiSimulator
import ZonaiThreads
import ZonaiTransports

/// Everything that a job meets in earnest: a file of SQLite's, transports over TLS, and services that check signatures.
final class Stage: Sendable {
  let folder: TemporaryFolder
  let simulator: Simulator
  let database: Database
  let store: SQLiteStore
  let events = Events()
  private let clock: TurnedClock
  private let opened = Mutex<[any Transport]>([])

  static let table = "CREATE TABLE devices (id INTEGER PRIMARY KEY, token TEXT, platform TEXT, seen INTEGER)"

  private init(table: String, options: SimulatorOptions) async throws {
    folder = try TemporaryFolder()
    simulator = try await Simulator(directory: folder["simulator"], options: options)
    try simulator.start()
    database = Database(path: folder["app.db"])
    try database.run(table)
    let clock = TurnedClock()
    self.clock = clock
    store = try SQLiteStore(path: database.path, clock: { clock.now })
    _ = try await store.migrate()
  }

  /// Runs the body on a stage that is cleared afterwards, whatever happens.
  static func with(
    _ devices: [Device] = [], table: String = Stage.table, options: SimulatorOptions = SimulatorOptions(),
    _ body: (Stage) async throws -> Void
  ) async throws {
    let stage = try await Stage(table: table, options: options)
    do {
      try stage.insert(devices)
      try await body(stage)
    } catch {
      await stage.clear()
      throw error
    }
    await stage.clear()
  }

  private func clear() async {
    for transport in opened.withLock({ $0 }) { await transport.close() }
    await store.close()
    await simulator.stop()
  }

  /// Turns the store's clock on, by which leases and waits end.
  func turn(seconds: Int64) { clock.turn(milliseconds: seconds * 1000) }

  // MARK: The table

  func insert(_ devices: [Device]) throws {
    guard !devices.isEmpty else { return }
    let rows = devices.map { "(\($0.id), \(quoted($0.token)), '\($0.platform)')" }
    try database.run("INSERT INTO devices (id, token, platform) VALUES \(rows.joined(separator: ","))")
  }

  var audience: Audience { Audience("devices", token: "token", platform: .column("platform")) }

  /// The ids of rows without a token.
  var cleared: [Int] {
    get throws {
      try database.rows("SELECT id FROM devices WHERE token IS NULL ORDER BY id").compactMap {
        $0[0].flatMap { Int($0) }
      }
    }
  }

  /// The table as it is, to be compared.
  var rows: [[String?]] { get throws { try database.rows("SELECT * FROM devices ORDER BY id") } }

  /// The state of the only job, as it stands in the file.
  var jobState: String {
    get throws { try #require(database.rows("SELECT state FROM zonai_jobs").first?.first ?? nil) }
  }

  // MARK: Lanes

  private func setting(_ lane: String, _ name: String) throws -> String {
    let file = try JSON(parsing: TemporaryFolder.read("\(simulator.directory)/zonai.json"))
    return try #require(file[lane]?[name]?.string)
  }

  /// FCM, as the simulator's configuration stands now.
  func fcm(_ change: (inout FCMConfiguration) throws -> Void = { _ in }) async throws -> FCMTransport {
    var configuration = try FCMConfiguration(
      serviceAccount: .file(simulator.directory + "/" + setting("fcm", "serviceAccount")))
    configuration.endpoint = try Endpoint(simulator.endpoints.fcm, setting: "fcm")
    configuration.oauthEndpoint = try Endpoint(simulator.endpoints.oauth, setting: "oauth")
    configuration.caFile = simulator.directory + "/ca.pem"
    configuration.connectionsPerLane = 1
    try change(&configuration)
    let transport = try await FCMTransport(configuration)
    opened.withLock { $0.append(transport) }
    return transport
  }

  /// APNs, as the simulator's configuration stands now.
  func apns(_ change: (inout APNsConfiguration) throws -> Void = { _ in }) async throws -> APNsTransport {
    var configuration = try APNsConfiguration(
      key: .file(simulator.directory + "/" + setting("apns", "keyFile")), keyId: setting("apns", "keyId"),
      teamId: setting("apns", "teamId"), bundleId: setting("apns", "bundleId"))
    configuration.endpoint = try Endpoint(simulator.endpoints.apns, setting: "apns")
    configuration.otherEndpoint = try Endpoint(simulator.endpoints.apnsSandbox, setting: "apns")
    configuration.caFile = simulator.directory + "/ca.pem"
    configuration.connectionsPerLane = 1
    configuration.secrets = store
    try change(&configuration)
    let transport = try await APNsTransport(configuration)
    opened.withLock { $0.append(transport) }
    return transport
  }

  /// An engine over both lanes, or over those that are given. It waits for milliseconds where it would wait for seconds.
  func zonai(
    _ transports: [any Transport]? = nil, options change: (inout ZonaiOptions) -> Void = { _ in },
    hook: PushRejectionHandler? = nil, observer: @escaping ZonaiObserver = { _ in }
  ) async throws -> Zonai {
    var options = ZonaiOptions()
    options.retryBaseSeconds = 0.01
    options.maxRetryDelaySeconds = 0.02
    change(&options)
    var lanes = transports ?? []
    if transports == nil { lanes = [try await fcm(), try await apns()] }
    return try Zonai(
      store: store, transports: lanes, options: options, onPushRejected: hook,
      observer: { [events] event in
        events.add(event)
        observer(event)
      })
  }

  // MARK: The services

  func put(_ device: Device, _ state: String) async throws {
    try await simulator.control("PUT", "/devices/\(device.token)", ["state": .string(state)])
  }

  func fault(_ fault: JSON) async throws { try await simulator.control("POST", "/faults", fault) }

  func forgetFaults() async throws { try await simulator.control("DELETE", "/faults") }

  func credentials(_ lane: String, _ action: String) async throws {
    try await simulator.control("POST", "/credentials", ["lane": .string(lane), "action": .string(action)])
  }

  func requests(_ lane: String) async throws -> Int { try await count("requests", of: lane) }

  func connections(_ lane: String) async throws -> Int { try await count("connections", of: lane) }

  private func count(_ name: String, of lane: String) async throws -> Int {
    Int(try await simulator.control("GET", "/status")["lanes"]?[lane]?[name]?.integer ?? 0)
  }

  /// How many messages were accepted, how many devices got one, and how often a device got another.
  var inbox: (total: Int, recipients: Int, repeated: Int) {
    get async throws {
      let inbox = try await simulator.control("GET", "/status")["inbox"]
      func number(_ name: String) -> Int { Int(inbox?[name]?.integer ?? -1) }
      return (number("total"), number("recipients"), number("repeated"))
    }
  }

  /// The tokens of the messages that were accepted.
  var inboxTokens: [String] {
    get async throws {
      try await simulator.control("GET", "/inbox?limit=10000")["messages"]?.array?.compactMap { $0["token"]?.string }
        ?? []
    }
  }
}

/// The wall clock, turned on.
private final class TurnedClock: Sendable {
  private let offset = Mutex<Int64>(0)
  var now: Int64 { WallClock.milliseconds() + offset.withLock { $0 } }
  func turn(milliseconds: Int64) { offset.withLock { $0 += milliseconds } }
}

/// What the observer heard.
final class Events: Sendable {
  private let heard = Mutex<[ZonaiEvent]>([])

  var all: [ZonaiEvent] { heard.withLock { $0 } }

  func add(_ event: ZonaiEvent) { heard.withLock { $0.append(event) } }

  func count(_ test: (ZonaiEvent) -> Bool) -> Int { all.count(where: test) }

  /// How often a batch was handed to this lane.
  func sends(_ lane: TransportName) -> Int {
    count { if case .sent(_, lane, _) = $0 { true } else { false } }
  }
}

extension Zonai {
  /// Records a job and works until nothing is due; the job as it is then.
  func push(to audience: Audience, policy: Policy? = nil) async throws -> Job {
    let job = try await push(.hello, to: audience, policy: policy, deletesReferencedRows: true)
    return try await drained(job.id)
  }

  /// Works until nothing is due; the job as it is then.
  func drained(_ id: JobID, sourceLocation: SourceLocation = #_sourceLocation) async throws -> Job {
    _ = try await drain()
    let job = try #require(try await job(id))
    job.expectToAddUp(sourceLocation)
    return job
  }
}

extension Job {
  /// Law 13, and the tally tells the same as the counts.
  func expectToAddUp(_ location: SourceLocation = #_sourceLocation) {
    #expect(counts.addsUp, sourceLocation: location)
    func told(_ outcome: TallyLine.Outcome) -> Int {
      tally.reduce(0) { $0 + ($1.outcome == outcome ? $1.count : 0) }
    }
    #expect(told(.delivered) == counts.delivered, sourceLocation: location)
    #expect(told(.transientlyFailed) == counts.transientlyFailed, sourceLocation: location)
    #expect(told(.expired) == counts.expired, sourceLocation: location)
    #expect(told(.pruned) == counts.pruned, sourceLocation: location)
    #expect(told(.spared) == counts.spared, sourceLocation: location)
    #expect(told(.kept) == counts.kept, sourceLocation: location)
  }

  /// What the account says beside an outcome.
  func details(_ outcome: TallyLine.Outcome) -> [String] {
    tally.filter { $0.outcome == outcome }.map { "\($0.reason.rawValue): \($0.detail)" }
  }
}

extension PushMessage {
  static let hello = PushMessage(title: "Hello", body: "World")
}
