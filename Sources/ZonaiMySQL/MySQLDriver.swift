import Synchronization
import ZonaiCore
import ZonaiSQL
import ZonaiThreads

/// A few connections to one server, and a watch over those that fall silent.
public final class MySQLDriver: SQLDriver {
  public let dialect = MySQLDialect()

  private let pool: ConnectionPool<MySQLConnection>
  private let watch: SilenceWatch
  private let news: NewsDesk
  private let pollMilliseconds: Int64

  init(_ address: MySQLAddress, options: MySQLOptions) throws(StoreError) {
    let watch: SilenceWatch
    do throws(ThreadStartError) { watch = try SilenceWatch() } catch { throw StoreError(.unavailable, "\(error)") }
    self.watch = watch
    pool = try ConnectionPool(name: "zonai-my", sizes: options.connections, limits: options.pooling) {
      deadline throws(StoreError) in try MySQLConnection(address, watch: watch, until: deadline)
    }
    news = NewsDesk()
    pollMilliseconds = max(1, options.pollMilliseconds)
  }

  public func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, _ body: @escaping @Sendable (MySQLConnection) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    try await pool.transaction(mode, deadline: deadline, body)
  }

  public var changes: Int { pool.bell.changes }
  public var connectedAt: Int64? { pool.connectedAt }

  public func uptime(on connection: MySQLConnection) throws(StoreError) -> Int64? {
    // What both servers tell everybody, in whole seconds.
    let statement = SQLStatement(text: "SHOW GLOBAL STATUS LIKE 'Uptime'", values: [], isReused: false)
    return try connection.first(statement) { row throws(StoreError) in row.integer(1) * 1000 }
  }

  /// Asks the server every now and then whether others have made work, since it tells nobody by itself.
  public func wait(after seen: Int, deadline: Int64) async throws(StoreError) {
    while true {
      let now = MonotonicClock.milliseconds()
      await pool.bell.wait(after: seen, until: min(deadline, now + pollMilliseconds))
      let later = MonotonicClock.milliseconds()
      if pool.bell.changes != seen || later >= deadline || Task.isCancelled || news.isClosed { return }
      guard news.mayLook(at: later, after: pollMilliseconds / 2) else { continue }
      // A server that is away gives its sentence to whoever claims; here it has no news.
      let found = try? await pool.transaction(.read, deadline: min(deadline, later + NewsDesk.patience)) {
        connection throws(StoreError) in try NewsDesk.look(connection)
      }
      if let found, news.isNew(found) { pool.bell.ring() }
    }
  }

  public func close() async {
    news.close()
    await pool.close()
    watch.close()
  }
}

/// What was seen of the jobs that are open, in short: when it changes, there may be work.
final class NewsDesk: Sendable {
  private struct State {
    var lastLook = Int64.min
    var last: String?
    var isClosed = false
  }

  private let state = Mutex(State())

  /// How long a look may take, in milliseconds.
  static let patience: Int64 = 5000

  var isClosed: Bool { state.withLock { $0.isClosed } }
  func close() { state.withLock { $0.isClosed = true } }

  /// Of several who wait, one looks for all.
  func mayLook(at now: Int64, after pause: Int64) -> Bool {
    state.withLock { state in
      guard state.lastLook == .min || now - state.lastLook >= pause else { return false }
      state.lastLook = now
      return true
    }
  }

  /// The first look has nothing to compare with: something may have been written since the first claim.
  func isNew(_ found: String) -> Bool {
    state.withLock { state in
      defer { state.last = found }
      return state.last != found
    }
  }

  static func look(_ connection: MySQLConnection) throws(StoreError) -> String {
    // Leases that are renewed make no work, and so their ends are left out.
    let statement = SQLStatement(
      text: """
        SELECT CONCAT_WS(' ', (SELECT CONCAT_WS(' ', COUNT(*), MAX(id), MAX(resumed_at)) FROM zonai_jobs
        WHERE state IN ('pending', 'running')), (SELECT CONCAT_WS(' ', COUNT(*), COUNT(worker), SUM(fence),
        SUM(CASE WHEN worker IS NULL THEN due_at ELSE 0 END)) FROM zonai_batches))
        """, values: [])
    return try connection.first(statement) { row throws(StoreError) in row.text(0) } ?? ""
  }
}
