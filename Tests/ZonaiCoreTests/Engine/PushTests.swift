import Testing
import ZonaiCore
import ZonaiTestKit

struct PushTests {
  @Test func `an oversized message is refused before anything is written`() async throws {
    let world = World()
    let zonai = try world.zonai()
    let message = PushMessage(title: "x", body: String(repeating: "y", count: 5000))
    let error = await #expect(throws: MessageFault.self) { try await zonai.push(message, to: world.audience) }
    #expect(error?.field == "body")
    #expect(try await zonai.jobs().isEmpty)
  }

  @Test func `a reserved data key is refused before anything is written`() async throws {
    let world = World()
    let zonai = try world.zonai()
    let message = PushMessage(title: "x", data: ["from": "me"])
    await #expect(throws: MessageFault.self) { try await zonai.push(message, to: world.audience) }
    #expect(try await zonai.jobs().isEmpty)
  }

  @Test func `an audience that nothing configured serves is refused`() async throws {
    let world = World()
    let none = try world.zonai(transports: [])
    let error = await #expect(throws: ZonaiError.self) { try await none.push(.hello, to: world.audience) }
    #expect(error?.code == .noTransport)

    let apns = try world.zonai(transports: [world.apns])
    let android = Audience(World.devices, token: "token", platform: .fixed(Platform("Android")))
    let other = await #expect(throws: ZonaiError.self) { try await apns.push(.hello, to: android) }
    #expect(other?.sentence == "nothing configured serves android; there is APNs")
  }

  @Test func `a process without lanes enqueues with routes that it is given`() async throws {
    let world = World()
    world.insert("ios", 1...3)
    let web = try world.zonai(transports: [])
    let routes = Routes(configured: [.fcm, .apns], audienceHasPlatform: true)
    let job = try await web.push(.hello, to: world.audience, routes: routes)
    let worker = try world.zonai()
    try await worker.drain()
    #expect(try await web.job(job.id)?.counts.delivered == 3)
  }

