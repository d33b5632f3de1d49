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

  /// What somebody else did between the look and the claim, and what the claim comes to when it has looked again.
  struct Overtaking: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let statement: String
    /// nil where there is nothing to claim any more.
    let outcome: Outcome?

    struct Outcome: Sendable, Equatable {
      let fence: Int64
      let isTakeover: Bool
      let recipients: Int
      let repeats: Int64
    }
  }

  static let overtakings = [
    Overtaking(
      testDescription: "the owner, late but alive, commits its answers",
      statement: "UPDATE zonai_batches SET is_settling = 1, unsettled = 0, owed = '[]'",
      outcome: nil),
    Overtaking(
      testDescription: "it renews its lease", statement: "UPDATE zonai_batches SET due_at = due_at + 1000000",
      outcome: nil),
    Overtaking(
      testDescription: "it settles and is done", statement: "DELETE FROM zonai_batches", outcome: nil),
    Overtaking(
      testDescription: "somebody else takes the batch over, and dies",
      statement: "UPDATE zonai_batches SET fence = fence + 1, worker = 'carla'",
      outcome: .init(fence: 3, isTakeover: true, recipients: 3, repeats: 3)),
    Overtaking(
      testDescription: "it gives its lease back", statement: "UPDATE zonai_batches SET worker = NULL",
      outcome: .init(fence: 2, isTakeover: false, recipients: 3, repeats: 0)),
    Overtaking(
      testDescription: "somebody stops the job", statement: "UPDATE zonai_jobs SET state = 'cancelled'", outcome: nil),
  ]

  @Test(arguments: overtakings)
  func `a take-over that was overtaken looks again and takes what there is`(_ overtaking: Overtaking) async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(3)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    _ = try await scene.claim("anna", lease: 0)
    let late = try overtaken(scene, by: overtaking.statement)
    var outcome: Overtaking.Outcome?
    func repeats() throws -> Int64 {
      guard case .integer(let count)? = try scene.application.first("SELECT repeated_by_takeover FROM zonai_jobs")
      else { return -1 }
      return count
    }
    if case .batch(let batch) = try await late.claim(.from("berta")) {
      outcome = .init(
        fence: batch.lease.fence, isTakeover: batch.isTakeover, recipients: batch.recipients.count,
        repeats: try repeats())
    }
    #expect(outcome == overtaking.outcome)
    #expect(try repeats() == (overtaking.outcome?.repeats ?? 0))
  }

  @Test(arguments: ["UPDATE zonai_jobs SET state = 'failed'", "DELETE FROM zonai_jobs"])
  func `a page of a job that was stopped meanwhile is not claimed`(_ statement: String) async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(3)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    let late = try overtaken(scene, by: statement)
    guard case .nothing = try await late.claim(.from("berta")) else { throw TestFailure("the page was claimed") }
    #expect(try scene.application.first("SELECT COUNT(*) FROM zonai_batches") == 0)
  }

  @Test(arguments: [0, 1])
  func `where a page was overtaken the next one is claimed`(_ others: Int) async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.addDevices(9)
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    guard case .batch(let first) = try await scene.store.claim(.from("anna", size: 3)) else {
      throw TestFailure("no first batch")
    }
    _ = try await scene.store.settle(.answers(first.delivered()))
    // With a second job there is another to turn to.
    for _ in 0..<others { _ = try await scene.enqueue(Audience("devices", token: "token")) }
    let late = try overtaken(
      scene, by: "UPDATE zonai_jobs SET next_batch = next_batch + 1, frontier = '[6]' WHERE id = '\(job)'")
    guard case .batch(let batch) = try await late.claim(.from("berta", size: 3, only: job)) else {
      throw TestFailure("nothing was claimed")
    }
    #expect(batch.lease.batch == 3)
    #expect(batch.keys == [RowKey(7), RowKey(8), RowKey(9)])
    #expect(try scene.application.first("SELECT at_end FROM zonai_jobs WHERE id = '\(job)'") == 1)
  }
}
