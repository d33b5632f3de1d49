import Testing
import ZonaiJSON
import ZonaiSimulator

/// A folder with a database of devices, migrated, and a simulator beside it.
final class Scene: Sendable {
  let folder: Folder
  let simulator: Simulator
  let database: Database
  let devices: [Device]

  struct Device: Sendable {
    let id: Int
    let platform: String
    let token: String
  }

  /// `devices` alternate between Android and iOS. The simulator is the suite's shared one, unless the test needs its own.
  init(devices count: Int = 10, ownSimulator: Bool = false) async throws {
    folder = try Folder()
    devices = (1...count).map { id in
      let digits = String(id, radix: 16)
      let hex = String(repeating: "0", count: 8 - digits.count) + digits
      return id % 2 == 1
        ? Device(id: id, platform: "android", token: "fcm-\(hex):APA91b" + String(repeating: "x", count: 120))
        : Device(id: id, platform: "ios", token: hex + String(repeating: "a1", count: 28))
    }
    database = Database(path: folder["app.db"])
    let rows = devices.map { "(\($0.id), '\($0.token)', '\($0.platform)', 1)" }.joined(separator: ",")
    try database.run(
      """
      CREATE TABLE devices (id INTEGER PRIMARY KEY, token TEXT, platform TEXT, active INTEGER);
      INSERT INTO devices VALUES \(rows);
      """)
    if let shared = SharedSimulator.current, !ownSimulator {
      simulator = shared
    } else {
      simulator = try await Simulator(directory: folder["simulator"])
      try simulator.start()
    }
    #expect(try await Shell.run("migrate", "--store", store).code == 0)
  }

  var store: String { "sqlite:\(database.path)" }

  /// Says what became of a device.
  func put(_ id: Int, _ state: JSON) async throws {
    try await simulator.control("PUT", "/devices/\(devices[id - 1].token)", state)
  }

  /// `push` with what is always said.
  func push(_ more: String...) async throws -> Shell.Ending { try await Shell.run(pushWords + more) }

  var pushWords: [String] {
    [
      "push", "--store", store, "--simulator", simulator.directory, "--table", "devices", "--token-column", "token",
      "--platform-column", "platform", "--title", "Hello", "--body", "World",
    ]
  }

  var workWords: [String] { ["work", "--store", store, "--simulator", simulator.directory] }

  /// The ids of devices without a token.
  var cleared: [String?] {
    get throws { try database.column("SELECT id FROM devices WHERE token IS NULL ORDER BY id") }
  }

  var jobs: Int { get throws { Int(try database.column("SELECT count(*) FROM zonai_jobs")[0] ?? "") ?? -1 } }

  /// A configuration of the simulator's, with more in it.
  func configuration(adding members: [String: JSON]) throws -> String {
    var file = try JSON(parsing: try Folder.read("\(simulator.directory)/zonai.json")).object ?? [:]
    file.merge(members) { _, new in new }
    return try Folder.write("\(simulator.directory)/more.json", JSON.object(file).text)
  }

  deinit {
    guard simulator.directory == folder["simulator"] else { return }
    let simulator = simulator
    Task { await simulator.stop() }
  }
}
