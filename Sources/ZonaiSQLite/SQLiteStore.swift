import ZonaiCore
import ZonaiSQL

/// The store in an SQLite file that the application made.
///
///     let store = try SQLiteStore(path: "app.db")
///     _ = try await store.migrate()
public typealias SQLiteStore = SQLStore<SQLiteDriver>

extension SQLStore where Driver == SQLiteDriver {
  /// Opens the file at this path on first use.
  ///
  /// `clock` takes the place of the database's, in milliseconds since 1970: for tests, whose clock is one to turn.
  public init(
    path: String, options: SQLiteOptions = SQLiteOptions(), clock: (@Sendable () -> Int64)? = nil
  ) throws(StoreError) {
    self.init(
      driver: try SQLiteDriver(path: path, options: options), limits: options.limits, clock: clock)
  }

  /// Opens the file that the URL names on first use: `sqlite:FILE`, where FILE is a relative or absolute path, with
  /// anything odd in it percent-encoded.
  public init(
    url: String, options: SQLiteOptions = SQLiteOptions(), clock: (@Sendable () -> Int64)? = nil
  ) throws(StoreError) {
    try self.init(path: try SQLiteURL.path(url), options: options, clock: clock)
  }
}

/// How the file is used.
public struct SQLiteOptions: Sendable, Hashable {
  /// How long calls may take, waiting for other writers included.
  public var limits = StoreLimits()
  /// How many reads may go on at once. Two by default: one page and one question.
  public var readers = 2
  /// How often a waiting worker looks whether another process has written, in milliseconds. A look costs a few
  /// microseconds; a write of this process wakes it at once.
  public var pollMilliseconds: Int64 = 250

  public init() {}
}
