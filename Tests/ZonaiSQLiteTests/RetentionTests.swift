import Testing
import ZonaiCore
import ZonaiSQLite

/// Removing what ended long ago, in bites.
@Suite(.timeLimit(.minutes(2))) struct RetentionTests {
  private let scene: SQLiteScene
  private let hour: Int64 = 3_600_000

  init() async throws {
    scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(3)
  }

  private var application: Application { scene.application }

  private func ended(_ state: String = "failed", title: String = "news") async throws -> JobID {
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    try application.run(
      "UPDATE zonai_jobs SET state = ?, finished_at = ? WHERE id = ?",
      [.text(state), .integer(scene.fixture.clock.now - 2 * hour), .text(job.rawValue)])
    return job
  }

  private func fill(_ job: JobID, batches: Int, lines: Int) throws {
    try application.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO zonai_batches (job, batch, to_key, is_first, due_at) SELECT ?, i, '[1]', 0, 0 FROM n
      """, [.integer(Int64(batches)), .text(job.rawValue)])
    try application.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
      INSERT INTO zonai_tally
      (job, line, transport, fingerprint, platform, outcome, evidence, reason, detail, count)
      SELECT ?, 'line ' || i, 'fcm', 'p', 'android', 'spared', '', 'x', 'refused by the database: row ' || i, 1 FROM n
      """, [.integer(Int64(lines)), .text(job.rawValue)])
  }

  private func retain(_ store: SQLiteStore? = nil) async throws -> Int {
    guard case .removed(let count) = try await (store ?? scene.store).change(.retain(milliseconds: hour)) else {
      throw TestFailure("no count")
    }
    return count
  }

  private func left(_ table: String) throws -> Value? { try application.first("SELECT COUNT(*) FROM \(table)") }

  @Test func `a job goes whole, however much belongs to it`() async throws {
    let job = try await ended()
    try fill(job, batches: 1_300, lines: 1_700)
    let stays = try await scene.enqueue(Audience("devices", token: "token"))
    try fill(stays, batches: 3, lines: 3)
    #expect(try await retain() == 1)
    #expect(try left("zonai_batches") == 3)
    #expect(try left("zonai_tally") == 3)
    #expect(try application.first("SELECT id FROM zonai_jobs") == .text(stays.rawValue))
  }

  @Test func `whoever comes after one that was stopped in the middle goes on`() async throws {
    let job = try await ended()
    try fill(job, batches: 700, lines: 700)
    // A bite that is refused stands for the end of the process.
    try application.run(
      "CREATE TRIGGER stop BEFORE DELETE ON zonai_tally BEGIN SELECT RAISE(ABORT, 'the end'); END")
    await #expect(throws: StoreError.self) { _ = try await retain() }
    // For everybody the job is gone already.
    guard case .job(let shown) = try await scene.store.jobs(.one(job)) else { return }
    #expect(shown == nil)
    guard case .jobs(let listed) = try await scene.store.jobs(.list(limit: 10, states: nil)) else { return }
    #expect(listed.isEmpty)
    await #expect(throws: StoreError.self) { _ = try await scene.store.change(.resume(job, suspects: .ask)) }
    #expect(try left("zonai_jobs") == 1)
    try application.run("DROP TRIGGER stop")
    let other = try scene.fixture.open()
    #expect(try await retain(other) == 0)
    for table in ["zonai_jobs", "zonai_batches", "zonai_tally"] { #expect(try left(table) == 0) }
  }

  @Test(arguments: ["pending", "running"])
  func `an open job stays, whatever its times say`(_ state: String) async throws {
    let job = try await ended(state)
    #expect(try await retain() == 0)
    #expect(try application.first("SELECT id FROM zonai_jobs") == .text(job.rawValue))
  }

  @Test func `a job of which a worker still settles a batch stays until that is done`() async throws {
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    let batch = try await scene.claim(lease: 7 * hour)
    _ = try await scene.store.change(.cancel(job))
    scene.fixture.advance(milliseconds: 2 * hour)
    #expect(try await retain() == 0)
    _ = try await scene.store.settle(.answers(batch.delivered()))
    #expect(try await retain() == 1)
  }

  @Test func `more jobs than one bite holds go in one call`() async throws {
    _ = try await ended("completed")
    try application.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
      INSERT INTO zonai_jobs (id, state, definition, transports, deletes_referenced, suspects, kept_groups, created_at,
      due_at, finished_at) SELECT 'old-' || i, 'completed', '{}', '', 0, 'ask', '[]', 0, 0, 1 FROM n
      """)
    #expect(try await retain() == 1_201)
    #expect(try left("zonai_jobs") == 0)
  }
}
