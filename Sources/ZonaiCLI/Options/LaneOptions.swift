import ZonaiCore
import ZonaiTransports

/// The options that say how the services are reached: a configuration, and for tests other servers in their place.
struct LaneOptions: Sendable {
  private static let config = Option(
    "--config", "FILE", "credentials and settings, see docs/configuration.md; with --simulator the simulator's own")
  private static let app = AppOption.option(
    "the app that the job or worker belongs to; overrides the file's \"app\". See docs/apps.md")
  private static let simulator = Option(
    "--simulator", "DIR", "send to the simulator that was started with --dir DIR, and to nobody else")
  private static let fcm = Option("--fcm-endpoint", "URL", "for tests: another server in FCM's place")
  private static let apns = Option("--apns-endpoint", "URL", "for tests: another server in APNs' place")
  private static let apnsOther = Option(
    "--apns-other-endpoint", "URL", "for tests: another server in the place of APNs' other environment")
  private static let oauth = Option(
    "--oauth-endpoint", "URL", "for tests: another server in the place of Google's token endpoint")
  private static let caFile = Option("--ca-file", "FILE", "for tests: trust the authorities in this file as well")

  static func add(to options: inout OptionList) {
    options.add(config)
    options.add(app)
    options.add(simulator)
  }

  /// The options that are for tests alone, which a help shows last.
  static func addServers(to options: inout OptionList) {
    options.add(fcm)
    options.add(apns)
    options.add(apnsOther)
    options.add(oauth)
    options.add(caFile)
  }

  let configuration: Configuration
  /// The app that the process works for: the option's, else the file's, else the default one.
  let app: AppName
  private let servers: Servers
  private let simulator: SimulatorFile?
  /// What the `work` line that is suggested after a push repeats.
  let repeated: [String]

  /// Who is in the services' place; nil each, and it is they.
  struct Servers: Sendable {
    var fcm: Endpoint?
    var oauth: Endpoint?
    var apns: Endpoint?
    var apnsOther: Endpoint?
    var caFile: String?
  }

  init(_ arguments: Arguments) throws(CommandFailure) {
    let directory = try arguments.value(Self.simulator)
    simulator = try directory.map { directory throws(CommandFailure) in try SimulatorFile(in: directory) }
    guard let file = try arguments.value(Self.config) ?? directory.map({ "\($0)/zonai.json" }) else {
      throw .usage("--config FILE is missing")
    }
    var repeated: [String] = []
    var servers = Servers(caFile: simulator?.caFile)
    for option in [Self.config, Self.simulator, Self.fcm, Self.apns, Self.apnsOther, Self.oauth, Self.caFile] {
      guard let value = try arguments.value(option) else { continue }
      repeated += [option.name, value]
      guard ![Self.config.name, Self.simulator.name].contains(option.name) else { continue }
      if directory != nil { throw .usage("--simulator names all servers; leave \(option.name) out") }
      if option.name == Self.caFile.name { servers.caFile = value }
    }
    let app = try arguments.value(Self.app)
    if let app { repeated += [AppOption.name, app.rawValue] }
    func endpoint(_ option: Option<String>, _ simulated: Endpoint?) throws(CommandFailure) -> Endpoint? {
      guard let text = try arguments.value(option) else { return simulated }
      do { return try Endpoint(text, setting: option.name) } catch { throw .usage("\(option.name): \(error.sentence)") }
    }
    servers.fcm = try endpoint(Self.fcm, simulator?.fcm)
    configuration = try Configuration(file: file)
    let isSandbox = configuration.apns?.useSandbox ?? false
    servers.apns = try endpoint(Self.apns, isSandbox ? simulator?.apnsSandbox : simulator?.apns)
    servers.apnsOther = try endpoint(Self.apnsOther, isSandbox ? simulator?.apns : simulator?.apnsSandbox)
    servers.oauth = try endpoint(Self.oauth, simulator?.oauth)
    self.servers = servers
    self.repeated = repeated
    self.app = app ?? configuration.app ?? .standard
  }

  /// Opens every lane that the configuration has. With `--simulator` it is asked first whether it is there.
  ///
  /// Nothing is sent yet; keys are read, and what should not stay as it is becomes a note.
  func open(_ console: Console, secrets: (any SecretStore)? = nil) async throws(CommandFailure) -> [any Transport] {
    if let simulator { try await simulator.ask() }
    let lanes = try await Lanes.open(configuration, servers: servers, secrets: secrets)
    for warning in lanes.warnings { console.note("warning: \(warning)") }
    return lanes.transports
  }
}

/// The lanes of a configuration, opened.
struct Lanes: Sendable {
  var transports: [any Transport] = []
  var warnings: [SetupWarning] = []

  static func open(
    _ configuration: Configuration, servers: LaneOptions.Servers, secrets: (any SecretStore)?
  ) async throws(CommandFailure) -> Lanes {
    var lanes = Lanes()
    do {
      if let settings = configuration.fcm {
        var fcm = FCMConfiguration(projectId: settings.projectId, serviceAccount: settings.serviceAccount)
        fcm.endpoint = servers.fcm
        fcm.oauthEndpoint = servers.oauth
        fcm.caFile = servers.caFile
        if let count = configuration.connectionsPerLane { fcm.connectionsPerLane = count }
        if let timeout = configuration.requestTimeout { fcm.requestTimeout = timeout }
        let transport = try await FCMTransport(fcm)
        lanes.transports.append(transport)
        lanes.warnings += transport.warnings
      }
      if let settings = configuration.apns {
        var apns = APNsConfiguration(
          key: settings.key, keyId: settings.keyId, teamId: settings.teamId, bundleId: settings.bundleId,
          useSandbox: settings.useSandbox)
        apns.endpoint = servers.apns
        apns.otherEndpoint = servers.apnsOther
        apns.allTokensAreOfThisEnvironment = settings.allTokensAreOfThisEnvironment
        apns.caFile = servers.caFile
        apns.secrets = settings.sharesProviderToken ? secrets : nil
        if let count = configuration.connectionsPerLane { apns.connectionsPerLane = count }
        if let timeout = configuration.requestTimeout { apns.requestTimeout = timeout }
        let transport = try await APNsTransport(apns)
        lanes.transports.append(transport)
        lanes.warnings += transport.warnings
      }
    } catch {
      for transport in lanes.transports { await transport.close() }
      throw CommandFailure(error)
    }
    return lanes
  }
}
