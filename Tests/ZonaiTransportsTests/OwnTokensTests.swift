import Testing
import ZonaiCore
import ZonaiTestKit

@testable import ZonaiTransports

/// Provider tokens that nobody shares: each process makes its own, and they are the same.
@Suite struct OwnTokensTests {
  /// At the beginning of a slot.
  private let clock = TurnableClock(now: 1_700_000_000_000 / ProviderTokenMint.slot * ProviderTokenMint.slot)

  private struct Process {
    let tokens: ProviderTokens
    let clock: TransportClock

    init(_ clock: TurnableClock, wrongBy minutes: Int64 = 0) throws {
      tokens = ProviderTokens(try .test())
      self.clock = TransportClock(clock, wrongBy: minutes)
    }

    func current() async throws -> Secret { try await tokens.current(secrets: nil, clock: clock) }

    func current(afterExpiryOf refused: Secret) async throws -> Secret {
      try await tokens.current(afterExpiryOf: refused, secrets: nil, clock: clock)
    }
  }

  @Test func `processes whose clocks nearly agree make the same token, slot after slot`() async throws {
    clock.advance(minutes: 5)
    let processes = try [-4, -1, 0, 2, 9].map { try Process(clock, wrongBy: $0) }
    var seen: [Int64] = []
    for _ in 0..<4 {
      var tokens: Set<Secret> = []
      for process in processes { tokens.insert(try await process.current()) }
      #expect(tokens.count == 1)
      seen += tokens.map(\.madeAt)
      clock.advance(minutes: 30)
    }
    // Apple wants twenty minutes between two.
    #expect(zip(seen.dropFirst(), seen).allSatisfy { $0 - $1 == ProviderTokenMint.slot })
  }

  @Test func `a token that was made late in its slot is kept for twenty minutes, and is never too old`() async throws {
    clock.advance(minutes: 29)
    let process = try Process(clock)
    let first = try await process.current()
    for _ in 0..<19 {
      clock.advance(minutes: 1)
      #expect(try await process.current() == first)
    }
    clock.advance(minutes: 1)
    let second = try await process.current()
    #expect(second != first)
    #expect(clock.now - first.madeAt < ProviderTokens.greatestAge)
  }

  @Test(arguments: [(0, false), (19, false), (20, true), (29, true), (45, true)] as [(Int64, Bool)])
  func `a token that APNs calls expired is replaced only when it is twenty minutes old`(
    _ age: Int64, _ isReplaced: Bool
  ) async throws {
    let process = try Process(clock)
    let first = try await process.current()
    clock.advance(minutes: age)
    if isReplaced {
      #expect(try await process.current(afterExpiryOf: first).madeAt > first.madeAt)
    } else {
      await #expect(throws: TokenShortage.wrongClock(age: age * 60_000, isShared: false)) {
        try await process.current(afterExpiryOf: first)
      }
    }
  }

  @Test func `a machine that slept makes a new one when it wakes`() async throws {
    let tokens = ProviderTokens(try .test())
    let first = try await tokens.current(secrets: nil, clock: TransportClock(clock))
    // Its monotonic clock stood still meanwhile.
    let awake = TransportClock(clock, wrongBy: 120)
    #expect(try await tokens.current(secrets: nil, clock: awake).madeAt == first.madeAt + 120 * 60_000)
  }
}

/// https://www.rfc-editor.org/rfc/rfc6979, A.2.5
@Suite struct RepeatableSignatureTests {
  private static func key() throws -> SigningKey {
    let pem = shell(
      """
      { echo '-----BEGIN EC PRIVATE KEY-----'; printf %s \
      30310201010420C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721A00A06082A8648CE3D030107 \
      | basenc -d --base16 | base64 -w 64; echo '-----END EC PRIVATE KEY-----'; }
      """)
    return try SigningKey.read(pem: pem.output, for: .es256)
  }

  @Test(arguments: [
    (
      "sample",
      "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
        + "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    ),
    (
      "test",
      "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367"
        + "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
    ),
  ])
  func `the signatures are those of the standard`(_ message: String, _ signature: String) throws {
    let key = try Self.key()
    for _ in 0..<3 { #expect(key.signRepeatably(Array(message.utf8))?.hex == signature.lowercased()) }
  }

  @Test func `an ordinary signature differs each time, which is why there is another kind`() throws {
    let key = try Self.key()
    #expect(key.sign([1, 2, 3]) != key.sign([1, 2, 3]))
  }

  @Test func `a key for another algorithm signs nothing so`() throws {
    #expect(try SigningKey.read(pem: TestKeys.rsa, for: .rs256).signRepeatably([1]) == nil)
  }
}
