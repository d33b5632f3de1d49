import ZonaiCore

/// The same statements in the same transactions, typed into the client library: one connection that reads, one that writes,
/// prepared statements, arrays that are used again, no threads.
struct HandRun<Database: HandDatabase> {
  private let reader: Database
  private let writer: Database
  private let words: any HandWords
  private let looks: Looks
  private let claims: Claims
  private let settles: Settles
  /// By how many dead they are for.
  private var rowsOf: [Int: Database.Statement] = [:]
  private var prunesOf: [Int: [Database.Statement]] = [:]

  private struct Looks {
    let now, version, openJobs, dueBatch, openBatches, firstPage, page: Database.Statement
  }
  private struct Claims {
    let now, job, claimed, batch: Database.Statement
  }
  private struct Settles {
    let batch, locked, answered, ended, tally, lane, counts, open: Database.Statement
  }

  private let job: String
  private let lastKey: Int64
  private let batchSize: Int
  private var frontier: Int64?
  private var nextBatch: Int64 = 1
  private var page = HandPage()
  private static var worker: String { "benchmark" }

  init(_ options: StoreOptions, words: any HandWords, job: String) throws {
    let (reader, writer) = (try Database(options.place), try Database(options.place))
    let sql = HandStatements(words: words)
    func look(_ text: String) throws -> Database.Statement { try reader.prepare(text) }
    func write(_ text: String) throws -> Database.Statement { try writer.prepare(text) }
    looks = Looks(
      now: try look(sql.now), version: try look(sql.version), openJobs: try look(sql.openJobs),
      dueBatch: try look(sql.dueBatch), openBatches: try look(sql.openBatches),
      firstPage: try look(sql.page(isFirst: true)), page: try look(sql.page(isFirst: false)))
    claims = Claims(
      now: try write(sql.now), job: try write(sql.lockedJob), claimed: try write(sql.claimedJob),
      batch: try write(sql.newBatch))
    settles = Settles(
      batch: try write(sql.batch), locked: try write(sql.lockedBatch), answered: try write(sql.answeredBatch),
      ended: try write(sql.endedBatch), tally: try write(sql.tally), lane: try write(sql.lane),
      counts: try write(sql.counts), open: try write(sql.openBatches))
    self.reader = reader
    self.writer = writer
    self.words = words
    self.job = job
    batchSize = options.batch
    lastKey = try reader.run(try look("SELECT MAX(id) FROM device_tokens WHERE token <> ''"), [])
  }

  mutating func run() throws -> StepMeter {
    var meter = StepMeter()
    while frontier != lastKey {
      let start = Moment.now()
      let (batch, now) = try claim()
      meter.paging.add(since: start)
      let answered = Moment.now()
      try settle(batch, leasedUntil: now + 60_000)
      meter.settling.add(since: answered)
      meter.recipients += page.count
      meter.batches += 1
    }
    try writer.execute("UPDATE zonai_jobs SET state = 'completed', finished_at = 1 WHERE id = '\(job)'")
    return meter
  }

  // MARK: Paging

  private mutating func claim() throws -> (batch: Int64, now: Int64) {
    let from = frontier
    try reader.execute(words.beginReading)
    var now = try reader.run(looks.now, [])
    try reader.run(looks.openJobs, [])
    try reader.run(looks.dueBatch, [.text(job), .integer(now)])
    try reader.run(looks.openBatches, [.text(job)])
    let limit = HandValue.integer(Int64(from == nil ? min(50, batchSize) : batchSize))
    if let from {
      try reader.read(looks.page, [.integer(from), .integer(lastKey), limit], into: &page)
    } else {
      try reader.read(looks.firstPage, [.integer(lastKey), limit], into: &page)
    }
    try reader.execute("COMMIT")
    guard let to = page.keys.last else { throw HandFailure(description: "a page is empty") }

    let batch = nextBatch
    frontier = to
    nextBatch += 1
    try writer.execute(words.beginWriting)
    try writer.run(claims.job, [.text(job), .text("removed")])
    now = try writer.run(claims.now, [])
    try writer.run(
      claims.claimed,
      [
        .text("running"), .integer(now), .text("[\(lastKey)]"), .integer(to == lastKey ? 1 : 0), .text("[\(to)]"),
        .integer(nextBatch), .integer(batch == 1 ? 1 : 2), .integer(nextBatch), .text(job),
      ])
    try writer.run(
      claims.batch,
      [
        .text(job), .integer(batch), .text("[\(from ?? 0)]"), .text("[\(to)]"), .integer(batch == 1 ? 1 : 0),
        .integer(Int64(page.count)), .text(Self.worker), .integer(now + 60_000),
      ])
    try writer.execute("COMMIT")
    return (batch, now)
  }

