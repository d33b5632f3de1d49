import ZonaiJSON
import ZonaiSimulator

/// `zonai simulate`: a local FCM and APNs, until it is told to stop.
struct SimulateCommand: Command {
  static let name = "simulate"
  static let summary = "run a local FCM and APNs that check signatures, for tests and for looking around"
  static let usage = "--dir DIR [--port-fcm N] [--port-oauth N] [--port-apns N] [--port-control N] [--json]"

  private static let directory = Option(
    "--dir", "DIR",
    "where to write ca.pem, new keys, zonai.json, and simulator.json last: a new or empty folder, or an earlier simulator's"
  )
  private static let fcmPort = Option<Int>(
    "--port-fcm", "N", "the port of FCM; the default is a free one", in: 1...65_535)
  private static let oauthPort = Option<Int>("--port-oauth", "N", "the port of Google's token endpoint", in: 1...65_535)
  private static let apnsPort = Option<Int>("--port-apns", "N", "the port of APNs", in: 1...65_535)
  private static let apnsSandboxPort = Option<Int>(
    "--port-apns-sandbox", "N", "the port of APNs' sandbox environment", in: 1...65_535)
  private static let controlPort = Option<Int>("--port-control", "N", "the port of the control", in: 1...65_535)

  static let options: OptionList = {
    var list = OptionList()
    list.add(directory)
    list.add(fcmPort)
    list.add(oauthPort)
    list.add(apnsPort)
    list.add(apnsSandboxPort)
    list.add(controlPort)
    list.add(Shared.json)
    list.add(Shared.help)
    return list
  }()

  static let notes = """
    It listens on 127.0.0.1 only and runs until ^C or SIGTERM. 'push' and 'work' find it with --simulator DIR. What it can be told
    while it runs (which devices are gone, which faults to show) is in docs/simulator.md:

      curl -X PUT "$(jq -r .control DIR/simulator.json)/devices/TOKEN" -H 'content-type: application/json' \\
        -d '{"state": "uninstalled"}'
    """

  private let directory: String
  private var simulatorOptions = SimulatorOptions()

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.noOperands()
    directory = try arguments.required(Self.directory)
    func port(_ option: Option<Int>) throws(CommandFailure) -> UInt16 { UInt16(try arguments.value(option) ?? 0) }
    simulatorOptions.fcmPort = try port(Self.fcmPort)
    simulatorOptions.oauthPort = try port(Self.oauthPort)
    simulatorOptions.apnsPort = try port(Self.apnsPort)
    simulatorOptions.apnsSandboxPort = try port(Self.apnsSandboxPort)
    simulatorOptions.controlPort = try port(Self.controlPort)
  }

  func run(_ context: Context) async throws -> ExitCode {
    let simulator = try await Simulator(directory: directory, options: simulatorOptions)
    try simulator.start()
    let endpoints = simulator.endpoints
    if context.console.isJSON {
      context.console.result([
        "dir": .string(directory), "fcm": .string(endpoints.fcm), "oauth": .string(endpoints.oauth),
        "apns": .string(endpoints.apns), "apnsSandbox": .string(endpoints.apnsSandbox),
        "control": .string(endpoints.control),
      ])
    } else {
      context.console.result(
        """
        FCM      \(endpoints.fcm)  (tokens from \(endpoints.oauth))
        APNs     \(endpoints.apns)  (sandbox at \(endpoints.apnsSandbox))
        control  \(endpoints.control)
        Keys, certificate and a configuration are in \(directory); use them with --simulator \(directory).
        """)
      context.console.note("simulating until ^C")
    }
    await context.interruption.first()
    await simulator.stop()
    if !context.console.isJSON { context.console.note("stopped; the files in \(directory) stay for a look") }
    return .done
  }
}
