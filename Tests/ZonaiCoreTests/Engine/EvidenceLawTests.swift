import Synchronization
import Testing
import ZonaiCore
import ZonaiTestKit

/// What a job makes of answers that may or may not mean a dead token.
struct EvidenceLawTests {
  @Test func `a whole batch of conclusive answers prunes, an old cohort really is one`() async throws {
    let world = World()
    world.insert("android", 1...60)
    world.fcm.answerEverybody(with: .dead)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.pruned == 60)
    #expect((1...60).allSatisfy { world.isCleared(Int64($0)) })
  }

  /// Wordings of answers for a whole group, dealt out in turn.
  static let wordings: [[Evidence]] = [
    [.namesNothing], [.tokenNamed], [.aboutLane], [.tokenNamed, .namesNothing], [.namesNothing, .aboutLane],
    [.tokenNamed, .namesNothing, .aboutLane],
  ]

  @Test(arguments: wordings)
  func `a whole group of circumstantial answers fails the job and prunes nothing`(_ words: [Evidence]) async throws {
    let world = World()
    world.insert("android", 1...20)
    for number in 1...20 {
      world.fcm.answer("android-\(number)", with: .suspect(words[number % words.count]), times: .max)
    }
    let asked = Mutex(0)
    let zonai = try world.zonai(hook: { _ in
      asked.withLock { $0 += 1 }
      return .followPolicy
    })
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.state == .failed)
    #expect(stopped.error?.code == .suspects)
    #expect(stopped.counts.settled == 0)
    #expect(stopped.owed == 20)
    #expect(asked.withLock { $0 } == 0)
    #expect((1...20).allSatisfy { !world.isCleared(Int64($0)) })
  }

  @Test(arguments: wordings)
  func `the other platform of the same lane is no witness`(_ words: [Evidence]) async throws {
    let world = World()
    world.insert("android", 1...20)
    world.insert("ios", 21...40)
    for number in 21...40 {
      world.fcm.answer("ios-\(number)", with: .suspect(words[number % words.count]), times: .max)
    }
    // One lane for both: iOS goes through FCM.
    let zonai = try world.zonai(transports: [world.fcm])
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.state == .failed)
    #expect(stopped.counts.delivered == 20)
    #expect(stopped.counts.permanentlyRejected == 0)
    #expect((21...40).allSatisfy { !world.isCleared(Int64($0)) })
  }

  @Test func `a whole group about the lane, one odd answer among them, fails the job and prunes nothing of it`()
    async throws
  {
    let world = World()
    world.insert("ios", 1...20)
    world.apns.answerEverybody(with: .suspect(.aboutLane))
    world.apns.answer("ios-7", with: .wrongTopic, times: .max)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.state == .failed)
    #expect(stopped.error?.code == .suspects)
    #expect((1...20).allSatisfy { !world.isCleared(Int64($0)) })
  }

  @Test func `one odd answer among many fails nothing`() async throws {
    let world = World()
    world.insert("android", 1...40)
    world.fcm.answer("android-3", with: .wrongTopic, times: .max)
    world.fcm.answer("android-9", with: .dead, times: .max)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(!world.isCleared(3))
    #expect(world.isCleared(9))
    #expect(done.counts.transientlyFailed == 1)
    #expect(done.counts.pruned == 1)
    #expect(done.tally.contains { $0.outcome == .transientlyFailed && $0.detail.contains("apns.bundleId") })
  }

  @Test func `answers about the lane beside deliveries prune`() async throws {
    let world = World()
    world.insert("ios", 1...40)
    world.apns.answer("ios-5", with: .suspect(.aboutLane), times: .max)
    world.apns.answer("ios-6", with: .suspect(.aboutLane), times: .max)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.pruned == 2)
    #expect(world.isCleared(5))
  }

  @Test func `above the ceiling nothing is pruned on circumstantial evidence`() async throws {
    let world = World()
    world.insert("ios", 1...40)
    for number in 1...10 { world.apns.answer("ios-\(number)", with: .suspect(.aboutLane), times: .max) }
    world.apns.answer("ios-40", with: .dead, times: .max)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.pruned == 1, "the conclusive one")
    #expect(done.counts.transientlyFailed == 10)
    #expect(done.tally.contains { $0.detail.contains("ceiling") })
    #expect((1...10).allSatisfy { !world.isCleared(Int64($0)) })
  }

  @Test func `the ceiling holds over the whole job, batch by batch`() async throws {
    let world = World()
    world.insert("ios", 1...400)
    // Each batch of ten has three: too few for a batch's own ceiling, too many for the job's.
    for number in 1...400 where number % 10 < 3 {
      world.apns.answer("ios-\(number)", with: .suspect(.aboutLane), times: .max)
    }
    let zonai = try world.zonai {
      $0.batchSize = 10
      $0.batchesInFlight = 1
    }
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.pruned <= 80, "a fifth of the group")
    #expect(done.counts.pruned + done.counts.transientlyFailed == 120)
    #expect(done.counts.settled == 400)
  }

  @Test func `suspects that are kept count as transient to the job's end`() async throws {
    let world = World()
    world.insert("android", 1...20)
    world.fcm.answerEverybody(with: .suspect(.namesNothing))
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    try await zonai.resume(job.id, suspects: .keep)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.transientlyFailed == 20)
    #expect((1...20).allSatisfy { !world.isCleared(Int64($0)) })
  }

  @Test func `suspects that are accepted are pruned, and only they`() async throws {
    let world = World()
    world.insert("android", 1...60)
    world.fcm.answerEverybody(with: .suspect(.namesNothing))
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    // The first batch of fifty was held back; the last ten were never sent.
    try await zonai.resume(job.id, suspects: .prune)
    try await zonai.drain()
    #expect((1...50).allSatisfy { world.isCleared(Int64($0)) })
    #expect((51...60).allSatisfy { !world.isCleared(Int64($0)) })
    #expect(try await zonai.job(job.id)?.counts.pruned == 50)
  }

  @Test func `where the platform is unknown, an answer that names nothing never prunes`() async throws {
    let world = World()
    world.insert(nil, 1...20)
    world.fcm.answer("token-3", with: .suspect(.namesNothing), times: .max)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: Audience(World.devices, token: "token"))
    try await zonai.drain()
    #expect(try await zonai.job(job.id)?.state == .completed)
    #expect(!world.isCleared(3))

    let named = Audience(World.devices, token: "token", platform: .fixed(Platform("android")))
    let other = try await zonai.push(.hello, to: named)
    try await zonai.drain()
    #expect(try await zonai.job(other.id)?.counts.pruned == 1)
    #expect(world.isCleared(3))
  }
}
