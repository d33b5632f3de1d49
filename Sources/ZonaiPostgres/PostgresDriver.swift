import ZonaiCore
import ZonaiSQL

/// Connections to one PostgreSQL database: a pool, and one that listens for the work of others.
public final class PostgresDriver: SQLDriver {
  public let dialect = PostgresDialect()

  private let pool: ConnectionPool<PostgresConnection>
  private let notifier: PostgresNotifier

  init(address: String, options: PostgresOptions) throws(StoreError) {
    let connector = PostgresConnector(address: try PostgresAddress(address))
    let own = OwnProcesses()
    pool = try ConnectionPool(name: "zonai-pg", sizes: options.connections, limits: options.retries) {
      deadline throws(StoreError) in
      let connection = try PostgresConnection(connector, until: deadline)
      own.note(connection.link.process)
      return connection
    }
    notifier = PostgresNotifier(connector, bell: pool.bell, own: own, isOn: options.listens)
  }

  deinit { notifier.close() }

  public func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, _ body: @escaping @Sendable (PostgresConnection) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    try await pool.transaction(mode, deadline: deadline, body)
  }

  public var changes: Int { pool.bell.changes }
  public var connectedAt: Int64? { pool.connectedAt }

  public func uptime(on connection: PostgresConnection) throws(StoreError) -> Int64? {
    let statement = SQLStatement(
      text: "SELECT (EXTRACT(EPOCH FROM clock_timestamp() - pg_postmaster_start_time()) * 1000)::bigint", values: [],
      isReused: false)
    return try connection.first(statement) { row throws(StoreError) in row.integer(0) }
  }

  public func wait(after seen: Int, deadline: Int64) async throws(StoreError) {
    notifier.start()
    await pool.bell.wait(after: seen, until: deadline)
  }

  public func close() async {
    notifier.close()
    await pool.close()
  }
}
