import Testing
import ZonaiCore
import ZonaiTestKit

/// Faults that are somebody else's: no row is touched, and the job does the right thing.
@Suite(.timeLimit(.minutes(1)))
struct FaultLawTests {
  @Test func `a key revoked in the middle of a job fails it although earlier sends were accepted`() async throws {
    let world = World()
    world.insert("android", 1...200)
    for number in 101...200 { world.fcm.answer("android-\(number)", with: .credentialsRefused, times: 1) }
    let zonai = try world.zonai {
      $0.batchSize = 50
      $0.batchesInFlight = 1
    }
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.state == .failed)
    #expect(stopped.error?.code == .credentials)
    #expect(stopped.error?.detail.contains("fcm.serviceAccount") == true)
    #expect(stopped.counts.delivered == 100)
    #expect(stopped.counts.permanentlyRejected == 0)

    // The key was replaced: exactly those who are owed are sent to.
    world.fcm.forgetAnswers()
    world.fcm.renewCredential()
    let before = world.fcm.sent.count
    try await zonai.resume(job.id)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 200)
    #expect(Set(world.fcm.sent.dropFirst(before).map(\.token.text)) == Set((101...200).map { "android-\($0)" }))
    #expect(world.fcm.sent.count == before + 100)
  }

  @Test func `one odd refusal of the credentials among deliveries fails nothing`() async throws {
    let world = World()
    world.insert("android", 1...40)
    world.fcm.answer("android-11", with: .credentialsRefused, times: .max)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 39)
    #expect(done.counts.transientlyFailed == 1)
    #expect(!world.isCleared(11))
  }

  @Test func `a lapsed key in a mixed batch fails the job, prunes nothing, and a resume owes exactly the rest`()
    async throws
  {
    let world = World()
    world.insert("android", 1...20)
    world.insert("ios", 21...40)
    world.apns.answerEverybody(with: .credentialsRefused)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.state == .failed)
    #expect(stopped.counts.delivered == 20)
    #expect(stopped.owed == 20)
    world.apns.forgetAnswers()
    world.apns.renewCredential()
    let sentBefore = (world.fcm.sent.count, world.apns.sent.count)
    try await zonai.resume(job.id)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 40)
    #expect(world.fcm.sent.count == sentBefore.0, "who was delivered to is not sent to again")
    #expect(world.apns.sent.count == sentBefore.1 + 20)
  }

  @Test func `a setting that fits none of a platform's rows keeps them all while the other platform is delivered to`()
    async throws
  {
    let world = World()
    world.insert("android", 1...20)
    world.insert("ios", 21...40)
    let refused = Verdict(
      .transientlyFailed, fault: .configuration, reason: "THIRD_PARTY_AUTH_ERROR", status: 401,
      names: "the APNs key in the Firebase console")
    for number in 21...40 { world.fcm.answer("ios-\(number)", with: refused, times: .max) }
    let zonai = try world.zonai(transports: [world.fcm])
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 20)
    #expect(done.counts.transientlyFailed == 20)
    #expect(done.counts.permanentlyRejected == 0)
    #expect(world.fcm.sent.count == 40, "not retried")
    #expect(done.tally.contains { $0.detail.contains("the APNs key in the Firebase console") })
  }

  @Test func `a message that is refused fails the job with the field's name after a handful of sends`() async throws {
    let world = World(streams: 5)
    world.insert("android", 1...1000)
    world.fcm.answerEverybody(with: .messageRefused)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.state == .failed)
    #expect(stopped.error?.code == .message)
    #expect(stopped.error?.detail.contains("data.from") == true)
    #expect(world.fcm.sent.count <= 50)
  }

  @Test func `a service that is away longer than all attempts makes the job wait, and nobody is counted out`()
    async throws
  {
    let world = World()
    world.insert("android", 1...30)
    world.fcm.answerEverybody(with: .serviceAway())
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    let passing = Task { await world.clock.passAlong() }
    let report = try await zonai.drain()
    passing.cancel()
    let waiting = try #require(try await zonai.job(job.id))
    #expect(waiting.state == .running)
    #expect(waiting.counts.settled == 0)
    #expect(report.remaining?.owedLater == 30)
    #expect(waiting.owed == 30)

    world.fcm.forgetAnswers()
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 30)
  }

  @Test func `a throttled device is tried again by the clock, and the lane is left alone meanwhile`() async throws {
    let world = World()
    world.insert("android", 1...10)
    var throttled = Verdict.throttled(retryAfterMilliseconds: 5000)
    throttled.slowsLane = true
    world.fcm.answer("android-4", with: throttled, times: 1)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    let before = world.clock.now
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.counts.delivered == 10)
    #expect(world.fcm.sent.count == 11)
    #expect(world.clock.now - before >= 5000)
    #expect(world.events.count { if case .laneSlowed(.fcm, 5000) = $0 { true } else { false } } == 1)
  }

  @Test func `a lane that asked for less traffic is left alone by the other batches too`() async throws {
    let world = World()
    world.insert("android", 1...100)
    world.insert("ios", 101...150)
    // Counted at once, so that no batch waits for it by itself.
    let tooMuch = Verdict(
      .transientlyFailed, fault: .service, retry: .never, reason: "QUOTA_EXCEEDED", status: 429,
      retryAfterMilliseconds: 40_000, slowsLane: true)
    world.fcm.answer("android-4", with: tooMuch, times: 1)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    let drain = Task { try await zonai.drain() }
    await world.apns.waitUntilSent(50)
    await world.clock.waitForSleeper { [end = world.clock.now + 40_000] in $0 == end }
    #expect(world.fcm.sent.count == 50, "the second batch waits, on this lane alone")
    world.clock.advance(milliseconds: 40_000)
    _ = try await drain.value
    #expect(world.fcm.sent.count == 100)
    #expect(try await zonai.job(job.id)?.counts.delivered == 149)
  }

  @Test func `a paused lane holds up no stop`() async throws {
    let world = World()
    world.insert("android", 1...100)
    let tooMuch = Verdict(
      .transientlyFailed, fault: .service, retry: .never, reason: "QUOTA_EXCEEDED", status: 429,
      retryAfterMilliseconds: 40_000, slowsLane: true)
    world.fcm.answer("android-4", with: tooMuch, times: 1)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    let work = Task { try await zonai.run() }
    await world.clock.waitForSleeper { [end = world.clock.now + 40_000] in $0 == end }
    zonai.shutdown()
    _ = try await work.value
    #expect(world.fcm.sent.count == 50)
    #expect(try await zonai.job(job.id)?.owed == 50)
  }

  @Test func `what surely was not handled is sent again without using up an attempt`() async throws {
    let world = World()
    world.insert("android", 1...10)
    for number in 1...5 { world.fcm.answer("android-\(number)", with: .notHandled, times: number) }
    let zonai = try world.zonai { $0.maxAttemptsPerBatch = 1 }
    let job = try await zonai.push(.hello, to: world.audience)
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.counts.delivered == 10)
    #expect(done.counts.repeatedAfterLostAnswer == 0)
  }

  @Test func `a lost answer that was tried again is counted as a possible repeat`() async throws {
    let world = World()
    world.insert("android", 1...10)
    for number in 1...3 { world.fcm.answer("android-\(number)", with: .answerLost, times: 1) }
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.counts.delivered == 10)
    #expect(done.counts.repeatedAfterLostAnswer == 3)
    #expect(world.fcm.sent.count == 13)
  }

  @Test func `an answer that nobody knows is tried once more and then counted, with its status kept`() async throws {
    let world = World()
    world.insert("android", 1...10)
    world.fcm.answer("android-2", with: .unheardOf, times: .max)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.counts.transientlyFailed == 1)
    #expect(world.fcm.sent.count == 11)
    #expect(!world.isCleared(2))
  }

  @Test func `a time to live that runs out expires the rest`() async throws {
    let world = World()
    world.insert("android", 1...10)
    world.fcm.answerEverybody(with: .serviceAway())
    let zonai = try world.zonai()
    var message = PushMessage.hello
    message.timeToLive = 60
    let job = try await zonai.push(message, to: world.audience)
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.state == .completed)
    #expect(done.counts.expired == 10)
    #expect(world.fcm.sent.allSatisfy { $0.expiresAt == job.dueAt + 60_000 })
  }

  @Test func `a worker without APNs never sends an iOS token to FCM and says what it left`() async throws {
    let world = World()
    world.insert("android", 1...10)
    world.insert("ios", 11...20)
    let both = try world.zonai()
    let job = try await both.push(.hello, to: world.audience)
    let lacking = try world.zonai(transports: [world.fcm])
    let report = try await lacking.drain()
    #expect(report.remaining?.unservable == [job.id])
    #expect(world.fcm.sent.isEmpty)
    let error = await #expect(throws: ZonaiError.self) { try await lacking.run(only: job.id) }
    #expect(error?.code == .unservable)
    #expect(error?.sentence.contains("APNs") == true)
    try await both.drain()
    #expect(world.fcm.sent.allSatisfy { $0.token.text.hasPrefix("android") })
    #expect(try await both.job(job.id)?.counts.delivered == 20)
  }

  @Test func `rows of a platform that no lane serves are counted, and named`() async throws {
    let world = World()
    world.insert("ios", 1...5)
    world.insert("windows", 6...8)
    let zonai = try world.zonai(transports: [world.apns])
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.state == .completed)
    #expect(done.counts.delivered == 5)
    #expect(done.counts.transientlyFailed == 3)
    #expect(done.tally.contains { $0.reason == .noLane && $0.detail.contains("windows") })
  }

  @Test func `a transport that never returns is given up, and its answers count as lost`() async throws {
    let world = World()
    world.insert("android", 1...5)
    let zonai = try world.zonai { $0.sendLimitSeconds = 100 }
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let drain = Task { try await zonai.drain() }
    await world.fcm.waitUntilSent(5)
    await world.clock.turn(100_000)
    await world.clock.turn(60_000)
    await world.events.wait { if case .transportMisbehaved = $0 { true } else { false } }
    world.fcm.answersGate.open()
    let passing = Task { await world.clock.passAlong() }
    _ = try await drain.value
    passing.cancel()
    let done = try #require(try await zonai.job(job.id))
    #expect(done.counts.delivered == 5)
    #expect(done.counts.repeatedAfterLostAnswer == 5)
  }

  @Test func `a send that is slow opens nothing more after its limit, and its answers count`() async throws {
    let world = World(streams: 10)
    world.insert("android", 1...40)
    let zonai = try world.zonai { $0.sendLimitSeconds = 100 }
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let drain = Task { try await zonai.drain() }
    await world.fcm.waitUntilSent(10)
    await world.clock.turn(100_000)
    let lastAnswers = world.clock.now + 60_000
    await world.clock.waitForSleeper { $0 == lastAnswers }
    world.fcm.answersGate.open()
    await world.events.wait { if case .sent = $0 { true } else { false } }
    _ = try await drain.value
    #expect(world.fcm.sent.count == 10)
    let done = try await world.finish(job.id, with: zonai)
    #expect(done.counts.delivered == 40)
    #expect(done.counts.repeatedAfterLostAnswer == 0)
    #expect(world.fcm.sent.count == 40)
    #expect(world.events.count { if case .transportMisbehaved = $0 { true } else { false } } == 0)
  }
}
