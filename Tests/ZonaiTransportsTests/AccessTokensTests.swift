import Synchronization
import Testing
import ZonaiCore
import ZonaiJSON
import ZonaiTestKit
import ZonaiThreads

@testable import ZonaiTransports

@Suite struct AccessTokensTests {
  /// A token endpoint that answers as it was told, one after the other; the last answer stays.
  final class Script: Sendable {
    struct State {
      var replies: [TokenEndpoint.Reply]
      var assertions: [String] = []
    }
    let state: Mutex<State>
    /// Closed, it holds back every answer.
    let gate = Gate()

    init(_ replies: [TokenEndpoint.Reply]) { state = Mutex(State(replies: replies)) }

    var endpoint: TokenEndpoint {
      TokenEndpoint { assertion, _ in
        self.state.withLock { $0.assertions.append(assertion) }
        await self.gate.pass()
        return self.state.withLock { state in
          state.replies.count > 1 ? state.replies.removeFirst() : state.replies[0]
        }
      }
    }

    var asked: Int { state.withLock { $0.assertions.count } }
  }

  final class Counter: Sendable {
    private let count = Atomic(0)
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }

  /// The pauses that were made; each turned the clock instead.
  final class Pauses: Sendable {
    let list = Mutex<[Int64]>([])
  }

  /// Access tokens of one account, with a clock of their own.
  private struct Scene {
    let tokens: AccessTokens
    let script: Script
    let clock = TurnableClock()
    let pauses = Pauses()
    let thread: ThreadExecutor

    init(_ source: KeySource = .inline(TestKeys.serviceAccount()), _ replies: TokenEndpoint.Reply...) async throws {
      script = Script(replies)
      thread = try ThreadExecutor(name: "test-keys")
      let clock = clock
      tokens = AccessTokens(
        endpoint: script.endpoint,
        clock: TransportClock(
          wall: { clock.now }, monotonic: { clock.now },
          pause: { [pauses] milliseconds in
            pauses.list.withLock { $0.append(milliseconds) }
            clock.advance(milliseconds: milliseconds)
          }), executor: thread)
      _ = try await tokens.open(source, oauthEndpoint: nil)
    }

    /// The token, once the renewal in the background has brought this one.
    func token(of generation: UInt32) async throws -> Authorization {
      while true {
        let current = try await tokens.current().get()
        if current.generation >= generation { return current }
        await Task.yield()
      }
    }

    /// Returns when the endpoint has been asked so often and no renewal is under way.
    func renewed(asking count: Int) async {
      while script.asked < count { await Task.yield() }
      await tokens.settled()
    }
  }

  private static func granted(_ token: String, seconds: Int64 = 3600) -> TokenEndpoint.Reply {
    .granted(token: token, seconds: seconds)
  }

  private static func refused(_ status: Int, _ error: String?) -> TokenEndpoint.Reply {
    .refused(GoogleTokenAnswer(status: status, body: error == nil ? .other : .service, error: error))
  }

  @Test func `a token is kept, and renewed in the background five minutes before its end`() async throws {
    let scene = try await Scene(.inline(TestKeys.serviceAccount()), Self.granted("one"), Self.granted("two"))
    defer { scene.thread.close() }
    #expect(try await scene.tokens.current().get() == Authorization(field: "Bearer one", generation: 1))
    scene.clock.advance(milliseconds: 3_299_999)
    #expect(try await scene.tokens.current().get().field == "Bearer one")
    #expect(scene.script.asked == 1)
    scene.clock.advance(milliseconds: 1)
    #expect(try await scene.token(of: 2) == Authorization(field: "Bearer two", generation: 2))
    #expect(scene.script.asked == 2)
  }

