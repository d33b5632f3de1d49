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

/// Connects without ever waiting for longer than a deadline, one server after the other where the address names several.
struct PostgresConnector {
  let address: PostgresAddress

  func connect(until deadline: Int64) throws(StoreError) -> PostgresLink {
    var first = 0
    while true {
      let attempt = try start(from: first)
      switch attempt.finish(until: deadline, timeout: address.timeout) {
      case .connected(let link): return try checked(link)
      case .failed(let error): throw error
      case .silent(let host):
        // libpq itself goes on only from a server that says no.
        guard deadline > MonotonicClock.milliseconds(), let index = index(of: host, from: first),
          index + 1 < address.hosts.count
        else { throw silence(of: host) }
        first = index + 1
      }
    }
  }

  private func index(of host: PostgresAddress.Host, from first: Int) -> Int? {
    address.hosts.indices.first { index in
      let other = address.hosts[index]
      return index >= first && other.port == host.port && [other.name, other.address].contains(host.name)
    }
  }

  private func start(from first: Int) throws(StoreError) -> Attempt {
    // Later words beat earlier ones: what stands before the address are defaults, what stands behind it is ours.
    var words: [(String, String)] = [
      ("fallback_application_name", "zonai"), ("keepalives_idle", "30"), ("keepalives_interval", "10"),
      ("keepalives_count", "3"), ("tcp_user_timeout", "60000"), ("dbname", address.text), ("client_encoding", "UTF8"),
    ]
    if first > 0 {
      let rest = address.hosts[first...]
      words.append(("host", rest.map(\.name).joined(separator: ",")))
      words.append(("hostaddr", rest.map(\.address).joined(separator: ",")))
      words.append(("port", rest.map(\.port).joined(separator: ",")))
    }
    let handle = PostgresConnector.withCStrings(words.map(\.0)) { names in
      PostgresConnector.withCStrings(words.map(\.1)) { values in PQconnectStartParams(names, values, 1) }
    }
    guard let handle else { throw StoreError(.unavailable, "there is not enough memory for a connection") }
    zonai_pq_ignore_notices(handle)
    // Only so does libpq tell the number of an error while it connects.
    PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    return Attempt(handle, place: address.place)
  }

  private func checked(_ link: PostgresLink) throws(StoreError) -> PostgresLink {
    PQsetErrorVerbosity(link.handle, PQERRORS_DEFAULT)
    guard link.version < 120_000 else { return link }
    throw StoreError(
      .failed, "PostgreSQL at \(link.place) has version \(link.version / 10_000): Zonai needs version 12 or newer")
  }

  private func silence(of host: PostgresAddress.Host) -> StoreError {
    var place = address.place
    place.host = host.name
    place.port = host.port
    return StoreError(
      .unavailable,
      "PostgreSQL at \(place) did not answer in time: see whether that is its address, and whether a firewall lies between"
    )
  }

  /// Calls `body` with the texts as C wants a list of them: ended by a null pointer.
  private static func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
  ) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
  }
}

/// One try to connect, on the thread that makes it.
private final class Attempt {
  enum Outcome {
    case connected(PostgresLink)
    case failed(StoreError)
    /// This server has not answered in its time.
    case silent(PostgresAddress.Host)
  }

  private var handle: OpaquePointer?
  private var place: PostgresPlace

  init(_ handle: OpaquePointer, place: PostgresPlace) {
    self.handle = handle
    self.place = place
  }

  deinit { PQfinish(handle) }

  func finish(until deadline: Int64, timeout: Int64) -> Outcome {
    var step = PGRES_POLLING_WRITING
    var host = present
    var patience = MonotonicClock.milliseconds() + timeout
    while PQstatus(handle) != CONNECTION_BAD {
      let events = step == PGRES_POLLING_READING ? POLLIN : POLLOUT
      guard Polling.wait(for: Int16(events), on: PQsocket(handle), until: min(patience, deadline)) != nil else {
        return .silent(host)
      }
      step = PQconnectPoll(handle)
      if step == PGRES_POLLING_OK { return connected() }
      if step == PGRES_POLLING_FAILED { break }
      if present != host {
        host = present
        patience = MonotonicClock.milliseconds() + timeout
      }
    }
    name(present)
    return .failed(ConnectFailure.error(PostgresPlace.allWords(handle), place: place))
  }

  private func connected() -> Outcome {
    name(present)
    guard let handle else { return .failed(ConnectFailure.error("", place: place)) }
    self.handle = nil
    return .connected(PostgresLink(handle, place: place))
  }

  private func name(_ host: PostgresAddress.Host) {
    if !host.name.isEmpty { place.host = host.name }
    if !host.port.isEmpty { place.port = host.port }
  }

  /// The server that is being tried.
  private var present: PostgresAddress.Host {
    func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
    return PostgresAddress.Host(name: text(PQhost(handle)), address: "", port: text(PQport(handle)))
  }
}
