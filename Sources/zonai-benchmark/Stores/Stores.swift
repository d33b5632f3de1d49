import ZonaiCore
import ZonaiMySQL
import ZonaiPostgres
import ZonaiSQLite

/// The stores under measurement, and the job that all of them work on.
enum Stores {
  typealias Whole = TokenStore & JobStore & SchemaStore

  static func open(_ options: StoreOptions) throws -> any Whole {
    switch options.database {
    case .sqlite: try SQLiteStore(path: options.place)
    case .postgres: try PostgresStore(url: options.place)
    case .mysql: try MySQLStore(url: options.place)
    }
  }

  static let audience = Audience("device_tokens", token: "token", platform: .fixed(Platform("ios")))
  static let lane = Lane(
    identity: LaneIdentity(.apns, host: LaneIdentity.testHost), fingerprint: "benchmark")
  static let group = Group(transport: .apns, fingerprint: "benchmark/alert", platform: Platform("ios"))

  /// Every fiftieth recipient of a batch is dead.
  static let deadEvery = 50

  static func enqueue(in store: any Whole) async throws -> Job {
    let routes = Routes(configured: [.apns], audienceHasPlatform: true)
    let definition = JobDefinition(
      message: Lanes.message, audience: audience, policy: .clearColumn, routes: routes, attribution: [:])
    return try await store.enqueue(EnqueueRequest(definition: definition)).job
  }
}
