import CZonaiSQLite
import ZonaiCore
import ZonaiSQLite
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The whole job: rows in SQLite, claimed, sent, settled, dead tokens pruned.
enum JobRun {
  static func run(_ options: Options) async throws -> Report {
    let path = "\(options.dir)/benchmark-\(options.lane.rawValue)-\(options.recipients).sqlite"
    try fill(path, options)
    let store = try SQLiteStore(path: path)
    _ = try await store.migrate()
    let transport = try await Lanes.make(options)
    var settings = ZonaiOptions()
    settings.batchSize = options.batch
    settings.batchesInFlight = options.inFlight
    let zonai = try Zonai(store: store, transports: [transport], options: settings)
    let before = Usage.now()
    let start = MonotonicClock.milliseconds()
    let job = try await zonai.push(
      Lanes.message,
      to: Audience(
        "device_tokens", token: "token", platform: .fixed(Platform(options.lane == .apns ? "ios" : "android"))))
    _ = try await zonai.drain()
    var report = Report(options)
    report.milliseconds = MonotonicClock.milliseconds() - start
    report.measure(since: before, recipients: options.recipients)
    if let ended = try await zonai.job(job.id) {
      report.delivered = ended.counts.delivered
      report.otherwise = ended.counts.settled - ended.counts.delivered
      report.state = ended.state.rawValue
    }
    await transport.close()
    return report
  }

  /// Made anew each time, in one transaction; not part of the measurement.
  private static func fill(_ path: String, _ options: Options) throws {
    var handle: OpaquePointer?
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    guard sqlite3_open(path, &handle) == SQLITE_OK, let handle else {
      throw Options.Mistake(description: "cannot make \(path)")
    }
    defer { sqlite3_close(handle) }
    func run(_ text: String) throws {
      guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else {
        throw Options.Mistake(description: "\(text): \(String(cString: sqlite3_errmsg(handle)))")
      }
    }
    try run("PRAGMA journal_mode=WAL")
    try run("CREATE TABLE device_tokens (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, token TEXT)")
    try run("BEGIN")
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, "INSERT INTO device_tokens VALUES (?, ?, ?)", -1, &statement, nil) == SQLITE_OK
    else { throw Options.Mistake(description: "cannot prepare the insert") }
    for number in 1...options.recipients {
      sqlite3_bind_int64(statement, 1, Int64(number))
      sqlite3_bind_int64(statement, 2, Int64(number))
      let token = Lanes.token(number, options.lane)
      zonai_sqlite_bind_text(statement, 3, token, sqlite3_uint64(token.utf8.count))
      guard sqlite3_step(statement) == SQLITE_DONE else { throw Options.Mistake(description: "cannot insert") }
      sqlite3_reset(statement)
    }
    sqlite3_finalize(statement)
    try run("COMMIT")
  }
}
