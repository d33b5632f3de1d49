import CZonaiMySQL
import ZonaiCore
import ZonaiSQL
import ZonaiThreads

/// One connection to the server, confined to the thread of its owner.
public final class MySQLConnection: PooledConnection {
  let handle: UnsafeMutablePointer<MYSQL>
  let address: MySQLAddress
  private(set) var server = MySQLServer(words: "")
  private let watch: SilenceWatch
  private var watchNumber: Int?
  private var statements = PreparedStatements()
  private var settings = SessionSettings()
  private(set) var kind = SQLModeKind.opening
  /// The lock that holds other migrations off, while this connection has it.
  private var heldLock: String?
  /// Whether the server's `innodb_rollback_on_timeout` is on, so that a lock that is waited for in vain ends the transaction.
  private(set) var losesAllOnTimeout = false
  /// How many bytes the server takes at once. It hangs up on more.
  private var packetLimit = Int.max

  public private(set) var isBroken = false
  public private(set) var wasVictim = false
  public private(set) var changes = 0

  /// Connects, and makes the session what Zonai's statements want it to be.
  init(_ address: MySQLAddress, watch: SilenceWatch, until deadline: Int64) throws(StoreError) {
    // Before any thread makes a connection.
    // https://dev.mysql.com/doc/c-api/8.0/en/mysql-library-init.html
    guard MySQLConnection.isLibraryReady, let handle = mysql_init(nil) else {
      throw StoreError(.unavailable, "there is not enough memory for a connection to \(address.server)")
    }
    self.handle = handle
    self.address = address
    self.watch = watch
    do throws(StoreError) {
      try connect(until: deadline)
      let number = watch.add(zonai_mysql_socket(handle))
      watchNumber = number
      watch.begin(number, until: deadline)
      try prepareSession()
      watch.end(number)
    } catch {
      close()
      throw error
    }
  }

  private static let isLibraryReady = mysql_server_init(0, nil, nil) == 0

  deinit { if !isClosed { close() } }

  private var isClosed = false

  private func close() {
    statements = PreparedStatements()
    if let watchNumber { watch.remove(watchNumber) }
    mysql_close(handle)
    isClosed = true
  }

  private func prepareSession() throws(StoreError) {
    server = MySQLServer(words: mysql_get_server_info(handle).map { String(cString: $0) } ?? "")
    try server.requireKnown(at: address)
    try requireTLS()
    for statement in SessionSettings.first(server) { try command(statement) }
    let asked = SQLStatement(
      text: "SELECT DATABASE(), @@innodb_rollback_on_timeout, @@max_allowed_packet", values: [], isReused: false)
    var database: String?
    try run(asked) { row throws(StoreError) in
      database = row.optionalText(0)
      losesAllOnTimeout = row.text(1) == "1"
      packetLimit = Int(clamping: row.integer(2))
    }
    if database == nil { throw error(1046, "") }
  }

  // MARK: Transactions

  public func begin(_ mode: SQLMode, deadline: Int64) throws(StoreError) {
    wasVictim = false
    kind = mode == .read ? .read : .write
    // The server's own limits come first; where it is silent, the connection is cut.
    if let watchNumber { watch.begin(watchNumber, until: deadline + MySQLConnection.grace) }
    let left = max(1, deadline - MonotonicClock.milliseconds())
    for statement in settings.needed(for: kind, milliseconds: left, server) { try command(statement) }
    try command(
      mode == .read ? "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY" : "START TRANSACTION READ WRITE")
  }

  /// How long the server may take to say that the deadline has come: lock waits end at whole seconds.
  private static let grace: Int64 = 1000

  public func commit() throws(StoreError) {
    if wasVictim { throw error(MySQLError.deadlock, "") }
    try command("COMMIT")
    finish()
  }

  public func rollback() {
    // A rollback that fails is a connection that was lost: the server rolls back by itself.
    do throws(StoreError) { try command("ROLLBACK") } catch { isBroken = true }
    finish()
  }

  private func finish() {
    if heldLock != nil {
      heldLock = nil
      do throws(StoreError) { try command("DO RELEASE_ALL_LOCKS()") } catch { isBroken = true }
    }
    if let watchNumber { watch.end(watchNumber) }
  }

  public var isInTransaction: Bool { !wasVictim && !isBroken && zonai_mysql_is_in_transaction(handle) != 0 }

  /// Neither server defers constraints.
  public func checkDeferredConstraints() throws(StoreError) {}

  /// Nobody can be told: other processes ask.
  public func announceWork() throws(StoreError) {}

  // MARK: Locks

  /// Holds everybody off who asks for the same name, until the transaction ends or the connection does. What creates a table
  /// commits, and would let go of rows.
  func holdLock(_ name: String) throws(StoreError) {
    let seconds = settings.lockWait ?? 1
    let statement = SQLStatement(
      text: "SELECT GET_LOCK(CONCAT(?, MD5(DATABASE())), ?)", values: [.text(name), .integer(Int64(seconds))])
    heldLock = name
    let got = try first(statement) { row throws(StoreError) in row.integer(0) }
    guard got == 1 else {
      throw StoreError(.busy, "somebody else is migrating Zonai's tables: wait until that is done")
    }
  }

  /// Runs the body while lock waits end after a second; nil when one did.
  func waitingBriefly<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result? {
    let before = settings.lockWait ?? 1
    try command(settings.lockWaits(1))
    var result: Result?
    do throws(StoreError) {
      result = try body()
    } catch {
      guard lastError == MySQLError.lockWaitTimeout, !isBroken else { throw error }
    }
    try command(settings.lockWaits(before))
    return result
  }

