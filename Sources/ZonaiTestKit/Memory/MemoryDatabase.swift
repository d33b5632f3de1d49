import Synchronization
import ZonaiCore

/// A database in memory: the application's tables and Zonai's own, for any number of `InMemoryStore` handles.
///
/// Each change is one transaction behind one lock: it happens whole, or, when it throws, not at all.
public final class MemoryDatabase: Sendable {
  /// The store's time. Nothing else makes it pass.
  public let clock: TurnableClock

  private struct Shared {
    var state = MemoryState()
    /// Rises with every transaction.
    var changes = 0
    var waiting: Set<Int> = []
  }

  private let shared = Mutex(Shared())

  public init(clock: TurnableClock = TurnableClock()) { self.clock = clock }

  /// Runs one transaction. A body that throws leaves everything as it was. `isNews` says whether anybody who waits for work
  /// wants to hear of it.
  func transaction<Result: Sendable>(
    isNews: (Result) -> Bool = { _ in true }, _ body: (inout MemoryState) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let (result, waiting) = try shared.withLock { (shared) throws(StoreError) -> (Result, Set<Int>) in
      var state = shared.state
      state.now = clock.now
      let result = try body(&state)
      shared.state = state
      guard isNews(result) else { return (result, []) }
      shared.changes += 1
      let waiting = shared.waiting
      shared.waiting = []
      return (result, waiting)
    }
    for number in waiting { clock.wake(number) }
    return result
  }

  /// Reads without changing anything or waking anybody.
  func read<Result: Sendable>(
    _ body: (inout MemoryState) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try shared.withLock { (shared) throws(StoreError) -> Result in
      shared.state.now = clock.now
      return try body(&shared.state)
    }
  }

  /// Changes the application's side, which has no errors of Zonai's.
  func change<Result>(_ body: (inout MemoryState) -> Result) -> Result {
    let (result, waiting) = shared.withLock { shared in
      let result = body(&shared.state)
      shared.changes += 1
      defer { shared.waiting = [] }
      return (result, shared.waiting)
    }
    for number in waiting { clock.wake(number) }
    return result
  }

  var changes: Int { shared.withLock { $0.changes } }

  /// Waits for the next change after `seen`, or for the clock.
  func waitForChange(after seen: Int, milliseconds: Int64) async {
    let number = clock.makeSleeper()
    let isBehind = shared.withLock { shared in
      guard shared.changes == seen else { return true }
      shared.waiting.insert(number)
      return false
    }
    if isBehind { return }
    await clock.sleep(number: number, milliseconds: milliseconds)
    shared.withLock { _ = $0.waiting.remove(number) }
  }
}

/// The application's side: its own tables and what it does to them.
extension MemoryDatabase {
  public func create(_ table: TableSketch) {
    change { $0.tables[table.name] = MemoryTable(table) }
  }

  public func drop(_ table: TableName) {
    change { $0.tables[table] = nil }
  }

  public func alter(_ table: TableName, _ change: TableChange) {
    self.change { $0.tables[table]?.alter(change) }
  }

  /// Adds rows; a column that is not named is NULL. No constraint is checked.
  public func insert(_ rows: [[String: Value]], into table: TableName) {
    change { state in
      for row in rows { state.tables[table]?.insert(row) }
    }
  }

  public func update(_ table: TableName, where column: String, is value: Value, set: [String: Value]) {
    change { state in
      state.update(table, where: column, is: value, set: set)
    }
  }

  public func delete(from table: TableName, where column: String, is value: Value) {
    change { state in
      for row in state.rows(of: table, where: column, is: value).reversed() { state.tables[table]?.remove(at: row) }
    }
  }

  /// All rows, in the order of their insertion.
  public func rows(of table: TableName) -> [[String: Value]] {
    shared.withLock { shared in
      guard let table = shared.state.tables[table] else { return [] }
      return table.rows.map { Dictionary(zip(table.columnNames, $0), uniquingKeysWith: { first, _ in first }) }
    }
  }

  /// From now on every change of such rows by a store is refused in these words, as a trigger or a foreign key would.
  public func refuseChanges(of table: TableName, where column: String, is value: Value, words: String) {
    change {
      $0.refusals.append(MemoryState.RowRefusal(table: table, column: column, value: value, words: words))
    }
  }

  /// From now on every change of the table by a store is refused in words that quote the row's
  /// value of this column.
  public func refuseChanges(of table: TableName, quoting column: String) {
    change { $0.quotations[table] = column }
  }

  /// Makes a job unreadable, as a slip of somebody's hand in Zonai's tables does.
  public func garble(_ job: JobID) {
    change { state in
      for index in state.jobs.indices where state.jobs[index].id == job { state.jobs[index].isGarbled = true }
    }
  }

  /// Makes Zonai's own tables look as another build left them; 0 removes them.
  public func setSchemaVersion(_ version: Int) {
    change { $0.version = version }
  }
}

extension MemoryState {
  mutating func update(_ table: TableName, where column: String, is value: Value, set: [String: Value]) {
    for row in rows(of: table, where: column, is: value) {
      for (column, value) in set { tables[table]?.set(column, to: value, at: row) }
    }
  }

  func rows(of table: TableName, where column: String, is value: Value) -> [Int] {
    tables[table]?.rows.indices.filter { holds(table, $0, column, value) } ?? []
  }
}
