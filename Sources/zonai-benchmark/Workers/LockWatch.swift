#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Counts who waits for a row's lock, some fifty times a second, until its standard input ends.
///
/// PostgreSQL tells who waits just now; MySQL and MariaDB how long was waited so far.
enum LockWatch {
  static func run(_ options: StoreOptions) throws -> String {
    switch options.database {
    case .sqlite: throw Options.Mistake(description: "one writer locks all of a SQLite file: there is nothing to watch")
    case .postgres: return try sample(try HandPostgres(options.place))
    case .mysql: return try sum(try HandMySQL(options.place))
    }
  }

  private static func sample(_ database: HandPostgres) throws -> String {
    let waiting = try database.prepare(
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
    var samples = 0
    var waits: Int64 = 0
    let start = Moment.now()
    while !inputEnded(within: 20) {
      waits += try database.run(waiting, [])
      samples += 1
    }
    let milliseconds = (Moment.now().wall - start.wall) / 1_000_000
    return line(waited: samples == 0 ? 0 : waits * milliseconds / Int64(samples), of: milliseconds)
  }

  private static func sum(_ database: HandMySQL) throws -> String {
    let waited = try database.prepare(
      """
      SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS
      WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_TIME'
      """)
    let before = try database.run(waited, [])
    let start = Moment.now()
    while !inputEnded(within: 1000) {}
    let milliseconds = (Moment.now().wall - start.wall) / 1_000_000
    return line(waited: try database.run(waited, []) - before, of: milliseconds)
  }

  private static func line(waited: Int64, of milliseconds: Int64) -> String {
    "{\"measured\":\"locks\",\"waitedMilliseconds\":\(waited),\"milliseconds\":\(milliseconds)}"
  }

  private static func inputEnded(within milliseconds: Int32) -> Bool {
    var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    return poll(&input, 1, milliseconds) > 0
  }
}