  // MARK: Settling

  private mutating func settle(_ batch: Int64, leasedUntil lease: Int64) throws {
    let dead = HandRejections(page, job: job, batch: batch)
    let delivered = page.count - dead.keys.count
    try writer.execute(words.beginWriting)
    try writer.run(settles.locked, [.text(job), .integer(batch)])
    let now = try writer.run(claims.now, [])
    try writer.run(
      settles.answered,
      [
        .text("[]"), .integer(0), .integer(0), .text(dead.stored), .integer(0), .integer(1), .text(Self.worker),
        .integer(lease), .text(job), .integer(batch),
      ])
    try count("delivered", "", "delivered", delivered)
    try count("recorded", "conclusive", "Unregistered", dead.keys.count)
    try writer.run(
      settles.lane, [.text("apns"), .text("benchmark/alert"), .text("ios"), .integer(0), .integer(now)])
    try add(delivered: delivered, pruned: 0)
    try writer.execute("COMMIT")

    let pairs = words.pairs(dead.keys, dead.tokens)
    try reader.execute(words.beginReading)
    try reader.run(looks.version, [])
    try reader.run(try rows(dead.keys.count), pairs)
    try reader.execute("COMMIT")

    try writer.execute(words.beginWriting)
    try writer.run(settles.batch, [.text(job), .integer(batch)])
    try writer.execute("SAVEPOINT zonai_prune")
    for prune in try prunes(dead.keys.count) { try writer.run(prune, pairs) }
    if words.numbersPlaceholders { try writer.execute("SET CONSTRAINTS ALL IMMEDIATE") }
    try writer.execute("RELEASE SAVEPOINT zonai_prune")
    try writer.run(settles.locked, [.text(job), .integer(batch)])
    try writer.run(claims.now, [])
    try writer.run(settles.ended, [.text(job), .integer(batch)])
    try count("pruned", "conclusive", "Unregistered", dead.keys.count)
    try count("recorded", "conclusive", "Unregistered", -dead.keys.count)
    try add(delivered: 0, pruned: dead.keys.count)
    try writer.execute("COMMIT")
  }

  private func count(_ outcome: String, _ evidence: String, _ reason: String, _ count: Int) throws {
    try writer.run(
      settles.tally,
      [
        .text(job), .text("\(outcome) \(reason)"), .text("apns"), .text("benchmark/alert"), .text("ios"),
        .text(outcome), .text(evidence), .text(reason), .text(""), .integer(Int64(count)),
      ])
  }

  private func add(delivered: Int, pruned: Int) throws {
    try writer.run(claims.job, [.text(job), .text("removed")])
    let (delivered, pruned) = (HandValue.integer(Int64(delivered)), HandValue.integer(Int64(pruned)))
    try writer.run(
      settles.counts,
      [
        delivered, pruned, .integer(0), .integer(0), pruned, .integer(0), .integer(0), .integer(0), .integer(0),
        .integer(2), .text(job),
      ])
    try writer.run(settles.open, [.text(job)])
  }

  private mutating func rows(_ count: Int) throws -> Database.Statement {
    if let known = rowsOf[count] { return known }
    let made = try reader.prepare(words.rows(count))
    rowsOf[count] = made
    return made
  }

  private mutating func prunes(_ count: Int) throws -> [Database.Statement] {
    if let known = prunesOf[count] { return known }
    let made = try words.prunes(count).map { try writer.prepare($0) }
    prunesOf[count] = made
    return made
  }
}
