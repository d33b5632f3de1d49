import Testing
import ZonaiCore
import ZonaiTestKit

@Suite(.timeLimit(.minutes(1))) struct AppTests {
  private static let other = LaneIdentity(.fcm, account: "another project", host: "fcm.example")

  private static func scripted(_ world: World, _ identity: LaneIdentity) -> ScriptedTransport {
    ScriptedTransport(Lane(identity: identity, fingerprint: "other"), clock: world.clock)
  }

  @Test func `a worker of another identity is refused before it is listed, and settles nothing`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let job = try await world.zonai(transports: [world.fcm]).push(.hello, to: world.audience)
    let wrong = Self.scripted(world, Self.other)
    let zonai = try world.zonai(transports: [wrong])
    let worked = await #expect(throws: StoreError.self) { try await zonai.run() }
    #expect(worked?.code == .otherBinding)
    let pushed = await #expect(throws: StoreError.self) { try await zonai.push(.hello, to: world.audience) }
    #expect(pushed?.code == .otherBinding)
    for identity in [LaneIdentity.scripted(.fcm), Self.other] {
      #expect(worked?.sentence.contains("\(identity)") == true, "\(worked?.sentence ?? "")")
    }
    #expect(wrong.sent.isEmpty)
    #expect(try await zonai.workers().isEmpty)
    #expect(try await zonai.job(job.id)?.state == .pending)
  }

  @Test func `a worker that runs while its app is bound elsewhere settles what it has and ends`() async throws {
    let world = World(streams: 10)
    world.insert("android", 1...30)
    let zonai = try world.zonai(transports: [world.fcm]) { ($0.batchSize, $0.firstBatchSize) = (10, 10) }
    let job = try await zonai.push(.hello, to: world.audience)
    world.fcm.answersGate.shut()
    let work = Task { try await zonai.run() }
    await world.fcm.waitUntilSent(10)
    try await world.zonai(transports: [Self.scripted(world, Self.other)]).rebind()
    world.fcm.answersGate.open()
    let error = await #expect(throws: StoreError.self) { try await work.value }
    #expect(error?.code == .rebound)
    for identity in [LaneIdentity.scripted(.fcm), Self.other] {
      #expect(error?.sentence.contains("\(identity)") == true, "\(error?.sentence ?? "")")
    }
    let stopped = try #require(try await zonai.job(job.id))
    #expect(stopped.state == .failed)
    #expect(stopped.error?.code == .rebound)
    #expect(stopped.counts.delivered == 10)
    #expect(world.fcm.sent.count == 10)
  }

  @Test func `a job of another app is not worked on, by its id either`() async throws {
    let world = World()
    world.insert("android", 1...3)
    let job = try await world.zonai(app: "shop").push(.hello, to: world.audience)
    let zonai = try world.zonai()
    let error = await #expect(throws: ZonaiError.self) { try await zonai.run(only: job.id) }
    #expect(error?.code == .unservable)
    #expect(error?.sentence.contains("belongs to the app 'shop'") == true)
    #expect(world.sentTokens.isEmpty)
    let done = try await world.finish(job.id, with: try world.zonai(app: "shop"))
    #expect(done.counts.delivered == 3)
  }

  @Test func `a name that is none is refused when the engine is set up`() throws {
    let error = #expect(throws: ZonaiError.self) { try World().zonai(app: "my shop") }
    #expect(error?.code == .invalidOption)
    #expect(error?.sentence.contains("'my shop' cannot be the name of an app") == true)
  }

  @Test(arguments: [
    ("", true), ("a", true), ("0", true), ("Shop-1.dev_2", true), (String(repeating: "x", count: 64), true),
    (String(repeating: "x", count: 65), false), ("-x", false), (".x", false), ("_x", false), ("a b", false),
    ("caf\u{e9}", false), ("a/b", false), ("a\n", false), ("?", false),
  ])
  func `a name has letters, digits and a few signs`(_ name: String, isName: Bool) {
    #expect((AppName(rawValue: name).problem == nil) == isName)
  }
}
