import ZonaiCore

/// What the store suite needs to test one store: handles on one database, and the application's side of it.
///
/// Each check gets a fixture of its own, on an empty database without Zonai's tables.
public protocol StoreFixture: Sendable {
  associatedtype Store: TokenStore & JobStore & SchemaStore & SecretStore

  /// What this database can do and others cannot.
  var capabilities: StoreCapabilities { get }

  /// A handle of its own on the fixture's one database, as another process would have it. It does not migrate.
  ///
  /// Where sessions have a time zone, let the one that a session begins with be another than UTC: a store that forgets to
  /// set its own is then noticed.
  func open() async throws -> Store
  /// Ends a handle, as the end of its process does: its connections are gone. The suite closes every handle that it opened.
  func close(_ store: Store) async

  // MARK: The application

  /// Makes a table. Its names may hold anything: spaces, quotes, keywords, capital letters. A schema that it names is
  /// `capabilities.otherSchema`, which is made on first use.
  func create(_ table: TableSketch) async throws
  func drop(_ table: TableName) async throws
  /// Changes a table while jobs may run on it.
  func alter(_ table: TableName, _ change: TableChange) async throws
  /// A column that a row does not name is NULL. There may be hundreds of rows: one statement, or one transaction.
  func insert(_ rows: [[String: Value]], into table: TableName) async throws
  func update(_ table: TableName, where column: String, is value: Value, set: [String: Value]) async throws
  func delete(from table: TableName, where column: String, is value: Value) async throws
  /// All rows, in any order, as `ColumnSketch.Kind` says.
  func rows(of table: TableName) async throws -> [[String: Value]]
  /// From now on the database refuses every UPDATE and DELETE of such rows in these words, as a trigger does.
  func refuseChanges(of table: TableName, where column: String, is value: Value, words: String) async throws
  /// From now on the database refuses every UPDATE and DELETE of the table, as a trigger does, in
  /// the words "guarded: " and the row's value of a text column. The rows are there already.
  func refuseChanges(of table: TableName, quoting column: String) async throws
  /// Runs `body` while a transaction of the application holds such rows. Only called where `capabilities.locksRows`.
  func whileLocked(
    _ table: TableName, where column: String, is value: Value, _ body: @Sendable () async throws -> Void
  ) async throws
  /// Runs `body` while a transaction of the application holds the rows whose `column` is `value`, and lets that transaction
  /// go on once another session waits for one of them, which the database's own list of locks tells (ask it again and again;
  /// a body that ends without such a wait ends the transaction too).
  ///
  /// Going on means to commit, if `other` is nil. Else it sets the columns of `set` first, in the rows it holds and in those
  /// whose `column` is `other`: crosswise to the store, which has the other row and waits for this one. If the database ends
  /// the application's transaction for that, the application does it all again; when this method returns, it is done.
  ///
  /// Only called where `capabilities.showsLockWaits`.
  func whileLockedUntilWaitedFor(
    _ table: TableName, where column: String, is value: Value, then other: Value?, set: [String: Value],
    _ body: @Sendable () async throws -> Void
  ) async throws
  /// The next `times` UPDATEs or DELETEs of such rows fail as those of a dead-lock's victim do, with the database's own
  /// number for it: by a trigger that raises it, and that counts where no rollback reaches (a sequence, a table without
  /// transactions). After these, changes go through. Only called where `capabilities.raisesConflicts`.
  func raiseConflicts(
    on table: TableName, where column: String, is value: Value, times: Int
  ) async throws

  // MARK: Damage

  /// Makes what the store wrote down of this job unreadable, as a slip of somebody's hand in its tables does.
  func garble(_ job: JobID) async throws

  // MARK: Time and versions

  /// Makes the store believe that so much time has passed: by turning its clock, or by moving every moment that it wrote
  /// down (leases, not-before times, records, ends of jobs) into the past.
  func advance(milliseconds: Int64) async throws
  /// Makes Zonai's own tables look as a build that is `builds` newer left them.
  func pretendNewerSchema(by builds: Int) async throws
}

/// Differences between databases that are no defects.
public struct StoreCapabilities: Sendable {
  /// Whether rows can be held one by one. SQLite has one writer for the whole file.
  public var locksRows: Bool
  /// Whether the fixture can tell that somebody waits for a row that the application holds.
  public var showsLockWaits: Bool
  /// Whether a change can be made to fail as a dead-lock's victim. SQLite has one writer, hence no dead-locks.
  public var raisesConflicts: Bool
  /// A schema (in MySQL: a database) beside the default one, which the store may use without being told; nil where there
  /// is none. Tables of one name may stand in both.
  public var otherSchema: String?
  /// Whether a column of text can have a length, beyond which it holds nothing. SQLite takes any
  /// text.
  public var limitsText: Bool
  /// What a key may consist of here.
  public var keyKinds: Set<ColumnSketch.Kind>

  public init(
    locksRows: Bool, showsLockWaits: Bool = false, raisesConflicts: Bool = false, otherSchema: String? = nil,
    limitsText: Bool = true,
    keyKinds: Set<ColumnSketch.Kind> = [
      .integer, .smallInteger, .text, .fixedText, .uuid, .blob, .timestamp, .moment, .wallClock,
    ]
  ) {
    self.locksRows = locksRows
    self.showsLockWaits = showsLockWaits
    self.raisesConflicts = raisesConflicts
    self.otherSchema = otherSchema
    self.limitsText = limitsText
    self.keyKinds = keyKinds
  }
}
