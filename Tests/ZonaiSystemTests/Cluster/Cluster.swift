import Testing
import ZonaiJSON
import ZonaiSimulator
import ZonaiTestServers

/// A database server that may be struck, a simulator, and what is needed to start workers on both.
final class Cluster: Sendable {
  let server: PrivateServer
  let database: ServerDatabase
  let fleet: Fleet
  let simulator: Simulator
  let script: Script
  let folder: TemporaryFolder

  private init(_ kind: PrivateServer.Kind, devices: Int, settings: [String: JSON]) async throws {
    // What was committed outlives a kill of the server. Zonai asks PostgreSQL for that by itself.
    server = try await PrivateServer(
      kind, options: kind == .mariadb ? ["--innodb-flush-log-at-trx-commit=2"] : [])
    database = ServerDatabase(server: server)
    fleet = Fleet(count: devices, kind: kind)
    folder = try TemporaryFolder()
    simulator = try await Simulator(directory: folder["simulator"])
    try simulator.start()
    script = try Script(store: database.url, simulator: simulator, folder: folder, settings: settings)
  }

  /// Runs the body on a cluster whose table is filled and whose dead devices are known to the services.
  static func with(
    _ kind: PrivateServer.Kind, devices: Int, settings: [String: JSON] = [:],
    _ body: (Cluster) async throws -> Void
  ) async throws {
    let cluster = try await Cluster(kind, devices: devices, settings: settings)
    do {
      try await cluster.database.run(cluster.fleet.statements)
      let dead = cluster.fleet.dead.map { JSON.object(["token": .string($0.token), "state": "uninstalled"]) }
      try await cluster.simulator.control("POST", "/devices", .array(dead))
      try await body(cluster)
    } catch {
      await cluster.simulator.stop()
      throw error
    }
    await cluster.simulator.stop()
  }

  /// How many recipients are settled, as the jobs' rows say.
  var settled: Int {
    get async throws {
      try await database.number(
        "SELECT COALESCE(SUM(delivered + permanently_rejected + transiently_failed + expired), 0) FROM zonai_jobs")
    }
  }

  /// The state of the only job.
  var jobState: String {
    get async throws { try await database.run("SELECT state FROM zonai_jobs").first?.first ?? "" }
  }

  /// How many devices got a message, and how often one got another.
  var inbox: (recipients: Int, repeated: Int) {
    get async throws {
      let inbox = try await simulator.control("GET", "/status")["inbox"]
      return (Int(inbox?["recipients"]?.integer ?? -1), Int(inbox?["repeated"]?.integer ?? -1))
    }
  }
}
