import ZonaiCore
import ZonaiSQL

/// The store in a PostgreSQL database.
///
///     let store = try PostgresStore(url: "postgres://zonai@db.internal/shop?sslmode=verify-full")
///     _ = try await store.migrate()
public typealias PostgresStore = SQLStore<PostgresDriver>

extension SQLStore where Driver == PostgresDriver {
  /// Connects on first use. `url` goes to libpq as it is: a URL or `host=… dbname=…`, with TLS modes, several hosts, Unix
  /// sockets and `options`; what it leaves out comes from libpq's environment (`PGPASSWORD`), service and password files.
  ///
  /// Zonai's own tables are those that the search_path finds first. `clock` takes the place of the database's, in
  /// milliseconds since 1970: for tests, whose clock is one to turn.
  public init(
    url: String, options: PostgresOptions = PostgresOptions(), clock: (@Sendable () -> Int64)? = nil
  ) throws(StoreError) {
    self.init(
      driver: try PostgresDriver(address: url, options: options), limits: options.limits, clock: clock)
  }
}

/// How the database is used.
public struct PostgresOptions: Sendable, Hashable {
  /// How long calls may take, waiting for locks included.
  public var limits = StoreLimits()
  /// How many connections there are at most, besides one for renewals and one that listens.
  public var connections = PoolSizes()
  /// How often and how long it tries again when a connection is lost or a dead-lock was.
  public var retries = PoolLimits()
  /// Whether a waiting worker hears of others' work at once (LISTEN), for one connection more. On by default; without it
  /// the worker looks when its poll is over.
  public var listens = true

  public init() {}
}
