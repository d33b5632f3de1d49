import ZonaiCore

/// What the store suite needs to test one store: handles on one database, and the application's side of it.
///
/// Each check gets a fixture of its own, on an empty database without Zonai's tables.
public protocol StoreFixture: Sendable {
  associatedtype Store: TokenStore & JobStore & SchemaStore & SecretStore

  /// What this database can do and others cannot.
  var capabilities: StoreCapabilities { get }

  /// A handle of its own on the fixture's one database, as another process would have it. It does not migrate.
  func open() async throws -> Store

  // MARK: The application

  /// Makes a table. Its names may hold anything: spaces, quotes, keywords.
  func create(_ table: TableSketch) async throws
  func drop(_ table: TableName) async throws
  /// A column that a row does not name is NULL.
  func insert(_ rows: [[String: Value]], into table: TableName) async throws
  func update(_ table: TableName, where column: String, is value: Value, set: [String: Value]) async throws
  func delete(from table: TableName, where column: String, is value: Value) async throws
  /// All rows, in any order, as `ColumnSketch.Kind` says.
  func rows(of table: TableName) async throws -> [[String: Value]]
  /// From now on the database refuses every UPDATE and DELETE of such rows in these words, as a trigger does.
  func refuseChanges(of table: TableName, where column: String, is value: Value, words: String) async throws
  /// Runs `body` while a transaction of the application holds such rows. Only called where `capabilities.locksRows`.
  func whileLocked(
    _ table: TableName, where column: String, is value: Value, _ body: @Sendable () async throws -> Void
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
  /// What a key may consist of here.
  public var keyKinds: Set<ColumnSketch.Kind>

  public init(
    locksRows: Bool, keyKinds: Set<ColumnSketch.Kind> = [.integer, .text, .uuid, .blob, .timestamp]
  ) {
    self.locksRows = locksRows
    self.keyKinds = keyKinds
  }
}
