import ZonaiCore
import ZonaiThreads

/// One connection on one thread of its own: opened on first use and again when it was lost.
actor PooledThread<Connection: PooledConnection> {
  typealias Open = @Sendable (_ deadline: Int64) throws(StoreError) -> Connection

  private let executor: ThreadExecutor
  private let open: Open
  private let presence: Presence
  private let limits: PoolLimits
  private var connection: Connection?
  private var isClosed = false
  /// Raised to end a pause before its time.
  private let closing = Signal()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(name: String, presence: Presence, limits: PoolLimits, open: @escaping Open) throws(StoreError) {
    do throws(ThreadStartError) {
      executor = try ThreadExecutor(name: name)
    } catch {
      throw StoreError(.unavailable, "\(error)")
    }
    self.open = open
    self.presence = presence
    self.limits = limits
  }

  /// Runs the body until its transaction is committed, or has failed for a reason that another try would not mend.
  ///
  /// The body runs again only after an attempt that surely committed nothing. `didChange` is called when rows were changed.
  func transaction<Result: Sendable>(
    _ mode: SQLMode, deadline: Int64, didChange: @Sendable () -> Void,
    _ body: @Sendable (Connection) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var losses = Backoff(first: limits.firstPause, longest: limits.longestPause)
    var defeats = Backoff(first: limits.firstPause, longest: limits.longestPause)
    let patience = min(deadline, MonotonicClock.milliseconds() + limits.reconnecting)
    while true {
      let connection = try opened(until: deadline, patience: patience)
      let before = connection.changes
      let failure: StoreError
      do throws(StoreError) {
        try connection.begin(mode, deadline: deadline)
        presence.noteContact(MonotonicClock.milliseconds())
        let result = try body(connection)
        try commit(connection)
        presence.noteContact(MonotonicClock.milliseconds())
        if connection.changes != before { didChange() }
        return result
      } catch {
        failure = error
      }
      let wasVictim = connection.wasVictim
      if !connection.isBroken { connection.rollback() }
      if connection.isBroken { lose() }
      if failure.mayBeCommitted { throw failure }
      if self.connection == nil, failure.code == .unavailable {
        // A connection that idled may have been cut long ago: the first new one is tried at once.
        let pause = losses.tries == 0 ? 0 : losses.next()
        if losses.tries == 0 { _ = losses.next() }
        guard rest(pause, until: patience) else { throw failure }
      } else if wasVictim {
        guard defeats.tries < limits.repeats, rest(defeats.next(), until: deadline) else { throw failure }
      } else {
        throw failure
      }
    }
  }

  private func commit(_ connection: Connection) throws(StoreError) {
    do throws(StoreError) {
      try connection.commit()
    } catch {
      guard connection.isBroken else { throw error }
      var unknown = StoreError(
        .unavailable,
        "the connection was lost during a commit, and nobody can tell whether it was done: look before you do it again",
        databaseWords: error.databaseWords ?? error.sentence)
      unknown.mayBeCommitted = true
      throw unknown
    }
  }

  private func lose() {
    connection = nil
    presence.noteTrouble()
  }

  /// Until the pool has reached the database once, the first failure speaks: it may be the address that is wrong.
  private func opened(until deadline: Int64, patience: Int64) throws(StoreError) -> Connection {
    if let connection { return connection }
    var backoff = Backoff(first: limits.firstPause, longest: limits.longestPause)
    while true {
      if isClosed { throw StoreError.storeClosed }
      do throws(StoreError) {
        let opened = try open(deadline)
        presence.noteOpened(MonotonicClock.milliseconds())
        connection = opened
        return opened
      } catch {
        presence.noteTrouble()
        guard error.code == .unavailable, presence.connectedAt != nil, rest(backoff.next(), until: patience) else {
          throw error
        }
      }
    }
  }

  /// Whether there was time for the pause, and nobody closed the pool meanwhile.
  private func rest(_ milliseconds: Int64, until end: Int64) -> Bool {
    let moment = MonotonicClock.milliseconds() + milliseconds
    guard moment < end, !isClosed else { return false }
    if milliseconds > 0, closing.wait(until: moment) { isClosed = true }
    return !isClosed
  }

  /// Ends a pause, so that `close` gets its turn.
  nonisolated func interrupt() { closing.raise() }

  func close() {
    connection = nil
    isClosed = true
    executor.close()
  }
}

/// How often and how long a pool tries again.
public struct PoolLimits: Sendable, Hashable {
  /// For how long a transaction waits for a database that was there before to come back, in milliseconds. Ten seconds by
  /// default: a restart passes unnoticed, and whoever asked hears of a longer absence.
  public var reconnecting: Int64 = 10_000
  /// How often a transaction that lost a dead-lock or a serialization is begun again. Eight by default; each pause is
  /// longer than the one before.
  public var repeats = 8
  /// The first pause, in milliseconds; each further one is twice as long, up to the longest.
  public var firstPause: Int64 = 10
  public var longestPause: Int64 = 1000

  public init() {}
}

extension StoreError {
  static let storeClosed = StoreError(.unavailable, "the store was closed: open it again")
}