  @Test func `a short token lives half its life before it is renewed`() async throws {
    let scene = try await Scene(
      .inline(TestKeys.serviceAccount()), Self.granted("one", seconds: 10), Self.granted("two"))
    defer { scene.thread.close() }
    _ = await scene.tokens.current()
    scene.clock.advance(milliseconds: 4999)
    #expect(try await scene.tokens.current().get().generation == 1)
    scene.clock.advance(milliseconds: 1)
    #expect(try await scene.token(of: 2).generation == 2)
  }

  @Test func `while the old token is good, no send waits for an endpoint that hangs`() async throws {
    let scene = try await Scene(.inline(TestKeys.serviceAccount()), Self.granted("one"), Self.granted("two"))
    defer { scene.thread.close() }
    _ = await scene.tokens.current()
    scene.script.gate.shut()
    scene.clock.advance(milliseconds: 3_300_000)
    for _ in 0..<20 { #expect(try await scene.tokens.current().get().generation == 1) }
    scene.clock.advance(milliseconds: 299_999)
    #expect(try await scene.tokens.current().get().generation == 1)
    while scene.script.asked < 2 { await Task.yield() }
    scene.script.gate.open()
    #expect(try await scene.token(of: 2).field == "Bearer two")
    #expect(scene.script.asked == 2)
  }

  @Test func `many who ask at once are one to the endpoint`() async throws {
    let scene = try await Scene(.inline(TestKeys.serviceAccount()), Self.granted("one"))
    defer { scene.thread.close() }
    scene.script.gate.shut()
    let started = Counter()
    let (script, tokens) = (scene.script, scene.tokens)
    let generations = await withTaskGroup(of: UInt32?.self) { group in
      for _ in 0..<50 {
        group.addTask {
          // The answer is held back until the last one is about to ask.
          if started.next() == 50 { script.gate.open() }
          return try? await tokens.current().get().generation
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(generations == Array(repeating: 1, count: 50))
    #expect(scene.script.asked == 1)
  }

  /// Callers on the tokens' own thread, each on the heels of the one before, until the first has its answer: at whatever
  /// moment a renewal ends, one of them has just looked and is about to ask.
  private actor Procession {
    private nonisolated let executor: ThreadExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private let tokens: AccessTokens
    private var callers: [Task<UInt32?, Never>] = []
    private var hasAnswer = false

    init(_ tokens: AccessTokens, on executor: ThreadExecutor) {
      self.tokens = tokens
      self.executor = executor
    }

    /// Every caller reports this generation as refused. The gate is opened once ten have come.
    func generations(refusing generation: UInt32, opening gate: Gate) async -> [UInt32?] {
      callers = []
      hasAnswer = false
      join(refusing: generation, opening: gate)
      var generations: [UInt32?] = []
      while generations.count < callers.count { generations.append(await callers[generations.count].value) }
      return generations
    }

    private func join(refusing generation: UInt32, opening gate: Gate) {
      let isTenth = callers.count == 9
      callers.append(
        Task {
          if isTenth { gate.open() }
          if !hasAnswer { join(refusing: generation, opening: gate) }
          let next = try? await tokens.current(afterRefusalOf: generation).get().generation
          hasAnswer = true
          return next
        })
    }
  }

  @Test func `whoever looked before a renewal ended and asks after it gets what it brought`() async throws {
    let scene = try await Scene(.inline(TestKeys.serviceAccount()), Self.granted("one"))
    defer { scene.thread.close() }
    _ = await scene.tokens.current()
    let procession = Procession(scene.tokens, on: scene.thread)
    for generation in 1...60 as ClosedRange<UInt32> {
      scene.script.gate.shut()
      let generations = await procession.generations(refusing: generation, opening: scene.script.gate)
      #expect(generations.count >= 10)
      #expect(generations.allSatisfy { $0 == generation + 1 })
    }
    #expect(scene.script.asked == 61)
  }

  @Test func `a refused generation is renewed once, whoever reports it and how often`() async throws {
    let scene = try await Scene(
      .inline(TestKeys.serviceAccount()), Self.granted("one"), Self.granted("two"), Self.granted("three"))
    defer { scene.thread.close() }
    _ = await scene.tokens.current()
    #expect(try await scene.tokens.current(afterRefusalOf: 1).get().generation == 2)
    // A late answer to the old token.
    #expect(try await scene.tokens.current(afterRefusalOf: 1).get().generation == 2)
    #expect(scene.script.asked == 2)
    #expect(try await scene.tokens.current(afterRefusalOf: 2).get().generation == 3)
  }

  @Test func `invalid_grant is tried once more after a pause, with another iat`() async throws {
    let scene = try await Scene(
      .inline(TestKeys.serviceAccount()), Self.refused(400, "invalid_grant"), Self.granted("one"))
    defer { scene.thread.close() }
    #expect(try await scene.tokens.current().get().generation == 1)
    #expect(scene.pauses.list.withLock { $0 } == [2000])
    let issued = try scene.script.state.withLock { $0.assertions }.map { try Self.claims($0)["iat"]?.integer }
    #expect(issued.count == 2)
    #expect(issued[0] != issued[1])
  }

  @Test func `invalid_grant twice is the credential's fault`() async throws {
    let scene = try await Scene(.inline(TestKeys.serviceAccount()), Self.refused(400, "invalid_grant"))
    defer { scene.thread.close() }
    let refusal = await #expect(throws: LaneRefusal.self) { try await scene.tokens.current().get() }
    #expect(refusal?.verdict.outcome == .jobFails)
    #expect(refusal?.verdict.fault == .credentials)
    #expect(refusal?.verdict.names == "fcm.serviceAccount")
    #expect(scene.script.asked == 2)
  }

  @Test(
    arguments: [
      (refused(503, nil), Fault.service, Verdict.Outcome.transientlyFailed),
      (refused(500, "internal_failure"), .service, .transientlyFailed),
      (refused(429, nil), .service, .transientlyFailed),
      (refused(404, nil), .service, .transientlyFailed), (refused(400, "solar_flare"), .service, .transientlyFailed),
      (refused(401, "deleted_client"), .credentials, .jobFails),
      (.unreachable(ConnectionVerdicts.verdict(for: .timedOut, on: .fcm)), .service, .transientlyFailed),
    ] as [(TokenEndpoint.Reply, Fault, Verdict.Outcome)])
  func `whose fault it is that there is no token`(
    _ reply: TokenEndpoint.Reply, _ fault: Fault, _ outcome: Verdict.Outcome
  ) async throws {
    let scene = try await Scene(.inline(TestKeys.serviceAccount()), reply)
    defer { scene.thread.close() }
    let refusal = await #expect(throws: LaneRefusal.self) { try await scene.tokens.current().get() }
    #expect(refusal?.verdict.fault == fault)
    #expect(refusal?.verdict.outcome == outcome)
    #expect(scene.script.asked == 1)
  }

  @Test func `while the old token is good, an endpoint that is away stops nobody and is not asked in a hot loop`()
    async throws
  {
    let scene = try await Scene(
      .inline(TestKeys.serviceAccount()), Self.granted("one"), Self.refused(503, nil), Self.refused(503, nil),
      Self.refused(503, nil), Self.granted("two"))
    defer { scene.thread.close() }
    _ = await scene.tokens.current()
    scene.clock.advance(milliseconds: 3_300_000)
    #expect(try await scene.tokens.current().get().generation == 1)
    await scene.renewed(asking: 2)
    for _ in 0..<20 { #expect(try await scene.tokens.current().get().generation == 1) }
    #expect(scene.script.asked == 2)
    scene.clock.advance(milliseconds: 10_000)
    #expect(try await scene.tokens.current().get().generation == 1)
    await scene.renewed(asking: 3)
    // Past its end it is not used any more.
    scene.clock.advance(milliseconds: 290_000)
    await #expect(throws: LaneRefusal.self) { try await scene.tokens.current().get() }
    #expect(try await scene.tokens.current().get().field == "Bearer two")
  }

  @Test func `a refused token is not used again because its renewal fails`() async throws {
    let scene = try await Scene(.inline(TestKeys.serviceAccount()), Self.granted("one"), Self.refused(503, nil))
    defer { scene.thread.close() }
    _ = await scene.tokens.current()
    await #expect(throws: LaneRefusal.self) { try await scene.tokens.current(afterRefusalOf: 1).get() }
  }

  @Test func `a replaced key file is read again, a broken one leaves the old key`() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("account.json", TestKeys.serviceAccount())
    let scene = try await Scene(
      .file(path), Self.granted("one"), Self.granted("two"), Self.granted("three"), Self.refused(503, nil),
      Self.refused(400, "invalid_grant"), Self.refused(400, "invalid_grant"), Self.granted("four"))
    defer { scene.thread.close() }
    _ = await scene.tokens.current()
    let other = TestKeys.made("openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048")
    try folder.write(
      "account.json",
      TestKeys.serviceAccount(changed: { members in
        members["private_key"] = .string(other)
        members["private_key_id"] = "key-2"
      }))
    #expect(try await scene.token(of: 2).generation == 2)
    let kids = try scene.script.state.withLock { $0.assertions }.map { try Self.header($0)["kid"]?.string }
    #expect(kids == ["key-1", "key-2"])

    try folder.write("account.json", "{ half of")
    #expect(try await scene.tokens.current().get().generation == 2)
    // The key that was read last goes on.
    #expect(try await scene.tokens.current(afterRefusalOf: 2).get().generation == 3)
    // An endpoint that is away is not the file's fault, a refused key may be.
    func refusal(_ generation: UInt32) async -> Verdict? {
      await #expect(throws: LaneRefusal.self) {
        try await scene.tokens.current(afterRefusalOf: generation).get()
      }?.verdict
    }
    #expect(await refusal(3)?.fault == .service)
    let named = await refusal(3)
    #expect(named?.fault == .credentials)
    #expect(named?.words?.contains("is not JSON") == true)
    try folder.write("account.json", TestKeys.serviceAccount())
    #expect(try await scene.token(of: 4).generation == 4)
  }

  @Test func `a file of another project is refused while the lane is open`() async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("account.json", TestKeys.serviceAccount())
    let scene = try await Scene(.file(path), Self.granted("one"))
    defer { scene.thread.close() }
    try folder.write("account.json", TestKeys.serviceAccount(project: "other-project"))
    let refusal = await #expect(throws: LaneRefusal.self) { try await scene.tokens.current().get() }
    #expect(refusal?.verdict.words?.contains("other-project") == true)
    #expect(scene.script.asked == 0)
  }

  @Test func `the assertion says who asks, for what, of whom and for how long`() async throws {
    let scene = try await Scene(.inline(TestKeys.serviceAccount()), Self.granted("one"))
    defer { scene.thread.close() }
    _ = await scene.tokens.current()
    let claims = try Self.claims(scene.script.state.withLock { $0.assertions[0] })
    let now = scene.clock.now / 1000
    #expect(
      claims == [
        "iss": "sender@demo-project.iam.gserviceaccount.com", "aud": "https://oauth2.googleapis.com/token",
        "scope": "https://www.googleapis.com/auth/firebase.messaging", "iat": .integer(now),
        "exp": .integer(now + 3600),
      ])
  }

  private static func part(_ assertion: String, _ index: Int) throws -> JSON {
    let text = String(assertion.split(separator: ".")[index])
    let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
    return try JSON(parsing: shell("printf %s '\(padded)' | basenc -d --base64url").output)
  }
  private static func header(_ assertion: String) throws -> JSON { try part(assertion, 0) }
  private static func claims(_ assertion: String) throws -> JSON { try part(assertion, 1) }
}
