import ZonaiCore

/// A connection to a database server, as a `ConnectionPool` uses it: opened, used and ended on one thread.
///
/// Every deadline is a moment of `MonotonicClock`. What has not come back by then is interrupted, the server's silence
/// included: no call may block for longer.
public protocol PooledConnection: SQLConnection {
  /// Begins a transaction. Statements of its body wait for locks up to the deadline (then `busy`), and are interrupted when
  /// they run on past it (then `tooSlow`).
  func begin(_ mode: SQLMode, deadline: Int64) throws(StoreError)

  /// Commits. Throws when nothing was committed, also when the server rolled back instead; when it throws and the
  /// connection is broken, nobody knows.
  func commit() throws(StoreError)

  /// Leaves no transaction open; a connection that cannot do it is broken from then on.
  func rollback()

  /// Whether the connection is of no use any more.
  var isBroken: Bool { get }

  /// Whether the server ended the present transaction so that another may go on (a dead-lock, a serialization failure):
  /// run anew, it may well succeed. Reset by `begin`.
  var wasVictim: Bool { get }

  /// How many rows this connection has changed since it was opened.
  var changes: Int { get }
}

/// How many connections a pool opens at most, each of them when it is first needed.
public struct PoolSizes: Sendable, Hashable {
  /// For what only reads. Two by default: one page and one question.
  public var readers = 2
  /// For what writes. Two by default, so that a settling does not queue behind a claim.
  public var writers = 2

  public init() {}
  public init(readers: Int, writers: Int) {
    self.readers = readers
    self.writers = writers
  }
}
