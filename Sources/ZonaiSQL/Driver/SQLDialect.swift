import ZonaiCore

/// How one database writes what others write differently. Everything here is text from literals; names go through
/// `quoted`, values through the builder.
public protocol SQLDialect: Sendable {
  associatedtype Connection: SQLConnection

  // MARK: Words

  /// The name as a quoted identifier. Must be one whatever the name holds, and must never be taken for text.
  func quoted(_ identifier: String) -> String

  /// The placeholder of the value with this number, counted from 1. `type` is the type of the column that the value is
  /// compared with or stored in, in the database's own words, where there is one.
  func placeholder(_ number: Int, type: String?) -> String

  /// A value as it is bound where it meets the column, and the type that it is given: the column's own, unless the value is
  /// of a kind that this type would not take.
  func bound(_ value: Value, for column: ColumnDescription) -> (value: Value, type: String?)

  /// The database's clock, in milliseconds since 1970, read when it is evaluated.
  var now: StaticString { get }

  /// A new job id, made when it is evaluated: a UUID of version 7 by the database's clock, in lower case. No subquery: it is
  /// the default of a column.
  var newID: StaticString { get }

  /// The type of a column of Zonai's own tables.
  func type(_ kind: ZonaiColumn.Kind) -> StaticString

  /// Whether an index is declared within its table, for databases that cannot make one only if it is not there.
  var indexesStandInTable: Bool { get }

  /// What follows a select of one job or batch row that is to be changed, so that nobody else changes it meanwhile.
  var lockClause: StaticString { get }

  /// What follows a select of rows to choose one to claim: rows that others hold are passed over.
  var claimClause: StaticString { get }

  // MARK: Clauses

  /// The application's table in a FROM clause of a page, which goes by the key's index.
  func appendTable(_ target: PruneTarget, to builder: inout SQLBuilder)

  /// The column as something that groups by it keep apart byte by byte, and whose text is the column's.
  func appendExact(_ column: ColumnDescription, to builder: inout SQLBuilder)

  /// A token that is neither NULL nor empty.
  func appendHasToken(_ column: ColumnDescription, to builder: inout SQLBuilder)

  /// A token that fills its column to the end, as those do that were cut off. 64 hexadecimal digits
  /// are a whole token of APNs. Only asked for columns with a capacity.
  func appendIsCutOff(_ column: ColumnDescription, to builder: inout SQLBuilder)

  /// `key` comes after `value`, or is at most `value`, in the key's order; in the form for which the database uses the
  /// key's index.
  func appendBound(_ bound: KeyBound, _ value: RowKey, of key: [ColumnDescription], to builder: inout SQLBuilder)

  /// The test of a column, whose values are of the column's own kind by now (`ColumnTest`). NULL,
  /// and NaN where there is such, is neither true nor false. A list takes never more than a handful
  /// of placeholders, however many values it has, as far as they can be carried exactly that way.
  /// `like` knows `%` and `_` and no escape character, and takes case as the column's collation has
  /// it.
  func appendTest(_ test: ColumnTest, of column: ColumnDescription, to builder: inout SQLBuilder)

  /// How many values a statement may bind.
  var mostValues: Int { get }

  /// The predicate of an audience, in a form that does not lead the database away from the key's index.
  func appendFilter(_ predicate: SQLFragment, to builder: inout SQLBuilder)

  /// `INSERT … ` with what happens when the key is there already.
  func appendUpsert(
    into table: StaticString, _ columns: [(StaticString, Value)], key: [StaticString],
    whenThere changes: [(StaticString, UpsertChange)], to builder: inout SQLBuilder)

  // MARK: Rows of the application

  /// The rows with these keys, in one query that finds each by the key's index: the columns `columns` after the number of
  /// the key within `keys`. `filter` appends what the rows must satisfy besides.
  func selectByKey(
    _ target: PruneTarget, keys: [RowKey], columns: [ColumnDescription],
    filter: (inout SQLBuilder) throws(StoreError) -> Void
  ) throws(StoreError) -> SQLStatement

  /// The whole rows of the pairs whose key, token (byte by byte) and last-seen still match: every column after the number
  /// of the pair.
  func selectPairs(_ target: PruneTarget, _ pairs: [Rejection]) -> SQLStatement

  /// Carries out the policy on the pairs that still match, in one statement or two, and gives the numbers of those that
  /// were pruned. It may be refused; the caller undoes it then.
  func prune(
    _ target: PruneTarget, _ pairs: [Rejection], policy: Policy, on connection: Connection
  ) throws(StoreError) -> Set<Int>

  /// How many pairs or keys one statement may carry.
  var pairsAtOnce: Int { get }

  // MARK: Schema

  /// Throws `noSuchTable`, with what there is, when the table is not there.
  func describe(_ table: TableName, on connection: Connection) throws(StoreError) -> TableDescription

  /// Throws `denied`, with what to grant, when this user may not do to the table what a job of that policy does.
  func checkRights(_ policy: Policy, on target: PruneTarget, _ connection: Connection) throws(StoreError)

  /// Whether one of Zonai's own tables is there.
  func hasOwnTable(_ name: StaticString, on connection: Connection) throws(StoreError) -> Bool

  /// Holds every other migration off until the transaction ends.
  func lockForMigration(on connection: Connection) throws(StoreError)

  /// Makes what SQL of other programs enqueues by besides the columns of `zonai_jobs`: a function, a procedure, a trigger.
  /// Does nothing when it is there as this build wants it. Gives a sentence when somebody has to do something about it, and
  /// throws `denied` with such a sentence when the role may not make it.
  ///
  /// It keeps idempotency keys: the same key with the same request changes nothing, with another it is an error.
  func makePushRoutine(on connection: Connection) throws(StoreError) -> String?
}

extension SQLDialect {
  /// Where there are no users, or the first statement tells.
  public func checkRights(
    _ policy: Policy, on target: PruneTarget, _ connection: Connection
  ) throws(StoreError) {}

  public func bound(_ value: Value, for column: ColumnDescription) -> (value: Value, type: String?) {
    (value, column.type)
  }

  /// Most databases find the key's index by themselves.
  public func appendTable(_ target: PruneTarget, to builder: inout SQLBuilder) { builder.identifier(target.table) }

  public func appendExact(_ column: ColumnDescription, to builder: inout SQLBuilder) { builder.identifier(column) }
}

/// Which side of a key.
public enum KeyBound: Sendable {
  case after, upTo
}

/// What an upsert does with a column when the row is there.
public enum UpsertChange: Sendable {
  case replace
  /// Adds the new value to the old one.
  case add
}

/// The application's table, as prunes and re-reads see it: found in the schema.
public struct PruneTarget: Sendable {
  public var table: TableName
  public var key: [ColumnDescription]
  public var token: ColumnDescription
  public var lastSeen: ColumnDescription?
  /// The index behind the key, where the description names it.
  public var index: String?

  public init(
    table: TableName, key: [ColumnDescription], token: ColumnDescription, lastSeen: ColumnDescription?,
    index: String? = nil
  ) {
    self.table = table
    self.key = key
    self.token = token
    self.lastSeen = lastSeen
    self.index = index
  }
}
