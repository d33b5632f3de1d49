import Testing
import ZonaiJSON

/// What a person types to send to a stage's devices.
struct Script: Sendable {
  private let stage: Stage
  private let configuration: String

  /// Small batches over single connections, unless the test says otherwise; `apns` goes beside the key.
  init(_ stage: Stage, settings: [String: JSON] = [:], apns: [String: JSON] = [:]) throws {
    self.stage = stage
    let directory = stage.simulator.directory
    var file = try JSON(parsing: TemporaryFolder.read("\(directory)/zonai.json")).object ?? [:]
    let usual: [String: JSON] = [
      "batchSize": 100, "batchesInFlight": 2, "connectionsPerLane": 1, "retryBaseSeconds": 0.05,
      "maxRetryDelaySeconds": 0.1, "pollSeconds": 0.1,
    ]
    file.merge(usual) { _, new in new }
    file.merge(settings) { _, new in new }
    file["apns"] = .object((file["apns"]?.object ?? [:]).merging(apns) { _, new in new })
    configuration = "\(directory)/script.json"
    try TemporaryFolder.write(configuration, JSON.object(file).text)
  }

  private var store: [String] { ["--store", "sqlite:\(stage.database.path)"] }
  private var lanes: [String] { ["--simulator", stage.simulator.directory, "--config", configuration] }

  /// Records the job; its id.
  func push() async throws -> String {
    let words = [
      "--table", "devices", "--token-column", "token", "--platform-column", "platform", "--title", "Hello", "--json",
    ]
    let output = try await Program.run(["push"] + store + lanes + words, in: stage.folder)
    return try #require(JSON(parsing: output)["id"]?.string)
  }

  /// Starts a worker.
  func work(_ more: String...) throws -> Program {
    try Program(["work"] + store + lanes + ["--json"] + more, in: stage.folder)
  }

  func show(_ id: String) async throws -> JSON {
    try JSON(parsing: await Program.run(["jobs", "show", id, "--json"] + store, in: stage.folder))
  }

  /// The state of the only job, as it stands in the file.
  var state: String {
    get throws { try #require(stage.database.rows("SELECT state FROM zonai_jobs").first?.first ?? nil) }
  }

  /// A batch that changed hands three times has stopped the job; whoever ends its workers says that it may go on.
  func resumeAfterTakeovers(_ id: String) async throws {
    let job = try await show(id)
    try #require(job["error"]?["code"] == "takeovers", "\(job["error"]?.text ?? "")")
    try await change(id, "resume")
  }

  /// `jobs cancel` or `jobs resume`.
  func change(_ id: String, _ action: String) async throws {
    try await Program.run(["jobs", action, id] + store, in: stage.folder)
  }
}

extension Program {
  /// The event ids of the rejections that it told of.
  var rejected: [String] { events.filter { $0["event"] == "rejected" }.compactMap { $0["eventId"]?.string } }
}
