import CZonaiPostgres
import ZonaiCore
import ZonaiSQL
import ZonaiThreads

/// One connection to the server, confined to the thread of its owner.
public final class PostgresConnection: PooledConnection {
  let link: PostgresLink
  private var statements = StatementCache()
  /// Whether something between us and the server may give each transaction another server connection.
  let isPooled: Bool
  /// What begins every transaction where settings do not last longer than one.
  private let settings: String
  /// When the present transaction's time is over: a moment of `MonotonicClock`.
  private var deadline: Int64 = 0
  /// How much of it the server was told last.
  private var told: Int64 = 0
  private var mode = SQLMode.read
  private var readsWholeTables = false

  public private(set) var wasVictim = false
  public private(set) var changes = 0

  /// The server ends what runs on past its time, with an error that says why; this is how much later we stop to listen.
  private static let grace: Int64 = 2000

  /// Opens a connection and sets what belongs to it.
  init(_ connector: PostgresConnector, until end: Int64) throws(StoreError) {
    link = try connector.connect(until: end)
    var process = ""
    try link.run("SELECT pg_backend_pid()", until: end) { process = PostgresRow(result: $0, row: 0).text(0) }
    // A pooler tells its clients a number of its own. What is set there would go on to other applications.
    isPooled = process != "\(link.process)"
    if isPooled {
      settings = "; " + PostgresSession.text(version: link.version, isLocal: true)
    } else {
      settings = ""
      try link.run(PostgresSession.text(version: link.version, isLocal: false), until: end)
    }
  }

  public var isBroken: Bool { link.isBroken }
  public var isInTransaction: Bool { link.isInTransaction }

  // MARK: Transactions

  public func begin(_ mode: SQLMode, deadline: Int64) throws(StoreError) {
    self.mode = mode
    self.deadline = deadline
    wasVictim = false
    readsWholeTables = false
    let left = deadline - MonotonicClock.milliseconds()
    guard left > 0 else {
      throw StoreError(.busy, "Zonai's own transactions before this one took all of its time: try again in a moment")
    }
    let begin =
      mode == .read
      ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN ISOLATION LEVEL READ COMMITTED"
    try link.run("\(begin); \(limits(left))\(settings)", until: patience)
  }

  public func commit() throws(StoreError) {
    // The server answers the commit of a failed transaction by rolling it back.
    if link.hasFailed, mode != .read {
      throw StoreError(.failed, "a statement of the transaction had failed, so that nothing of it was committed")
    }
    var tag = ""
    try perform { () throws(StoreError) in try link.run("COMMIT", until: patience) { tag = $0.tag } }
    guard tag == "COMMIT" || mode == .read else {
      throw StoreError(.failed, "PostgreSQL rolled the transaction back instead of committing it")
    }
  }

  public func rollback() {
    guard isInTransaction else { return }
    deadline = MonotonicClock.milliseconds()
    // What fails to roll back leaves the link broken.
    _ = try? link.run("ROLLBACK", until: patience)
    if isInTransaction { _ = link.lost() }
  }

  private var patience: Int64 { deadline + PostgresConnection.grace }

  /// How long each statement may run, and wait for a lock, which must be less to be told apart.
  private func limits(_ left: Int64) -> String {
    told = max(2, min(left, Int64(Int32.max)))
    return "SET LOCAL statement_timeout TO \(told); SET LOCAL lock_timeout TO \(lockLimit)"
  }

  private var lockLimit: Int64 { max(1, told * 15 / 16) }

  /// Tells the server again when much of the time is used up.
  private func refreshLimits() throws(StoreError) {
    let left = deadline - MonotonicClock.milliseconds()
    // A transaction that has failed takes nothing but its end.
    guard left < told - max(250, told / 4), !link.hasFailed else { return }
    try link.run(limits(left), until: patience)
  }

  /// Runs the body while no lock is waited for longer than that.
  func withLockLimit<Result>(
    milliseconds: Int64, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try link.run("SET LOCAL lock_timeout TO \(max(1, min(milliseconds, lockLimit)))", until: patience)
    let result = try body()
    try link.run("SET LOCAL lock_timeout TO \(lockLimit)", until: patience)
    return result
  }

  // MARK: Statements

  @discardableResult
  public func run(
    _ statement: SQLStatement, _ each: (PostgresRow) throws(StoreError) -> Void
  ) throws(StoreError) -> Int {
    try refreshLimits()
    if statement.readsWholeTable { try readWholeTables() }
    var result: PostgresResult?
    try perform { () throws(StoreError) in
      let name = try prepared(statement)
      result = try link.run(statement.text, name: name, statement.values, until: patience)
    }
    guard let result else { return 0 }
    for row in 0..<result.rowCount { try each(PostgresRow(result: result, row: row)) }
    let changed = result.changedRows
    changes += changed
    return changed
  }

  /// From here to the transaction's end.
  private func readWholeTables() throws(StoreError) {
    guard !readsWholeTables else { return }
    try link.run(PostgresSession.wholeTable, until: patience)
    readsWholeTables = true
  }

  /// The name of the statement as it is prepared; nil for one that is not.
  private func prepared(_ statement: SQLStatement) throws(StoreError) -> String? {
    guard statement.isReused, !isPooled else { return nil }
    if let known = statements.name(of: statement.text) { return known }
    let name = statements.nextName()
    try link.prepare(statement.text, as: name, until: patience)
    if let old = statements.keep(statement.text, as: name) { try link.run("DEALLOCATE \(old)", until: patience) }
    return name
  }

  /// Notes what the server's number says beyond the error that is thrown.
  private func perform(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) {
      try body()
    } catch {
      if link.lastFailure.isVictim { wasVictim = true }
      if link.lastFailure.losesStatements { statements.forgetAll() }
      throw error
    }
  }

  // MARK: For all transactions

  public func announceWork() throws(StoreError) {
    try link.run("NOTIFY \(PostgresNotifier.channel)", until: patience)
  }

  public func checkDeferredConstraints() throws(StoreError) {
    try perform { () throws(StoreError) in try link.run("SET CONSTRAINTS ALL IMMEDIATE", until: patience) }
  }
}
