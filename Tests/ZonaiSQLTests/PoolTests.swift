import Synchronization
import Testing
import ZonaiCore
import ZonaiThreads

@testable import ZonaiSQL

@Suite(.timeLimit(.minutes(1))) struct PoolTests {
  private let database = FakeDatabase()

  private func pool(
    _ sizes: PoolSizes = PoolSizes(readers: 1, writers: 1), _ limits: (inout PoolLimits) -> Void = { _ in }
  ) throws -> ConnectionPool<FakeConnection> {
    var set = PoolLimits()
    set.firstPause = 1
    set.longestPause = 2
    limits(&set)
    return try ConnectionPool(name: "fake", sizes: sizes, limits: set) { [database] _ throws(StoreError) in
      try database.open()
    }
  }

  private var soon: Int64 { MonotonicClock.milliseconds() + 30_000 }

  private func write(_ pool: ConnectionPool<FakeConnection>) async throws(StoreError) -> Int {
    try await pool.transaction(.write, deadline: soon) { connection throws(StoreError) in
      try connection.run(FakeConnection.update)
    }
  }

  private func failure(_ pool: ConnectionPool<FakeConnection>) async -> StoreError? {
    do throws(StoreError) {
      _ = try await write(pool)
      return nil
    } catch { return error }
  }

  @Test func `a connection is opened on first use, used again, and closed at the end`() async throws {
    let pool = try pool()
    #expect(database.log.isEmpty)
    _ = try await write(pool)
    _ = try await write(pool)
    await pool.close()
    #expect(
      database.log == ["open 1", "begin 1", "run 1", "commit 1", "begin 1", "run 1", "commit 1", "close 1"])
    #expect(await failure(pool)?.sentence == "the store was closed: open it again")
  }

  @Test func `one that was cut while it idled is replaced, and the body runs once`() async throws {
    let pool = try pool()
    _ = try await write(pool)
    database.fail("begin", .cut)
    _ = try await write(pool)
    #expect(database.log.suffix(6) == ["begin 1", "close 1", "open 2", "begin 2", "run 2", "commit 2"])
  }

  @Test func `one that is cut in the body is replaced, and the body runs anew`() async throws {
    let pool = try pool()
    database.fail("run", .cut, .cut)
    #expect(try await write(pool) == 1)
    #expect(
      database.log == [
        "open 1", "begin 1", "run 1", "close 1", "open 2", "begin 2", "run 2", "close 2", "open 3", "begin 3", "run 3",
        "commit 3",
      ])
  }

  @Test func `one that is cut during the commit is not tried again, and the error says why`() async throws {
    let pool = try pool()
    database.fail("commit", .cut)
    let error = await failure(pool)
    #expect(error?.code == .unavailable)
    #expect(error?.mayBeCommitted == true)
    #expect(error?.sentence.contains("nobody can tell") == true)
    #expect(database.log == ["open 1", "begin 1", "run 1", "commit 1", "close 1"])
  }

  @Test func `the victim of a dead-lock runs anew on the same connection`() async throws {
    let pool = try pool()
    database.fail("run", .victim)
    database.fail("commit", .victim)
    #expect(try await write(pool) == 1)
    #expect(
      database.log == [
        "open 1", "begin 1", "run 1", "rollback 1", "begin 1", "run 1", "commit 1", "rollback 1", "begin 1", "run 1",
        "commit 1",
      ])
  }

  @Test func `a victim is not tried again for ever`() async throws {
    let pool = try pool { $0.repeats = 2 }
    database.fail("run", .victim, .victim, .victim, .victim)
    let error = await failure(pool)
    #expect(error?.code == .busy)
    #expect(error?.mayBeCommitted == false)
    #expect(database.log.count { $0 == "run 1" } == 3)
  }

  @Test func `what the database refuses is rolled back and not tried again`() async throws {
    let pool = try pool()
    database.fail("run", .refused)
    #expect(await failure(pool)?.code == .refused)
    #expect(database.log == ["open 1", "begin 1", "run 1", "rollback 1"])
  }

  @Test func `a database that was never reached gives its first answer`() async throws {
    let pool = try pool()
    database.refuseOpens(StoreError(.unavailable, "cannot reach it"), StoreError(.unavailable, "cannot reach it"))
    #expect(await failure(pool)?.sentence == "cannot reach it")
    #expect(database.log == ["refused"])
    #expect(pool.connectedAt == nil)
  }

  @Test func `a database that was there before is waited for`() async throws {
    let pool = try pool()
    _ = try await write(pool)
    database.fail("run", .cut)
    database.refuseOpens(StoreError(.unavailable, "starting up"), StoreError(.unavailable, "starting up"))
    #expect(try await write(pool) == 1)
    #expect(database.log.suffix(6) == ["refused", "refused", "open 2", "begin 2", "run 2", "commit 2"])
  }

  @Test func `but not for ever, and not when it says no`() async throws {
    let pool = try pool { $0.reconnecting = 20 }
    _ = try await write(pool)
    database.fail("run", .cut, .cut)
    for _ in 0..<100 { database.refuseOpens(StoreError(.unavailable, "starting up")) }
    #expect(await failure(pool)?.sentence == "starting up")

    let other = FakeDatabase()
    let strict = try ConnectionPool(name: "fake") { _ throws(StoreError) in try other.open() }
    _ = try await write(strict)
    other.fail("run", .cut)
    other.refuseOpens(StoreError(.denied, "wrong password"))
    #expect(await failure(strict)?.code == .denied)
    #expect(other.log.suffix(1) == ["refused"])
  }

  @Test func `reads, writes and renewals do not wait for each other`() async throws {
    let pool = try pool()
    let (began, open) = (Signal(), Signal())
    async let reading: Void = pool.transaction(.read, deadline: soon) { _ throws(StoreError) in
      began.raise()
      _ = open.wait()
    }
    _ = await waits(for: began)
    _ = try await write(pool)
    try await pool.transaction(.renew, deadline: soon) { _ throws(StoreError) in }
    open.raise()
    try await reading
    #expect(database.log.count { $0.hasPrefix("open") } == 3)
  }

  @Test func `whoever finds all threads busy gets the first that is free`() async throws {
    let pool = try pool(PoolSizes(readers: 2, writers: 1))
    let (first, second) = (Signal(), Signal())
    let began = [Signal(), Signal()]
    async let slow: Void = pool.transaction(.read, deadline: soon) { _ throws(StoreError) in
      began[0].raise()
      _ = first.wait()
    }
    _ = await waits(for: began[0])
    async let quick: Void = pool.transaction(.read, deadline: soon) { _ throws(StoreError) in
      began[1].raise()
      _ = second.wait()
    }
    _ = await waits(for: began[1])
    async let third: Void = pool.transaction(.read, deadline: soon) { _ throws(StoreError) in }
    second.raise()
    try await quick
    try await third
    first.raise()
    try await slow
  }

  /// Waits on a thread that may block.
  private func waits(for signal: Signal) async -> Bool {
    await withCheckedContinuation { continuation in
      do {
        _ = try NamedThread(name: "waits") { continuation.resume(returning: signal.wait()) }
      } catch { continuation.resume(returning: false) }
    }
  }

  // MARK: Changes

  @Test func `a write that changed something is news, and nothing else is`() async throws {
    let pool = try pool()
    for mode in [SQLMode.read, .renew] {
      _ = try await pool.transaction(mode, deadline: soon) { connection throws(StoreError) in
        try connection.run(FakeConnection.update)
      }
    }
    _ = try await pool.transaction(.write, deadline: soon) { connection throws(StoreError) in
      try connection.run(FakeConnection.read)
    }
    #expect(pool.bell.changes == 0)
    _ = try await write(pool)
    #expect(pool.bell.changes == 1)
  }

  @Test func `a wait ends with news, with its time, with its task, and with the pool`() async throws {
    let pool = try pool()
    async let news: Void = pool.bell.wait(after: 0, until: soon)
    _ = try await write(pool)
    await news
    await pool.bell.wait(after: 0, until: soon)
    await pool.bell.wait(after: 1, until: MonotonicClock.milliseconds() + 5)
    await pool.bell.wait(after: 1, until: MonotonicClock.milliseconds() - 5)
    let cancelled = Task { [bell = pool.bell] in await bell.wait(after: 1, until: .max / 2) }
    cancelled.cancel()
    await cancelled.value
    async let closed: Void = pool.bell.wait(after: 1, until: soon)
    await pool.close()
    await closed
  }

  // MARK: Presence

  @Test func `only a break of the database counts as one`() {
    let presence = Presence()
    #expect(presence.connectedAt == nil)
    presence.noteTrouble()
    presence.noteOpened(5_000)
    #expect(presence.connectedAt == 5_000)
    // A second connection, opened when it was first needed.
    presence.noteOpened(60_000)
    #expect(presence.connectedAt == 5_000)
    // One that was cut while others go on.
    presence.noteContact(70_000)
    presence.noteTrouble()
    presence.noteContact(70_500)
    presence.noteOpened(70_600)
    #expect(presence.connectedAt == 5_000)
    // All were cut, and nobody got through for a while.
    presence.noteTrouble()
    presence.noteOpened(90_000)
    #expect(presence.connectedAt == 90_000)
    presence.noteTrouble()
    presence.noteOpened(90_100)
    #expect(presence.connectedAt == 90_000)
  }

  @Test func `pauses grow to a limit, half of them by chance`() {
    var backoff = Backoff(first: 10, longest: 50)
    let ranges: [ClosedRange<Int64>] = [5...10, 10...20, 20...40, 25...50, 25...50]
    for range in ranges { #expect(range.contains(backoff.next())) }
    for _ in 0..<200 { #expect((25...50).contains(backoff.next())) }
  }
}