  @Test func `one idempotency key is one job, and refused with another content`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience, idempotencyKey: "monday")
    let again = try await zonai.push(.hello, to: world.audience, idempotencyKey: "monday")
    #expect(job.id == again.id)
    #expect(world.events.count { if case .enqueued(_, wasThere: true) = $0 { true } else { false } } == 1)
    let error = await #expect(throws: StoreError.self) {
      try await zonai.push(PushMessage(title: "other"), to: world.audience, idempotencyKey: "monday")
    }
    #expect(error?.code == .idempotencyClash)
  }

  @Test func `the policy of the options holds unless the push says otherwise`() async throws {
    let world = World()
    let zonai = try world.zonai { $0.onPermanentRejection = .none }
    let job = try await zonai.push(.hello, to: world.audience)
    #expect(job.definition.policy == .none)
    let other = try await zonai.push(.hello, to: world.audience, policy: .deleteRow)
    #expect(other.definition.policy == .deleteRow)
    #expect(ZonaiOptions().onPermanentRejection == .clearColumn)
  }

  @Test func `a lane that no row can be routed to may dislike the message`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let narrow = ScriptedTransport(Lane(transport: .apns, fingerprint: "narrow"), clock: world.clock, limit: 1)
    let zonai = try world.zonai(transports: [world.fcm, narrow])
    let android = Audience(World.devices, token: "token", platform: .fixed(Platform("android")))
    let job = try await zonai.push(.hello, to: android)
    try await zonai.drain()
    #expect(try await zonai.job(job.id)?.counts.delivered == 3)
    await #expect(throws: MessageFault.self) { try await zonai.push(.hello, to: world.audience) }
  }

  @Test func `an estimate counts by platform and lane, shows sizes and writes nothing`() async throws {
    let world = World()
    world.insert("android", 1...5)
    world.insert("iOS", 6...8)
    world.insert("windows", 9...9)
    let zonai = try world.zonai()
    let estimate = try await zonai.count(PushMessage(title: "12345"), to: world.audience)
    #expect(estimate.recipients == 9)
    #expect(estimate.audience.key == ["id"])
    #expect(estimate.reach.map(\.platform.name) == ["android", "ios", "windows"])
    #expect(estimate.reach.map(\.transport) == [.fcm, .apns, .fcm])
    #expect(estimate.reach.map(\.recipients) == [5, 3, 1])
    #expect(estimate.sizes.map(\.transport) == [.apns, .fcm])
    #expect(estimate.sizes.allSatisfy { $0.bytes == 5 && $0.limit == 4096 })
    #expect(try await zonai.jobs().isEmpty)
    #expect(world.sentTokens.isEmpty)
  }

  @Test func `a message that this worker's lane refuses fails the job before anything is sent`() async throws {
    let world = World()
    world.insert("android", 1...5)
    let generous = try world.zonai()
    let job = try await generous.push(
      PushMessage(title: "x", body: String(repeating: "y", count: 100)), to: world.audience)
    let strict = ScriptedTransport(world.fcm.lane, clock: world.clock, limit: 50)
    let worker = try world.zonai(transports: [strict, world.apns])
    try await worker.drain()
    let stopped = try #require(try await worker.job(job.id))
    #expect(stopped.state == .failed)
    #expect(stopped.error?.code == .message)
    #expect(strict.sent.isEmpty)
    #expect(stopped.counts.settled == 0)

    // Another worker, with another limit: the job goes on and nobody is skipped.
    try await generous.resume(job.id)
    try await generous.drain()
    #expect(try await generous.job(job.id)?.counts.delivered == 5)
  }

  @Test func `two transports of one name, or a table described twice, are refused`() throws {
    let world = World()
    #expect(throws: ZonaiError.self) { try world.zonai(transports: [world.fcm, world.fcm]) }
    let table = Table(World.devices, token: "token") { $0 }
    let error = #expect(throws: ZonaiError.self) { try world.zonai(tables: [table, table]) }
    #expect(error?.code == .describedTwice)
  }

  static let mistakes: [(String, @Sendable (inout ZonaiOptions) -> Void)] = [
    ("batchSize", { $0.batchSize = 0 }),
    ("batchSize", { $0.batchSize = 100_000 }),
    ("batchesInFlight", { $0.batchesInFlight = 0 }),
    ("maxAttemptsPerBatch", { $0.maxAttemptsPerBatch = 0 }),
    ("retryBaseSeconds", { $0.retryBaseSeconds = 0 }),
    ("retryBaseSeconds", { $0.retryBaseSeconds = 120 }),
    ("retryBaseSeconds", { $0.retryBaseSeconds = .nan }),
    ("maxRetryDelaySeconds", { $0.maxRetryDelaySeconds = -1 }),
    ("hookTimeoutSeconds", { $0.hookTimeoutSeconds = .infinity }),
    ("hooksAtOnce", { $0.hooksAtOnce = 0 }),
    ("leaseSeconds", { $0.leaseSeconds = 0.5 }),
    ("gracePeriodSeconds", { $0.gracePeriodSeconds = -1 }),
    ("pollSeconds", { $0.pollSeconds = 0 }),
    ("workerName", { $0.workerName = "" }),
  ]

  @Test(arguments: mistakes)
  func `an option out of its range is refused by its name`(
    _ name: String, _ change: @Sendable (inout ZonaiOptions) -> Void
  ) {
    var options = ZonaiOptions()
    change(&options)
    let changed = options
    let error = #expect(throws: ZonaiError.self) { try changed.validate() }
    #expect(error?.code == .invalidOption)
    #expect(error?.sentence.hasPrefix(name) == true)
  }

  @Test func `the options' defaults are valid`() throws { try ZonaiOptions().validate() }

  @Test func `ended jobs are removed, and shown until then`() async throws {
    let world = World()
    world.insert("android", 1...2)
    let zonai = try world.zonai()
    let job = try await zonai.push(.hello, to: world.audience)
    try await zonai.drain()
    #expect(try await zonai.jobs(states: [.completed]).map(\.id) == [job.id])
    #expect(try await zonai.jobs(states: [.failed]).isEmpty)
    world.clock.advance(milliseconds: 10_000)
    #expect(try await zonai.removeJobs(endedBefore: 60) == 0)
    #expect(try await zonai.removeJobs(endedBefore: 5) == 1)
    #expect(try await zonai.jobs().isEmpty)
  }
}
