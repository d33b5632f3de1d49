import ZonaiCore
import ZonaiThreads

/// A few connections to a database server, each on a thread of its own: some that read, some that write, and one that only
/// renews leases, so that a renewal never queues.
///
/// A connection that was lost is opened again with backoff, and the transaction's body runs anew when nothing of it can have
/// been committed; so it does after a dead-lock or a serialization failure. When a connection is lost during the commit,
/// nobody knows: the error says so (`mayBeCommitted`).
public final class ConnectionPool<Connection: PooledConnection>: Sendable {
  private struct Group {
    let threads: [PooledThread<Connection>]
    let free: FreeThreads
  }

  private let readers: Group
  private let writers: Group
  private let renewer: Group
  private let presence = Presence()

  /// Counts commits that changed something, and wakes who waits for them. A driver rings it for those of others too.
  public let bell = ChangeBell()

  /// `open` makes one connection, ready for use, by the deadline; it blocks on the connection's own thread.
  public init(
    name: String, sizes: PoolSizes = PoolSizes(), limits: PoolLimits = PoolLimits(),
    open: @escaping @Sendable (_ deadline: Int64) throws(StoreError) -> Connection
  ) throws(StoreError) {
    let presence = presence
    func group(_ role: String, _ count: Int) throws(StoreError) -> Group {
      var threads: [PooledThread<Connection>] = []
      for number in 1...max(1, count) {
        threads.append(
          try PooledThread(name: "\(name)-\(role)-\(number)", presence: presence, limits: limits, open: open))
      }
      return Group(threads: threads, free: FreeThreads(count: threads.count))
    }
    readers = try group("read", sizes.readers)
    writers = try group("write", sizes.writers)
    renewer = try group("renew", 1)
  }

  public func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, _ body: @escaping @Sendable (Connection) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    let group =
      switch mode {
      case .read: readers
      case .write: writers
      case .renew: renewer
      }
    let number = await group.free.take()
    defer { group.free.giveBack(number) }
    let bell = bell
    // A renewal makes no work for anybody, and a write that changed nothing is no news.
    return try await group.threads[number].transaction(
      mode, deadline: deadline, didChange: { if mode == .write { bell.ring() } }, body)
  }

  /// When the database was reached, or reached again after it had been away, in milliseconds of `MonotonicClock`; nil
  /// before the first time.
  public var connectedAt: Int64? { presence.connectedAt }

  /// Ends connections and threads, after the transactions that were begun.
  public func close() async {
    bell.close()
    let threads = readers.threads + writers.threads + renewer.threads
    for thread in threads { thread.interrupt() }
    for thread in threads { await thread.close() }
  }
}
