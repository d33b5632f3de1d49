import ZonaiCore
import ZonaiJSON
import ZonaiSimulator
import ZonaiSQLite

/// The whole system at work on this machine alone, through the API that programs use.
struct Demo {
  let script: DemoScript
  let console: Console
  let directory: String
  let simulator: Simulator
  let store: SQLiteStore

  static let storeURL = "sqlite:app.db"
  static let devicesQuery = "SELECT id, reader_id, platform, model, token FROM device_tokens ORDER BY id"
  static let usersQuery = "SELECT id, email, active, phone, push_token FROM users ORDER BY id"

  static let devices = Audience("device_tokens", token: "token", platform: .column("platform"))
  static let users = Audience(
    "users", token: "push_token", platform: .column("phone"), where: Column("active") == 1)
  static let message = PushMessage(title: "The new issue is out", body: "Read it now", data: ["issue": "42"])

  // MARK: The scene

  func setTheScene() async throws -> (devices: [[String?]], users: [[String?]]) {
    script.step(
      "A local FCM and APNs, with real TLS, HTTP/2 and signatures.", ["zonai", "simulate", "--dir", "simulator"])
    try simulator.start()
    script.detail("FCM at \(simulator.endpoints.fcm), APNs at \(simulator.endpoints.apns)")

    script.step("The application's database: device_tokens, and users with a token column of its own.")
    script.detail("$ sqlite3 app.db <app.sql")
    let database = try DemoDatabase(creating: "\(directory)/app.db")
    try database.run(DemoData.sql)
    let before = (devices: try database.rows(Self.devicesQuery), users: try database.rows(Self.usersQuery))
    script.say(DemoTable.text(before.devices))
    script.say("")
    script.say(DemoTable.text(before.users))

    script.step("Zonai's own tables beside them.", ["zonai", "migrate", "--store", Self.storeURL])
    _ = try await store.migrate()
    return before
  }

  // MARK: The world

  func letThingsHappen() async throws {
    script.step(
      "Meanwhile, out in the world ($CONTROL is \(simulator.endpoints.control), $JSON 'content-type: application/json'):"
    )
    for id in DemoData.uninstalledDevices {
      let device = DemoData.devices[id - 1]
      try await control(
        "PUT", "/devices/\(device.token)", ["state": "uninstalled"], "the \(device.model)")
    }
    let reader = DemoData.readers[DemoData.uninstalledReader - 1]
    try await control(
      "PUT", "/devices/\(reader.token)", ["state": "uninstalled"], "reader-\(reader.id)'s phone")
    let busy = DemoData.devices[DemoData.throttledDevice - 1]
    try await control(
      "PUT", "/devices/\(busy.token)", ["state": "throttled", "retryAfterSeconds": 1],
      "the \(busy.model)")
    try await control(
      "POST", "/credentials", ["lane": "apns", "action": "revoke"], "Apple's key lapses: step 5 is to fail")
  }

  func control(_ method: String, _ path: String, _ body: JSON, _ words: String) async throws {
    let shown = path.count > 30 ? path.prefix(21) + "…" : path
    script.detail("$ curl -X \(method) \"$CONTROL\(shown)\" -H \"$JSON\" -d '\(body.text)'  # \(words)")
    try await simulator.control(method, path, body)
  }

  // MARK: Working

  /// A `Zonai` as a program would have it, with the keys as they are in the folder now.
  func zonai<Result: Sendable>(_ body: (Zonai) async throws -> Result) async throws -> Result {
    let arguments = try Arguments(["--simulator", "\(directory)/simulator"], options: PushCommand.options)
    let lanes = try LaneOptions(arguments)
    let transports = try await lanes.open(console, secrets: store)
    let script = script
    return try await transports.whileOpen {
      try await body(
        try Zonai(
          store: store, transports: transports, options: lanes.configuration.options,
          onPushRejected: { rejection in
            script.detail("hook: \(Demo.name(rejection)) is lost, \(rejection.transport) says \(rejection.reason)")
            return .followPolicy
          }))
    }
  }

  private static func name(_ rejection: PushRejection) -> String {
    func text(_ column: String) -> String? {
      if case .text(let text) = rejection.row[column] { text } else { nil }
    }
    if let model = text("model") { return "the \(model) (\(rejection.platform))" }
    return "\(text("email") ?? "somebody")'s phone (\(rejection.platform))"
  }

  func rows(_ query: String) throws -> [[String?]] { try DemoDatabase(creating: "\(directory)/app.db").rows(query) }
}
