import Testing
import ZonaiJSON
import ZonaiSimulator

/// A database of any kind with 20 Android devices and one of Apple's, migrated, and configurations
/// that differ in what an app is bound to.
struct AppStage: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case sqlite, postgres, mysql

    static let there = allCases.filter { $0.server == nil || $0.server?.server != nil }

    fileprivate var server: ServerDatabase.Kind? { ServerDatabase.Kind(rawValue: rawValue) }
  }

  static let apple = String(repeating: "a1", count: 32)

  let simulator: Simulator
  let folder: Folder
  private let store: String

  /// Runs the body with a simulator of its own.
  static func with(_ kind: Kind, _ body: (AppStage) async throws -> Void) async throws {
    let folder = try Folder()
    let simulator = try await Simulator(directory: folder["simulator"])
    try simulator.start()
    do {
      try await with(kind, folder, simulator, body)
    } catch {
      await simulator.stop()
      throw error
    }
    await simulator.stop()
  }

  private static func with(
    _ kind: Kind, _ folder: Folder, _ simulator: Simulator, _ body: (AppStage) async throws -> Void
  ) async throws {
    let row = "INSERT INTO devices VALUES (21, '\(apple)', 'ios')"
    func play(_ store: String) async throws {
      let stage = AppStage(simulator: simulator, folder: folder, store: store)
      #expect(try await stage.zonai("migrate").code == 0)
      try await body(stage)
    }
    if let server = kind.server {
      try await ServerDatabase.with(server) { database in
        try await database.run(row)
        try await play(database.url(password: database.password))
      }
      return
    }
    let database = Database(path: folder["app.db"])
    let rows = (1...20).map { "(\($0), 'fcm-\($0):APA91b\(String(repeating: "x", count: 100))', 'android')" }
    try database.run(
      """
      CREATE TABLE devices (id INTEGER PRIMARY KEY, token TEXT, platform TEXT);
      INSERT INTO devices VALUES \(rows.joined(separator: ", "));
      \(row);
      """)
    try await play("sqlite:\(database.path)")
  }

  func zonai(_ words: String...) async throws -> Shell.Ending { try await zonai(words) }

  func zonai(_ words: [String]) async throws -> Shell.Ending {
    try await Shell.run(words, environment: ["ZONAI_STORE": store])
  }

  /// The same, and left running.
  func start(_ words: [String]) throws -> Shell { try Shell(words, environment: ["ZONAI_STORE": store]) }

  /// The simulator's configuration with another Firebase project, Apple environment or app.
  func configuration(
    _ name: String, project: String? = nil, sandbox: Bool = false, app: String? = nil
  ) throws -> [String] {
    var file = try JSON(parsing: try Folder.read("\(simulator.directory)/zonai.json")).object ?? [:]
    var fcm = file["fcm"]?.object ?? [:]
    if let project { fcm["projectId"] = .string(project) }
    var apns = file["apns"]?.object ?? [:]
    apns["useSandbox"] = .bool(sandbox)
    (file["fcm"], file["apns"], file["pollSeconds"]) = (.object(fcm), .object(apns), 0.1)
    file["app"] = app.map { .string($0) }
    let path = try Folder.write("\(simulator.directory)/\(name).json", JSON.object(file).text)
    return ["--simulator", simulator.directory, "--config", path]
  }

  /// Records a job for all devices; its id.
  func push(_ lanes: [String]) async throws -> String {
    let pushed = try await zonai(pushWords + lanes)
    #expect(pushed.code == 0, "\(pushed.errors)")
    return try #require(try pushed.json["id"]?.string)
  }

  let pushWords = [
    "push", "--table", "devices", "--token-column", "token", "--platform-column", "platform", "--title", "Hello",
    "--json",
  ]

  func show(_ id: String) async throws -> JSON { try await zonai("jobs", "show", id, "--json").json }

  /// How many messages the services accepted.
  var accepted: Int64? {
    get async throws { try await simulator.control("GET", "/status")["inbox"]?["total"]?.integer }
  }

  func put(_ token: String, _ state: JSON) async throws {
    try await simulator.control("PUT", "/devices/\(token)", state)
  }
}
