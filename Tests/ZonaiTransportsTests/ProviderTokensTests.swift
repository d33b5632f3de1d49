import Synchronization
import Testing
import ZonaiCore
import ZonaiTestKit

@testable import ZonaiTransports

/// A store of secrets with a clock of its own, that counts and can be away.
final class CountingSecrets: SecretStore {
  let clock = TurnableClock()
  /// Closed, it holds back every answer.
  let gate = Gate()
  private let held = Mutex<[String: Secret]>([:])
  private let minted = Atomic(0)
  private let calls = Atomic(0)
  private let broken = Atomic(false)

  var isBroken: Bool {
    get { broken.load(ordering: .relaxed) }
    set { broken.store(newValue, ordering: .relaxed) }
  }
  var asked: Int { calls.load(ordering: .relaxed) }
  var names: [String] { held.withLock { Array($0.keys) } }
  var stored: Int { minted.load(ordering: .relaxed) }

  func exchange(_ offer: SecretOffer) async throws(StoreError) -> SecretAnswer {
    calls.add(1, ordering: .relaxed)
    await gate.pass()
    if isBroken { throw StoreError(.unavailable, "away") }
    let now = clock.now
    return held.withLock { held in
      if let stored = held[offer.name], stored.madeAt >= offer.notMadeBefore, stored.endsAt > now {
        return SecretAnswer(secret: stored, now: now)
      }
      guard let secret = offer.secret else { return SecretAnswer(secret: nil, now: now) }
      minted.add(1, ordering: .relaxed)
      held[offer.name] = secret
      return SecretAnswer(secret: secret, now: now)
    }
  }
}

extension ProviderTokenMint {
  static func test(_ pem: String = TestKeys.p256, teamId: String = "TEAMTEAM01") throws -> ProviderTokenMint {
    ProviderTokenMint(
      teamId: teamId, keyId: "KEYKEYKEY1", key: try APNsKey(pem: pem, source: .inline(pem), setting: "apns.key"))
  }
}

extension TransportClock {
  /// That of a machine whose clock is wrong by so many minutes.
  init(_ clock: TurnableClock, wrongBy minutes: Int64 = 0) {
    self.init(wall: { clock.now + minutes * 60_000 }, monotonic: { clock.now }, pause: { _ in })
  }
}

extension TurnableClock {
  func advance(minutes: Int64) { advance(milliseconds: minutes * 60_000) }
}

/// Tokens that processes share.
@Suite struct ProviderTokensTests {
  private let secrets = CountingSecrets()

  /// A process on a machine whose clock is wrong by so many minutes.
  private struct Process {
    let tokens: ProviderTokens
    let secrets: CountingSecrets
    let clock: TransportClock

    init(_ secrets: CountingSecrets, wrongBy minutes: Int64 = 0, key: String = TestKeys.p256) throws {
      tokens = ProviderTokens(try .test(key))
      self.secrets = secrets
      clock = TransportClock(secrets.clock, wrongBy: minutes)
    }

    func current() async throws -> Secret { try await tokens.current(secrets: secrets, clock: clock) }

    func current(afterExpiryOf refused: Secret) async throws -> Secret {
      try await tokens.current(afterExpiryOf: refused, secrets: secrets, clock: clock)
    }

    /// The token, once the renewal in the background has replaced this one.
    func replaced(_ old: Secret) async throws -> Secret {
      while true {
        let current = try await current()
        if current != old { return current }
        await Task.yield()
      }
    }
  }

  @Test(arguments: [0, 180, -180] as [Int64])
  func `a token is kept for fifty minutes by the store's clock, whatever this machine's says`(
    _ minutes: Int64
  ) async throws {
    let process = try Process(secrets, wrongBy: minutes)
    secrets.clock.advance(milliseconds: 999)
    let first = try await process.current()
    // The iat is in whole seconds.
    #expect(first.madeAt == secrets.clock.now - 999)
    #expect(first.endsAt == first.madeAt + 3_600_000)
    secrets.clock.advance(milliseconds: 50 * 60_000 - 1000)
    #expect(try await process.current() == first)
    secrets.clock.advance(milliseconds: 1)
    let second = try await process.replaced(first)
    #expect(second.madeAt == first.madeAt + 50 * 60_000)
    #expect(secrets.stored == 2)
  }