  // MARK: Statements

  private var lastError: UInt32 = 0

  /// A statement without values or rows, as text: some are not taken in the other way.
  func command(_ text: String) throws(StoreError) {
    var text = text
    let failed = text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { mysql_real_query(handle, $0.baseAddress, UInt($0.count)) != 0 }
    }
    guard !failed else { throw connectionError(text) }
    // A statement of the application's triggers cannot give rows; one that does is read to its end.
    if let rows = mysql_store_result(handle) { mysql_free_result(rows) }
  }

  @discardableResult
  public func run(
    _ statement: SQLStatement, _ each: (MySQLRow) throws(StoreError) -> Void
  ) throws(StoreError) -> Int {
    if statement.values.isEmpty, !statement.text.hasPrefix("SELECT"), !statement.text.hasPrefix("SHOW") {
      try command(statement.text)
      return count(mysql_affected_rows(handle))
    }
    let prepared = try prepared(statement)
    defer { prepared.isInUse = false }
    guard MySQLStatement.size(statement.values) < packetLimit - MySQLConnection.packetOverhead else {
      throw error(MySQLError.packetTooLarge, "max_allowed_packet is \(packetLimit) bytes", statement.text)
    }
    guard prepared.bind(statement.values), mysql_stmt_execute(prepared.handle) == 0 else {
      throw statementError(prepared, statement.text)
    }
    guard let metadata = mysql_stmt_result_metadata(prepared.handle) else {
      return count(mysql_stmt_affected_rows(prepared.handle))
    }
    defer { mysql_free_result(metadata) }
    try readRows(of: prepared, metadata, statement.text, each)
    return 0
  }

  /// What goes with the values of one execution, and more.
  private static let packetOverhead = 4096

  private func count(_ affected: UInt64) -> Int {
    // All bits set stand for none.
    guard affected != .max else { return 0 }
    changes += Int(clamping: affected)
    return Int(clamping: affected)
  }

  private func readRows(
    of prepared: MySQLStatement, _ metadata: UnsafeMutablePointer<MYSQL_RES>, _ text: String,
    _ each: (MySQLRow) throws(StoreError) -> Void
  ) throws(StoreError) {
    // All rows are taken from the connection first: `each` may run other statements.
    let known = prepared.result.flatMap { $0.takes(metadata) ? $0 : nil }
    guard let result = known ?? MySQLResult(prepared.handle, metadata) else { throw statementError(prepared, text) }
    prepared.result = result
    guard result.bind(), mysql_stmt_store_result(prepared.handle) == 0 else { throw statementError(prepared, text) }
    defer {
      _ = mysql_stmt_free_result(prepared.handle)
      // Room that long values took is given back, once the library knows of other memory.
      if result.isLarge, let small = MySQLResult(prepared.handle, metadata), small.bind() { prepared.result = small }
    }
    while true {
      switch mysql_stmt_fetch(prepared.handle) {
      case 0, MYSQL_DATA_TRUNCATED:
        guard result.completeRow() else { throw statementError(prepared, text) }
        try each(MySQLRow(result: result))
      case MYSQL_NO_DATA: return
      default: throw statementError(prepared, text)
      }
    }
  }

  private func prepared(_ statement: SQLStatement) throws(StoreError) -> MySQLStatement {
    if statement.isReused, let known = statements.take(statement.text) { return known }
    let made: MySQLStatement
    do throws(StoreError) {
      made = try prepare(statement.text)
    } catch {
      // The server has a limit for all connections together: let go of what we keep, and try once more.
      guard lastError == MySQLError.tooManyPrepared else { throw error }
      statements.removeAll()
      made = try prepare(statement.text)
    }
    made.isInUse = true
    if statement.isReused { statements.keep(made, statement.text) }
    return made
  }

  private func prepare(_ text: String) throws(StoreError) -> MySQLStatement {
    guard let handle = mysql_stmt_init(handle) else { throw connectionError(text) }
    var copy = text
    let failed = copy.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) { mysql_stmt_prepare(handle, $0.baseAddress, UInt($0.count)) != 0 }
    }
    guard !failed, let made = MySQLStatement(handle) else {
      let number = mysql_stmt_errno(handle)
      let words = String(cString: mysql_stmt_error(handle))
      _ = mysql_stmt_close(handle)
      throw noted(number, words, text)
    }
    return made
  }

  // MARK: Errors

  private func statementError(_ prepared: MySQLStatement, _ text: String) -> StoreError {
    noted(mysql_stmt_errno(prepared.handle), String(cString: mysql_stmt_error(prepared.handle)), text)
  }

  func connectionError(_ text: String? = nil) -> StoreError {
    noted(mysql_errno(handle), String(cString: mysql_error(handle)), text)
  }

  /// Remembers what the number says about the connection and its transaction.
  private func noted(_ number: UInt32, _ words: String, _ text: String?) -> StoreError {
    lastError = number
    if MySQLError.endsConnection(number) { isBroken = true }
    if MySQLError.isDefeat(number) { wasVictim = true }
    if number == MySQLError.duplicate, text?.hasPrefix("INSERT INTO zonai_") == true {
      // Another transaction wrote the same row first. Begun anew, this one finds it.
      wasVictim = true
    }
    if isBroken, let watchNumber, watch.wasCut(watchNumber) {
      return MySQLError.error(1317, words: words, at: address, mode: kind, statement: text)
    }
    return error(number, words, text)
  }

  private func error(_ number: UInt32, _ words: String, _ text: String? = nil) -> StoreError {
    MySQLError.error(number, words: words, at: address, mode: kind, statement: text)
  }
}
