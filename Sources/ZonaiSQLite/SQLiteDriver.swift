import Synchronization
import ZonaiCore
import ZonaiSQL
import ZonaiThreads

/// Connections to one SQLite file: one that writes, a few that read, one that only renews leases, and one that watches
/// for writes of others.
public final class SQLiteDriver: SQLDriver {
  public let dialect = SQLiteDialect()

  private let writer: SQLiteThread
  /// Waits for the file's lock like the writer, but not behind the writer's own queue.
  private let renewer: SQLiteThread
  private let readers: [SQLiteThread]
  private let load: Mutex<[Int]>
  private let watcher: SQLiteWatcher

  init(path: String, options: SQLiteOptions) throws(StoreError) {
    guard !path.isEmpty else { throw StoreError(.invalidRequest, "the path is empty: name the database file") }
    writer = try SQLiteThread(path: path, name: "zonai-write")
    renewer = try SQLiteThread(path: path, name: "zonai-renew")
    var readers: [SQLiteThread] = []
    for number in 1...max(1, options.readers) {
      readers.append(try SQLiteThread(path: path, name: "zonai-read-\(number)"))
    }
    self.readers = readers
    load = Mutex(Array(repeating: 0, count: readers.count))
    watcher = try SQLiteWatcher(path: path, pollMilliseconds: options.pollMilliseconds)
  }

  deinit { watcher.close() }

  public func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, _ body: @escaping @Sendable (SQLiteConnection) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    switch mode {
    case .read:
      let index = load.withLock { load in
        let index = load.indices.min { load[$0] < load[$1] } ?? 0
        load[index] += 1
        return index
      }
      defer { load.withLock { $0[index] -= 1 } }
      return try await readers[index].transaction(mode, deadline: deadline, body)
    case .write:
      let watcher = watcher
      // One that changed nothing is no news: whoever waits for a lease to end would go round and round.
      return try await writer.transaction(mode, deadline: deadline, didChange: { watcher.noteWrite() }, body)
    case .renew: return try await renewer.transaction(mode, deadline: deadline, body)
    }
  }

  public var changes: Int { watcher.changes }

  /// A file is there or it is not.
  public var connectedAt: Int64? { nil }
  public func uptime(on connection: SQLiteConnection) throws(StoreError) -> Int64? { nil }

  public func wait(after seen: Int, deadline: Int64) async throws(StoreError) {
    await watcher.wait(after: seen, until: deadline)
  }

  public func close() async {
    watcher.close()
    for thread in readers + [writer, renewer] { await thread.close() }
  }
}
