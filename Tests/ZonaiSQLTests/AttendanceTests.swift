import Testing
import ZonaiCore
import ZonaiThreads

@testable import ZonaiSQL

/// For how long expired leases of others are left alone after the database was away.
@Suite struct AttendanceTests {
  private static let lease: Int64 = 60_000
  /// The store's time has nothing to do with this process's.
  private static let stored: Int64 = 1_700_000_000_000

  /// How long is left at moments after the last arrival, by the store's clock.
  private func left(
    _ attendance: Attendance, connectedAt: Int64?, uptime: Int64?, after: Int64
  ) throws -> Int64 {
    // The first question ties the process's clock to the store's.
    _ = try attendance.left(connectedAt: connectedAt, lease: Self.lease, now: Self.stored) {
      () throws(StoreError) in uptime
    }
    return try attendance.left(connectedAt: connectedAt, lease: Self.lease, now: Self.stored + after) {
      () throws(StoreError) in uptime
    }
  }

  @Test(arguments: [
    // A server that had been running: owners get a moment to come back.
    (uptime: 86_400_000 as Int64?, after: 0, left: 10_000), (86_400_000, 9_999, 1), (86_400_000, 10_000, 0),
    // One that was just started: a lease from its start.
    (5_000, 0, 55_000), (5_000, 54_000, 1_000), (5_000, 55_000, 0), (55_000, 0, 10_000),
    // Nobody can tell: a whole lease.
    (nil, 0, 60_000), (nil, 59_000, 1_000), (nil, 60_000, 0),
  ])
  func `a worker that has just come takes nothing over too early`(
    _ scene: (uptime: Int64?, after: Int64, left: Int64)
  ) throws {
    let now = MonotonicClock.milliseconds()
    let found = try left(Attendance(), connectedAt: now, uptime: scene.uptime, after: scene.after)
    // The test itself takes some milliseconds.
    #expect(abs(found - scene.left) < 2_000)
  }

  @Test(arguments: [
    // As long as an owner may be silent with two thirds of its lease left.
    (absence: 20_000 as Int64, left: 0 as Int64), (0, 0), (20_001, 60_000), (600_000, 60_000),
  ])
  func `an absence that may have cost leases keeps them`(_ scene: (absence: Int64, left: Int64)) throws {
    let attendance = Attendance()
    let now = MonotonicClock.milliseconds()
    let first = now - 10_000_000
    // Long ago: the first arrival is of no account any more.
    _ = try left(attendance, connectedAt: first, uptime: 86_400_000, after: 0)
    attendance.noteContact(connectedAt: first, at: now - scene.absence)
    let found = try left(attendance, connectedAt: now, uptime: nil, after: 10_000_000)
    #expect(found == 0, "it ends")
    let again = Attendance()
    _ = try again.left(connectedAt: first, lease: Self.lease, now: Self.stored - 10_000_000) { () throws(StoreError) in
      86_400_000
    }
    again.noteContact(connectedAt: first, at: now - scene.absence)
    let left = try again.left(connectedAt: now, lease: Self.lease, now: Self.stored) { () throws(StoreError) in nil }
    #expect(abs(left - scene.left) < 2_000)
  }

  @Test func `a short break after a long one does not shorten it`() throws {
    let attendance = Attendance()
    let now = MonotonicClock.milliseconds()
    attendance.noteContact(connectedAt: now - 10_000_000, at: now - 300_000)
    attendance.noteContact(connectedAt: now - 10_000, at: now - 3_000)
    attendance.noteContact(connectedAt: now - 1_000, at: now)
    let left = try attendance.left(connectedAt: now - 1_000, lease: Self.lease, now: Self.stored) {
      () throws(StoreError) in 86_400_000
    }
    #expect(abs(left - 50_000) < 2_000)
  }

  @Test func `where the database cannot be away nothing is waited for`() throws {
    #expect(try left(Attendance(), connectedAt: nil, uptime: nil, after: 0) == 0)
  }
}
