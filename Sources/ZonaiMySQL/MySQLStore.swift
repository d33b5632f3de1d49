import ZonaiCore
import ZonaiSQL

/// The store in a MySQL or MariaDB database that the application made.
///
///     let store = try MySQLStore(url: "mysql://zonai@db.internal/shop?ssl-mode=verify-identity")
///     _ = try await store.migrate()
public typealias MySQLStore = SQLStore<MySQLDriver>

extension SQLStore where Driver == MySQLDriver {
  /// Connects on first use.
  ///
  /// `clock` takes the place of the database's, in milliseconds since 1970: for tests, whose clock is one to turn.
  public init(
    _ address: MySQLAddress, options: MySQLOptions = MySQLOptions(), clock: (@Sendable () -> Int64)? = nil
  ) throws(StoreError) {
    self.init(driver: try MySQLDriver(address, options: options), limits: options.limits, clock: clock)
  }

  /// Connects on first use to what the URL names: `mysql://USER:PASSWORD@HOST:PORT/DATABASE`.
  ///
  /// Without a password, the environment's `MYSQL_PWD` or the client's option files give it: no command line need show it.
  public init(
    url: String, options: MySQLOptions = MySQLOptions(), clock: (@Sendable () -> Int64)? = nil
  ) throws(StoreError) {
    try self.init(try MySQLURL.address(url), options: options, clock: clock)
  }
}

/// How the server is used.
public struct MySQLOptions: Sendable, Hashable {
  /// How long calls may take, waiting for locks included.
  public var limits = StoreLimits()
  /// How many connections are opened at most, besides one that only renews leases. Two that read and two that write by
  /// default.
  public var connections = PoolSizes()
  /// How a server that went away is come back to.
  public var pooling = PoolLimits()
  /// How often a waiting worker asks whether another process has made work, in milliseconds. Half a second by default: one
  /// short read. A write of this process wakes it at once.
  public var pollMilliseconds: Int64 = 500

  public init() {}
}
