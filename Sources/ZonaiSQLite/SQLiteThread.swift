import ZonaiCore
import ZonaiSQL
import ZonaiThreads

/// One connection on one thread of its own: opened on first use, since opening may block.
actor SQLiteThread {
  private let executor: ThreadExecutor
  private let path: String
  private var connection: SQLiteConnection?
  private var isClosed = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(path: String, name: String) throws(StoreError) {
    do throws(ThreadStartError) {
      executor = try ThreadExecutor(name: name)
    } catch {
      throw StoreError(.unavailable, "\(error)")
    }
    self.path = path
  }

  func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, _ body: @Sendable (SQLiteConnection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try opened(until: deadline).transaction(mode, deadline: deadline, body)
  }

  /// The same for a transaction that writes; `didChange` is called when it has changed a row.
  func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, didChange: @Sendable () -> Void,
    _ body: @Sendable (SQLiteConnection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let connection = try opened(until: deadline)
    let before = connection.changes
    let result = try connection.transaction(mode, deadline: deadline, body)
    if connection.changes != before { didChange() }
    return result
  }

  private func opened(until deadline: Int64) throws(StoreError) -> SQLiteConnection {
    if let connection { return connection }
    if isClosed { throw StoreError(.unavailable, "the store was closed: open it again") }
    let opened = try SQLiteConnection(path: path)
    try opened.prepare(until: deadline)
    connection = opened
    return opened
  }

  func close() {
    connection = nil
    isClosed = true
    executor.close()
  }
}
