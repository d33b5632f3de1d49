import CZonaiMySQL
import ZonaiCore
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension MySQLConnection {
  func connect(until deadline: Int64) throws(StoreError) {
    let seconds = UInt32(clamping: max(1, (deadline - MonotonicClock.milliseconds() + 999) / 1000))
    // A server that says nothing while it is being connected to is given up by the library; later on the watch sees to it.
    zonai_mysql_set_timeouts(handle, seconds, 86_400)
    zonai_mysql_set_charset(handle)
    zonai_mysql_lift_packet_limit(handle)
    zonai_mysql_refuse_local_infile(handle)
    if let file = address.optionFile {
      guard access(file, R_OK) == 0 else {
        throw StoreError(.denied, "the option file \(file) cannot be read: \(String(cString: strerror(errno)))")
      }
      zonai_mysql_read_option_file(handle, file)
    }
    // Named, so that [client] is read, and what stands under [zonai].
    zonai_mysql_read_option_group(handle, "zonai")
    for file in [address.authorities, address.certificate, address.key].compactMap({ $0 }) where access(file, R_OK) != 0
    {
      throw StoreError(.denied, "the TLS file \(file) cannot be read: \(String(cString: strerror(errno)))")
    }
    zonai_mysql_set_tls_files(handle, address.authorities, address.certificate, address.key)
    guard zonai_mysql_set_tls(handle, (address.tls ?? .preferred).level) == 0 else { throw connectionError() }
    // The libraries take the name localhost for their socket, whatever port is named with it.
    if address.socket != nil {
      zonai_mysql_use_socket(handle)
    } else if address.host != nil {
      zonai_mysql_use_tcp(handle)
    }
    let password = address.password ?? getenv("MYSQL_PWD").map { String(cString: $0) }
    let connected = zonai_mysql_connect(
      handle, address.host, address.user, password, address.database, UInt32(address.port ?? 0), address.socket)
    guard connected != nil else { throw connectionError() }
  }

  /// MariaDB's client goes on in the clear when the server knows no TLS.
  func requireTLS() throws(StoreError) {
    guard let tls = address.tls, tls.level >= MySQLAddress.TLS.required.level, mysql_get_ssl_cipher(handle) == nil
    else {
      return
    }
    throw StoreError(
      .unavailable,
      "\(address.server) made no TLS connection, which ssl-mode=\(tls.rawValue) wants: switch TLS on at the server")
  }
}

/// What is set for a session, and how it is now: it is said again only when it must change.
struct SessionSettings {
  private(set) var lockWait: Int?
  private var isolation: SQLModeKind?
  /// How long one statement may take, in milliseconds.
  private var statementLimit: Int64?

  /// What never changes, whatever the server's defaults are.
  static func first(_ server: MySQLServer) -> [String] {
    // Nothing is cut to fit, and no moment is taken for another: but dates of zeros, which old tables hold, are read as they
    // are. Moments are in UTC.
    let common =
      "SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', autocommit = 1, "
      + "default_storage_engine = InnoDB, sql_safe_updates = 0, sql_select_limit = DEFAULT, sql_big_selects = 1, "
      + "foreign_key_checks = 1, unique_checks = 1, "
    // A list of values is made into a table that is looked up in: never read through again for each row.
    return [
      common
        + (server.isMariaDB
          // A worker that is paused in the middle of a transaction must not keep the others from a job's row: ten seconds.
          ? "optimizer_switch = 'in_to_exists=off', idle_transaction_timeout = 10"
          : "optimizer_switch = 'subquery_materialization_cost_based=off'")
    ]
  }

  /// What a transaction wants that is not so yet.
  mutating func needed(for kind: SQLModeKind, milliseconds left: Int64, _ server: MySQLServer) -> [String] {
    var statements: [String] = []
    if isolation != kind {
      // Reads see one moment of the database; what writes locks the rows that it decides by, as they are by then.
      statements.append(
        "SET SESSION TRANSACTION ISOLATION LEVEL " + (kind == .read ? "REPEATABLE READ" : "READ COMMITTED"))
      isolation = kind
    }
    let seconds = Int(clamping: (left + 999) / 1000)
    // In one statement: a claim waits for less long than a settling, and the two take turns.
    var limits: [String] = []
    if lockWait.map({ $0 < seconds || $0 > seconds + 1 }) ?? true { limits.append(lockWaits(seconds)) }
    if statementLimit.map({ $0 * 4 < left * 3 || $0 > left + min(1000, left / 4) }) ?? true {
      statementLimit = left
      // MySQL's limit is for SELECT alone; what writes is bounded by its lock waits there.
      let limit = server.isMariaDB ? "max_statement_time = \(Double(left) / 1000)" : "max_execution_time = \(left)"
      limits.append(limits.isEmpty ? "SET SESSION \(limit)" : limit)
    }
    if !limits.isEmpty { statements.append(limits.joined(separator: ", ")) }
    return statements
  }

  /// How many seconds a statement waits for rows, and for tables that somebody alters.
  mutating func lockWaits(_ seconds: Int) -> String {
    let seconds = max(1, min(seconds, 1_000_000))
    lockWait = seconds
    return "SET SESSION innodb_lock_wait_timeout = \(seconds), lock_wait_timeout = \(seconds)"
  }
}

/// The statements that a connection keeps.
struct PreparedStatements {
  private var known: [String: MySQLStatement] = [:]
  private var uses = 0

  // A server keeps 16,382 by default, for all of its connections.
  private static let capacity = 64

  mutating func take(_ text: String) -> MySQLStatement? {
    guard let statement = known[text], !statement.isInUse else { return nil }
    uses += 1
    statement.lastUse = uses
    statement.isInUse = true
    return statement
  }

  mutating func keep(_ statement: MySQLStatement, _ text: String) {
    guard known[text] == nil else { return }
    if known.count >= PreparedStatements.capacity,
      let oldest = known.filter({ !$0.value.isInUse }).min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      known[oldest.key] = nil
    }
    uses += 1
    statement.lastUse = uses
    known[text] = statement
  }

  mutating func removeAll() { known = known.filter { $0.value.isInUse } }
}