  @Test(arguments: [(0, false), (1, false), (19, false), (20, true), (49, true)] as [(Int64, Bool)])
  func `a token that APNs calls expired is replaced only when it is twenty minutes old`(
    _ age: Int64, _ isReplaced: Bool
  ) async throws {
    let process = try Process(secrets, wrongBy: 60)
    let first = try await process.current()
    secrets.clock.advance(minutes: age)
    if isReplaced {
      #expect(try await process.current(afterExpiryOf: first).madeAt == first.madeAt + age * 60_000)
    } else {
      await #expect(throws: TokenShortage.wrongClock(age: age * 60_000, isShared: true)) {
        try await process.current(afterExpiryOf: first)
      }
    }
    #expect(secrets.stored == (isReplaced ? 2 : 1))
  }

  @Test func `a late answer to an old token mints nothing`() async throws {
    let process = try Process(secrets)
    let first = try await process.current()
    secrets.clock.advance(minutes: 30)
    let second = try await process.current(afterExpiryOf: first)
    secrets.clock.advance(minutes: 1)
    #expect(second != first)
    #expect(try await process.current(afterExpiryOf: first) == second)
    #expect(secrets.stored == 2)
  }

  @Test func `two processes that share secrets send the same token`() async throws {
    let (one, two) = (try Process(secrets, wrongBy: -45), try Process(secrets, wrongBy: 50))
    let first = try await one.current()
    secrets.clock.advance(minutes: 10)
    #expect(try await two.current() == first)
    // One of them replaces it, the other follows.
    secrets.clock.advance(minutes: 40)
    let second = try await two.replaced(first)
    #expect(try await one.replaced(first) == second)
    // One hears that it has expired; the other, a moment later, gets what the first one minted.
    secrets.clock.advance(minutes: 25)
    let third = try await one.current(afterExpiryOf: second)
    #expect(third != second)
    secrets.clock.advance(milliseconds: 1000)
    #expect(try await two.current(afterExpiryOf: second) == third)
    #expect(secrets.stored == 3)
  }

  @Test func `many who find it old at once are one to the store`() async throws {
    let process = try Process(secrets)
    let first = try await process.current()
    secrets.clock.advance(minutes: 50)
    let before = secrets.asked
    let found = try await withThrowingTaskGroup(of: Secret.self) { group in
      for _ in 0..<50 { group.addTask { try await process.current() } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(found.count <= 2)
    let second = try await process.replaced(first)
    #expect(found.isSubset(of: [first, second]))
    // It asked, and it offered.
    #expect(secrets.asked == before + 2)
  }

  @Test func `a refused token that another one's renewal brings back is replaced all the same`() async throws {
    let process = try Process(secrets)
    let first = try await process.current()
    secrets.clock.advance(minutes: 25)
    // The store finds it young enough; this machine, whose clock jumped, asks.
    let jumped = TransportClock(secrets.clock, wrongBy: 30)
    secrets.gate.shut()
    #expect(try await process.tokens.current(secrets: secrets, clock: jumped) == first)
    while secrets.asked < 3 { await Task.yield() }
    async let refused = process.current(afterExpiryOf: first)
    secrets.gate.open()
    #expect(try await refused != first)
    #expect(secrets.stored == 2)
  }

  @Test func `a wrong key that was put right does not find the old token`() async throws {
    let wrong = try await Process(secrets, key: TestKeys.otherP256).current()
    let right = try await Process(secrets).current()
    #expect(wrong != right)
    #expect(secrets.names.count == 2)
    #expect(secrets.names.allSatisfy { $0.hasPrefix("apns TEAMTEAM01 KEYKEYKEY1 ") })
  }

  @Test func `while the shared place is away the old token goes on, and nobody makes one of their own`() async throws {
    let process = try Process(secrets)
    let first = try await process.current()
    #expect(secrets.asked == 2)
    secrets.isBroken = true
    secrets.clock.advance(minutes: 50)
    for attempt in 3...5 {
      // It is asked again every ten seconds, not for every batch.
      #expect(try await process.current() == first)
      await process.tokens.settled()
      for _ in 0..<20 { #expect(try await process.current() == first) }
      #expect(secrets.asked == attempt)
      secrets.clock.advance(milliseconds: 10_000)
    }
    secrets.isBroken = false
    let second = try await process.replaced(first)
    #expect(secrets.stored == 2)
    secrets.isBroken = true
    let shortage = TokenShortage.notShared("unavailable: away")
    // Refused, too old to be sent, or not there at all.
    secrets.clock.advance(minutes: 30)
    await #expect(throws: shortage) { try await process.current(afterExpiryOf: second) }
    #expect(try await process.current() == second)
    secrets.clock.advance(minutes: 29)
    await #expect(throws: shortage) { try await process.current() }
    await #expect(throws: shortage) { try await Process(secrets).current() }
  }

  @Test func `while the old token is good, no send waits for a store that hangs`() async throws {
    let process = try Process(secrets)
    let first = try await process.current()
    secrets.gate.shut()
    secrets.clock.advance(minutes: 50)
    for _ in 0..<20 { #expect(try await process.current() == first) }
    secrets.clock.advance(minutes: 8)
    #expect(try await process.current() == first)
    secrets.gate.open()
    #expect(try await process.replaced(first).madeAt > first.madeAt)
    #expect(secrets.stored == 2)
  }

  @Test func `one process has one token for a key, another key its own`() throws {
    let registry = ProviderTokenRegistry()
    let (one, again) = (try ProviderTokenMint.test(), try ProviderTokenMint.test())
    #expect(registry.tokens(of: one) === registry.tokens(of: again))
    #expect(registry.tokens(of: one) !== registry.tokens(of: try .test(TestKeys.otherP256)))
    #expect(registry.tokens(of: one) !== registry.tokens(of: try .test(teamId: "TEAMTEAM02")))
    #expect(registry.tokens(of: one) !== ProviderTokenRegistry().tokens(of: one))
  }

  @Test func `a secret shows nothing of itself, nor does the offer of one`() {
    let secret = Secret(value: "hush", madeAt: 1)
    let offer = SecretOffer(name: "n", secret: secret, notMadeBefore: 0)
    for text in [
      "\(secret)", String(reflecting: secret), "\(offer)", String(reflecting: offer),
      "\(SecretAnswer(secret: secret, now: 1))",
    ] {
      #expect(!text.contains("hush"))
    }
  }
}
