import CZonaiPostgres
import ZonaiCore
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A libpq connection that never blocks for longer than it is told to, confined to the thread of its owner.
final class PostgresLink {
  let handle: OpaquePointer
  /// Who and where, for sentences.
  let place: PostgresPlace
  private(set) var isBroken = false
  /// What the last error means besides its code.
  private(set) var lastFailure = Failure()

  struct Failure {
    var isVictim = false
    var losesStatements = false
  }

  /// Takes over a handle that is connected.
  init(_ handle: OpaquePointer, place: PostgresPlace) {
    self.handle = handle
    self.place = place
    PQsetnonblocking(handle, 1)
  }

  deinit { PQfinish(handle) }

  var isInTransaction: Bool {
    switch PQtransactionStatus(handle) {
    case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: true
    default: false
    }
  }

  /// Whether a statement of the transaction has failed, so that it can only be rolled back.
  var hasFailed: Bool { PQtransactionStatus(handle) == PQTRANS_INERROR }

  var version: Int32 { PQserverVersion(handle) }
  var process: Int32 { PQbackendPID(handle) }

  // MARK: Statements

  /// Runs statements without values, one after the other in one message, and hands each result over.
  func run(_ text: String, until deadline: Int64, _ each: (PostgresResult) -> Void = { _ in }) throws(StoreError) {
    guard PQsendQuery(handle, text) == 1 else { throw lost() }
    try finish(text, until: deadline, each)
  }

  func prepare(_ text: String, as name: String, until deadline: Int64) throws(StoreError) {
    guard PQsendPrepare(handle, name, text, 0, nil) == 1 else { throw lost() }
    try finish(text, until: deadline) { _ in }
  }

  /// Runs one statement: a prepared one where it has a name.
  func run(
    _ text: String, name: String?, _ values: [Value], until deadline: Int64
  ) throws(StoreError) -> PostgresResult? {
    let sent = ParameterText.withPointers(to: values) { pointers in
      let count = Int32(pointers.count)
      let start = pointers.baseAddress
      guard let name else { return PQsendQueryParams(handle, text, count, nil, start, nil, nil, 0) }
      return PQsendQueryPrepared(handle, name, count, start, nil, nil, 0)
    }
    guard sent == 1 else { throw lost() }
    var last: PostgresResult?
    try finish(text, until: deadline) { last = $0 }
    return last
  }

  /// Reads results until there are no more; the first error is thrown when all are read.
  private func finish(
    _ text: String, until deadline: Int64, _ each: (PostgresResult) -> Void
  ) throws(StoreError) {
    lastFailure = Failure()
    try flush(until: deadline)
    var failure: StoreError?
    while true {
      while PQisBusy(handle) == 1 { try receive(until: deadline) }
      guard let raw = PQgetResult(handle) else { break }
      let result = PostgresResult(raw)
      switch PQresultStatus(raw) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: each(result)
      default:
        if PQstatus(handle) == CONNECTION_BAD || result.isFatal { isBroken = true }
        if failure == nil {
          failure = PostgresError.error(result, place: place, statement: text)
          lastFailure.isVictim = PostgresError.isVictim(result)
          lastFailure.losesStatements = PostgresError.losesStatements(result)
        }
      }
    }
    if PQstatus(handle) == CONNECTION_BAD { isBroken = true }
    if let failure { throw failure }
  }

  private func flush(until deadline: Int64) throws(StoreError) {
    while true {
      switch PQflush(handle) {
      case 0: return
      case 1:
        // The server may wait for us to read before it reads on.
        if try wait(for: Int16(POLLIN | POLLOUT), until: deadline) & Int16(POLLIN) != 0, PQconsumeInput(handle) == 0 {
          throw lost()
        }
      default: throw lost()
      }
    }
  }

  private func receive(until deadline: Int64) throws(StoreError) {
    _ = try wait(for: Int16(POLLIN), until: deadline)
    guard PQconsumeInput(handle) == 1 else { throw lost() }
  }

  private func wait(for events: Int16, until deadline: Int64) throws(StoreError) -> Int16 {
    guard let happened = Polling.wait(for: events, on: PQsocket(handle), until: deadline) else {
      isBroken = true
      throw StoreError(
        .unavailable,
        "PostgreSQL at \(place) gave no answer in time: see whether the server is alive and the network lets it through"
      )
    }
    return happened
  }

  /// The connection is gone.
  func lost() -> StoreError {
    isBroken = true
    return StoreError(
      .unavailable, "the connection to PostgreSQL at \(place) was lost: see whether the server is up",
      databaseWords: place.words(handle))
  }

  // MARK: Notifications

  /// The processes whose notifications have come since the last call.
  func notifications() throws(StoreError) -> [Int32] {
    guard PQconsumeInput(handle) == 1 else { throw lost() }
    var senders: [Int32] = []
    while let notification = PQnotifies(handle) {
      senders.append(notification.pointee.be_pid)
      PQfreemem(notification)
    }
    return senders
  }
}

/// poll(2) with deadlines of `MonotonicClock`.
enum Polling {
  /// The events that happened; nil when the deadline passed first. A failed socket counts as readable.
  static func wait(for events: Int16, on socket: Int32, until deadline: Int64) -> Int16? {
    while true {
      let left = deadline - MonotonicClock.milliseconds()
      guard left > 0 else { return nil }
      var poller = pollfd(fd: socket, events: events, revents: 0)
      let count = poll(&poller, 1, Int32(clamping: left))
      if count > 0 { return poller.revents & events == 0 ? Int16(POLLIN) : poller.revents }
      if count < 0, errno != EINTR { return Int16(POLLIN) }
    }
  }
}
