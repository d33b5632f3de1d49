import ZonaiCore

/// What an adapter brings: connections, each on a thread of its own, and the database's dialect.
public protocol SQLDriver: Sendable {
  associatedtype Connection: SQLConnection
  associatedtype Dialect: SQLDialect where Dialect.Connection == Connection

  var dialect: Dialect { get }

  /// Runs the body in one transaction on a connection's own thread: committed when it returns, rolled back when it throws.
  ///
  /// The deadline is a moment of `MonotonicClock`: until then it waits for locks, and a statement that runs on past it is
  /// interrupted. The body may block, and runs whether or not the calling task was cancelled meanwhile.
  func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, _ body: @escaping @Sendable (Connection) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result

  /// Rises with every commit that the driver hears of: with one of its own before the call that made it returns, with one
  /// of others at the latest while somebody waits.
  var changes: Int { get }

  /// Returns when something may have been committed since `changes` was `seen`, when the task is cancelled, or at the
  /// deadline.
  func wait(after seen: Int, deadline: Int64) async throws(StoreError)

  /// When the database was reached, or reached again after it had been away, as a moment of `MonotonicClock`; nil where it
  /// cannot be away, and before the first time.
  var connectedAt: Int64? { get }

  /// For how long the server has been running, in milliseconds; nil where nobody can tell, or there is none.
  func uptime(on connection: Connection) throws(StoreError) -> Int64?

  /// Ends connections and threads. Calls that come later throw `unavailable`.
  func close() async
}

extension SQLDriver {
  public func uptime(on connection: Connection) throws(StoreError) -> Int64? { nil }
}

/// What a transaction is for.
public enum SQLMode: Sendable, Hashable {
  /// Only reads, all from one moment of the database.
  case read
  case write
  /// A write that must not queue behind others: the renewal of leases.
  case renew
}

/// One connection, on its own thread. Only the body of a transaction sees it, and must not let it escape.
public protocol SQLConnection {
  associatedtype Row: SQLRow

  /// Runs one statement, hands over each row that it gives, and returns how many rows it changed (for an update: matched).
  @discardableResult
  func run(_ statement: SQLStatement, _ each: (Row) throws(StoreError) -> Void) throws(StoreError) -> Int

  /// Whether the transaction is still open. A database may end it by itself: SQLite does on `RAISE(ROLLBACK)`.
  var isInTransaction: Bool { get }

  /// Tells the waiting workers of other processes, once the transaction is committed, that it made work for them; does
  /// nothing where they find out by themselves.
  func announceWork() throws(StoreError)

  /// Makes constraints that are deferred to the commit speak now; throws `refused` when one is violated.
  func checkDeferredConstraints() throws(StoreError)
}

/// One row of a result, valid until the next one is asked for. Columns count from 0.
public protocol SQLRow {
  func isNull(_ column: Int) -> Bool
  func integer(_ column: Int) -> Int64
  func text(_ column: Int) -> String
  /// The bytes of text or a blob where they lie; empty for NULL.
  func bytes(_ column: Int) -> UnsafeRawBufferPointer
  /// The bytes of a device token: without padding that the column's type adds.
  func token(_ column: Int) -> UnsafeRawBufferPointer
  /// The value with the type that it has here; text that is not UTF-8 comes as bytes.
  func value(_ column: Int) -> Value
  /// The value of a key column. Throws for one that would not come back the same (text that is not UTF-8).
  func keyValue(_ column: Int) throws(StoreError) -> Value
  /// The column's name, as the statement gives it.
  func name(_ column: Int) -> String
  var columnCount: Int { get }
}

extension SQLRow {
  public func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }
  public func optionalText(_ column: Int) -> String? { isNull(column) ? nil : text(column) }
}

extension SQLConnection {
  @discardableResult
  public func run(_ statement: SQLStatement) throws(StoreError) -> Int {
    try run(statement) { _ throws(StoreError) in }
  }

  /// What `read` makes of the first row; nil when there is none.
  public func first<Result>(
    _ statement: SQLStatement, _ read: (Row) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    var result: Result?
    try run(statement) { row throws(StoreError) in
      if result == nil { result = try read(row) }
    }
    return result
  }

  /// What `read` makes of each row.
  public func all<Result>(
    _ statement: SQLStatement, _ read: (Row) throws(StoreError) -> Result
  ) throws(StoreError) -> [Result] {
    var results: [Result] = []
    try run(statement) { row throws(StoreError) in results.append(try read(row)) }
    return results
  }
}
