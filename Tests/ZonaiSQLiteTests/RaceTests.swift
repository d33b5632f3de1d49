import Synchronization
import Testing
import ZonaiCore
import ZonaiSQLite

/// What happens between a claim's look and its commit. A claim asks for the time in both; the first time it is asked, its
/// look has begun and sees the database as it is then, whatever is committed afterwards.
@Suite(.timeLimit(.minutes(2))) struct RaceTests {
  /// A store whose next claim is overtaken by these statements of somebody else.
  private func overtaken(
    _ scene: SQLiteScene, by statements: String...
  ) throws -> SQLiteStore {
    let waiting = Mutex(statements)
    return try SQLiteStore(
      path: scene.fixture.path,
      clock: { [application = scene.application, clock = scene.fixture.clock] in
        let now = waiting.withLock { waiting in
          defer { waiting = [] }
          return waiting
        }
        for statement in now {
          do { try application.run(statement) } catch { Issue.record(error) }
        }
        return clock.now
      })
  }

  @Test(arguments: [
    // The owner, late but alive, commits its answers.
    "UPDATE zonai_batches SET is_settling = 1, unsettled = 0, owed = '[]'",
    // It renews its lease.
    "UPDATE zonai_batches SET due_at = due_at + 1000000",
    // It settles and is done.
    "DELETE FROM zonai_batches",
    // Somebody else takes the batch over.
    "UPDATE zonai_batches SET fence = fence + 1, worker = 'carla'",
    // It gives its lease back.
    "UPDATE zonai_batches SET worker = NULL",
    // Somebody stops the job.
    "UPDATE zonai_jobs SET state = 'cancelled'",
  ])
  func `a take-over that was overtaken takes nothing over`(_ statement: String) async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(3)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    _ = try await scene.claim("anna", lease: 0)
    let late = try overtaken(scene, by: statement)
    guard case .contended = try await late.claim(.from("berta")) else {
      throw TestFailure("the batch was claimed as it had been")
    }
    #expect(try scene.application.first("SELECT repeated_by_takeover FROM zonai_jobs") == 0)
  }

  @Test(arguments: [
    "UPDATE zonai_jobs SET next_batch = next_batch + 1, frontier = '[3]'",
    "UPDATE zonai_jobs SET state = 'failed'",
    "DELETE FROM zonai_jobs",
  ])
  func `a page that was overtaken is not claimed`(_ statement: String) async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(3)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    let late = try overtaken(scene, by: statement)
    guard case .contended = try await late.claim(.from("berta")) else { throw TestFailure("the page was claimed") }
    #expect(try scene.application.first("SELECT COUNT(*) FROM zonai_batches") == 0)
  }
}
