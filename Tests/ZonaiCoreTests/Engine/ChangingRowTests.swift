import Testing
import ZonaiCore
import ZonaiTestKit

/// Rows that change while a message is on its way.
struct ChangingRowTests {
  /// Sends to ten devices, changes the table when all were sent and none was answered, and lets the answers come.
  private func send(
    _ world: World, audience: Audience? = nil, whileAway change: () -> Void
  ) async throws -> Job {
    let zonai = try world.zonai()
    world.fcm.answersGate.shut()
    let job = try await zonai.push(.hello, to: audience ?? world.audience)
    let drain = Task { try await zonai.drain() }
    await world.fcm.waitUntilSent(10)
    change()
    world.fcm.answersGate.open()
    _ = try await drain.value
    return try #require(try await zonai.job(job.id))
  }

  private func world(dead: [Int]) -> World {
    let world = World()
    world.insert("android", 1...10)
    for number in dead { world.fcm.answer("android-\(number)", with: .dead, times: .max) }
    return world
  }

  @Test func `a device that registered anew is spared`() async throws {
    let world = world(dead: [3])
    let done = try await send(world) {
      world.database.update(World.devices, where: "id", is: 3, set: ["token": "android-3b"])
    }
    #expect(world.tokens[3] == "android-3b")
    #expect(done.counts.spared == 1)
  }

  @Test func `a device that registered anew with the same token is spared by its last-seen`() async throws {
    let world = world(dead: [3, 4])
    world.database.update(World.devices, where: "platform", is: "android", set: ["seen": 1000])
    let audience = Audience(World.devices, token: "token", platform: .column("platform"), lastSeen: "seen")
    let done = try await send(world, audience: audience) {
      world.database.update(World.devices, where: "id", is: 3, set: ["seen": 2000])
    }
    #expect(world.tokens[3] == "android-3")
    #expect(world.isCleared(4))
    #expect(done.counts.spared == 1)
    #expect(done.counts.pruned == 1)
  }

  @Test func `rows that are kept for their last-seen say by how much it is later than the death`() async throws {
    let world = World()
    world.insert("ios", 1...10)
    let death: Int64 = 1_790_848_800_000
    let seen: [Int64: Value] = [
      2: .integer(death), 3: .integer(death + 5_400_001), 4: .integer(death + 5_400_002), 5: .text("soon"), 6: .null,
      // To the second, and APNs to the millisecond.
      7: .integer(death / 1000),
    ]
    for (id, value) in seen {
      world.database.update(World.devices, where: "id", is: .integer(id), set: ["seen": value])
      var dead = Verdict.dead
      dead.deadSince = id == 7 ? death + 300 : death + 999
      world.apns.answer("ios-\(id)", with: dead, times: .max)
    }
    let zonai = try world.zonai()
    let audience = Audience(World.devices, token: "token", platform: .column("platform"), lastSeen: "seen")
    let job = try await zonai.push(.hello, to: audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect((1...10).filter { world.isCleared($0) } == [2, 6])
    let kept = done.tally.filter { $0.outcome == .transientlyFailed }
    #expect(
      Dictionary(uniqueKeysWithValues: kept.map { ($0.detail, $0.count) }) == [
        LaterLastSeen.byLessThanADay.sentence: 2, LaterLastSeen.unreadable.sentence: 1,
        LaterLastSeen.byLessThanAMinute.sentence: 1,
      ])
  }

  @Test func `two rows that swap their tokens are both spared`() async throws {
    let world = world(dead: [3, 4])
    let done = try await send(world) {
      world.database.update(World.devices, where: "id", is: 3, set: ["token": "android-4"])
      world.database.update(World.devices, where: "id", is: 4, set: ["token": "android-3"])
    }
    #expect(world.tokens[3] == "android-4")
    #expect(world.tokens[4] == "android-3")
    #expect(done.counts.spared == 2)
  }

  @Test func `two rows with one dead token are both pruned`() async throws {
    let world = world(dead: [3])
    world.database.update(World.devices, where: "id", is: 4, set: ["token": "android-3"])
    let done = try await send(world) {}
    #expect(world.isCleared(3))
    #expect(world.isCleared(4))
    #expect(done.counts.pruned == 2)
  }

  @Test func `a row that was deleted meanwhile is spared`() async throws {
    let world = world(dead: [3])
    let done = try await send(world) { world.database.delete(from: World.devices, where: "id", is: 3) }
    #expect(done.counts.spared == 1)
    #expect(done.counts.addsUp)
  }

  @Test func `rows that were inserted after the job's first claim are not sent to`() async throws {
    let world = world(dead: [])
    let done = try await send(world) { world.insert("android", 11...20) }
    #expect(done.state == .completed)
    #expect(world.fcm.sent.count == 10)
  }

  @Test func `a prune that the database refuses is undone alone and told`() async throws {
    let world = world(dead: [3, 4])
    world.database.refuseChanges(of: World.devices, where: "id", is: 3, words: "trigger says no")
    let done = try await send(world) {}
    #expect(world.tokens[3] == "android-3")
    #expect(world.isCleared(4))
    #expect(done.counts.spared == 1)
    #expect(done.counts.pruned == 1)
    #expect(
      world.events.count {
        if case .pruneRefused(_, let words) = $0 { words.contains("trigger says no") } else { false }
      } == 1)
  }

  @Test func `tokens of every shape are sent as they are and cleared`() async throws {
    let odd = ["o'clock", "two\nlines", "\"quoted\"", "percent%_", String(repeating: "x", count: 4096), "täken"]
    let world = World()
    for (number, token) in odd.enumerated() {
      world.database.insert(
        [["id": .integer(Int64(number)), "token": .text(token), "platform": "android"]], into: World.devices)
      world.fcm.answer(token, with: .dead, times: .max)
    }
    world.database.insert([["id": 100, "token": "", "platform": "android"]], into: World.devices)
    world.database.insert([["id": 101, "platform": "android"]], into: World.devices)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    #expect(world.fcm.sent.map(\.token.text) == odd)
    #expect(try await zonai.job(job.id)?.counts.pruned == odd.count)
    #expect(world.tokens[100] == "")
  }
}
