import Testing
import ZonaiJSON
import ZonaiSimulator

/// What a person types to send to the devices of one store through a simulator.
struct Script: Sendable {
  private let store: [String]
  private let lanes: [String]
  private let folder: TemporaryFolder

  init(_ stage: Stage, settings: [String: JSON] = [:], apns: [String: JSON] = [:]) throws {
    try self.init(
      store: "sqlite:\(stage.database.path)", simulator: stage.simulator, folder: stage.folder, settings: settings,
      apns: apns)
  }

  /// Small batches over single connections, unless the test says otherwise; `apns` goes beside the key.
  init(
    store: String, simulator: Simulator, folder: TemporaryFolder, settings: [String: JSON] = [:],
    apns: [String: JSON] = [:]
  ) throws {
    let directory = simulator.directory
    var file = try JSON(parsing: TemporaryFolder.read("\(directory)/zonai.json")).object ?? [:]
    let usual: [String: JSON] = [
      "batchSize": 100, "batchesInFlight": 2, "connectionsPerLane": 1, "retryBaseSeconds": 0.05,
      "maxRetryDelaySeconds": 0.1, "pollSeconds": 0.1,
    ]
    file.merge(usual) { _, new in new }
    file.merge(settings) { _, new in new }
    file["apns"] = .object((file["apns"]?.object ?? [:]).merging(apns) { _, new in new })
    let configuration = "\(directory)/script.json"
    try TemporaryFolder.write(configuration, JSON.object(file).text)
    self.store = ["--store", store]
    self.folder = folder
    lanes = ["--simulator", directory, "--config", configuration]
  }

  /// Records the job; its id.
  func push() async throws -> String {
    let words = [
      "--table", "devices", "--token-column", "token", "--platform-column", "platform", "--title", "Hello", "--json",
    ]
    let output = try await Program.run(["push"] + store + lanes + words, in: folder)
    return try #require(JSON(parsing: output)["id"]?.string)
  }

  /// Starts a worker.
  func work(_ more: String...) throws -> Program {
    try Program(["work"] + store + lanes + ["--json"] + more, in: folder)
  }

  func show(_ id: String) async throws -> JSON {
    try JSON(parsing: await Program.run(["jobs", "show", id, "--json"] + store, in: folder))
  }

  /// A batch that changed hands three times has stopped the job; whoever ends its workers says that it may go on.
  func resumeAfterTakeovers(_ id: String) async throws {
    let job = try await show(id)
    try #require(job["error"]?["code"] == "takeovers", "\(job["error"]?.text ?? "")")
    try await change(id, "resume")
  }

  /// `jobs cancel` or `jobs resume`.
  func change(_ id: String, _ action: String) async throws {
    try await Program.run(["jobs", action, id] + store, in: folder)
  }
}

extension Program {
  /// The event ids of the rejections that it told of.
  var rejected: [String] { events.filter { $0["event"] == "rejected" }.compactMap { $0["eventId"]?.string } }
}
