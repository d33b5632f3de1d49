import Synchronization
import Testing
import ZonaiCore
import ZonaiTestKit
import ZonaiThreads

@testable import ZonaiTransports

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite struct ProviderTokensTests {
  private static let minute: Int64 = 60_000
  private static let start: Int64 = 1_700_000_000_000

  private func tokens(_ pem: String = TestKeys.p256) throws -> ProviderTokens {
    ProviderTokens(
      teamId: "TEAMTEAM01", keyId: "KEYKEYKEY1", key: try APNsKey(pem: pem, source: .inline(pem), setting: "apns.key"))
  }

  @Test func `a token is kept for fifty minutes of its iat, and then replaced`() async throws {
    let tokens = try tokens()
    let first = try await tokens.current(secrets: nil, now: Self.start + 999)
    // The iat is in whole seconds.
    #expect(first.madeAt == Self.start)
    #expect(try await tokens.current(secrets: nil, now: Self.start + 50 * Self.minute - 1) == first)
    let second = try await tokens.current(secrets: nil, now: Self.start + 50 * Self.minute)
    #expect(second != first)
    #expect(second.madeAt == Self.start + 50 * Self.minute)
  }

  @Test(
    arguments: [
      (0, false), (1, false), (19, false), (20, true), (49, true), (-19, false), (-90, true),
    ] as [(Int64, Bool)])
  func `a token that APNs calls expired is replaced only when it is twenty minutes old`(
    _ age: Int64, _ isReplaced: Bool
  ) async throws {
    let tokens = try tokens()
    let first = try await tokens.current(secrets: nil, now: Self.start)
    let second = try? await tokens.current(afterExpiryOf: first, secrets: nil, now: Self.start + age * Self.minute)
    #expect((second != nil) == isReplaced)
    #expect(second != first)
  }

  @Test func `a late answer to an old token mints nothing`() async throws {
    let tokens = try tokens()
    let first = try await tokens.current(secrets: nil, now: Self.start)
    let second = try await tokens.current(afterExpiryOf: first, secrets: nil, now: Self.start + 30 * Self.minute)
    let third = try await tokens.current(afterExpiryOf: first, secrets: nil, now: Self.start + 31 * Self.minute)
    #expect(second != first)
    #expect(third == second)
  }

  @Test func `one process has one token for a key, another key its own`() throws {
    let one = try APNsKey(pem: TestKeys.p256, source: .inline(""), setting: "")
    let again = try APNsKey(pem: TestKeys.p256, source: .inline(""), setting: "")
    let other = try APNsKey(pem: TestKeys.otherP256, source: .inline(""), setting: "")
    func shared(_ team: String, _ id: String, _ key: APNsKey) -> ProviderTokens {
      ProviderTokens.shared(teamId: team, keyId: id, key: key)
    }
    #expect(shared("T", "K", one) === shared("T", "K", again))
    #expect(shared("T", "K", one) !== shared("T", "K", other))
    #expect(shared("T", "K", one) !== shared("T", "L", one))
    #expect(shared("T", "K", one) !== shared("U", "K", one))
  }

  @Test func `two processes that share secrets send the same token`() async throws {
    let secrets = Secrets()
    let (one, two) = (try tokens(), try tokens())
    let first = try await one.current(secrets: secrets, now: Self.start)
    #expect(try await two.current(secrets: secrets, now: Self.start + 10 * Self.minute) == first)
    // One of them replaces it, the other follows.
    let second = try await two.current(secrets: secrets, now: Self.start + 50 * Self.minute)
    #expect(second != first)
    #expect(try await one.current(secrets: secrets, now: Self.start + 51 * Self.minute) == second)
    // One hears that it has expired; the other, a moment later, gets what the first one minted.
    let expired = second
    let later = Self.start + 75 * Self.minute
    let third = try await one.current(afterExpiryOf: expired, secrets: secrets, now: later)
    #expect(third != second)
    #expect(try await two.current(afterExpiryOf: expired, secrets: secrets, now: later + 1000) == third)
    #expect(secrets.minted == 3)
  }

  @Test func `a wrong key that was put right does not find the old token`() async throws {
    let secrets = Secrets()
    let wrong = try await tokens(TestKeys.otherP256).current(secrets: secrets, now: Self.start)
    let right = try await tokens().current(secrets: secrets, now: Self.start)
    #expect(wrong != right)
    #expect(secrets.names.count == 2)
    #expect(secrets.names.allSatisfy { $0.hasPrefix("apns TEAMTEAM01 KEYKEYKEY1 ") })
  }

  @Test func `while the shared place is away the old token goes on, and nobody makes one of their own`() async throws {
    let secrets = Secrets()
    let tokens = try tokens()
    let first = try await tokens.current(secrets: secrets, now: Self.start)
    secrets.isBroken = true
    for minute in [50, 55, 58] as [Int64] {
      #expect(try await tokens.current(secrets: secrets, now: Self.start + minute * Self.minute) == first)
    }
    // Each call tries again.
    #expect(secrets.asked == 4)
    secrets.isBroken = false
    let second = try await tokens.current(secrets: secrets, now: Self.start + 58 * Self.minute)
    #expect(second != first)
    #expect(secrets.minted == 2)
    secrets.isBroken = true
    let shortage = TokenShortage.notShared("unavailable: away")
    // Too old to be sent, refused, or not there at all.
    await #expect(throws: shortage) {
      try await tokens.current(secrets: secrets, now: Self.start + (58 + 59) * Self.minute)
    }
    await #expect(throws: shortage) {
      try await tokens.current(afterExpiryOf: second, secrets: secrets, now: Self.start + 90 * Self.minute)
    }
    await #expect(throws: shortage) { try await self.tokens().current(secrets: secrets, now: Self.start) }
  }

  /// A store of secrets that counts.
  private final class Secrets: SecretStore {
    private let held = Mutex<[String: Secret]>([:])
    private let count = Atomic(0)
    private let calls = Atomic(0)
    private let broken = Atomic(false)

    var isBroken: Bool {
      get { broken.load(ordering: .relaxed) }
      set { broken.store(newValue, ordering: .relaxed) }
    }
    var asked: Int { calls.load(ordering: .relaxed) }
    var names: [String] { held.withLock { Array($0.keys) } }
    var minted: Int { count.load(ordering: .relaxed) }

    func exchange(_ offer: SecretOffer) async throws(StoreError) -> Secret? {
      calls.add(1, ordering: .relaxed)
      if isBroken { throw StoreError(.unavailable, "away") }
      return held.withLock { held in
        if let stored = held[offer.name], stored.madeAt >= offer.notMadeBefore { return stored }
        guard let secret = offer.secret else { return nil }
        count.add(1, ordering: .relaxed)
        held[offer.name] = secret
        return secret
      }
    }
  }
}

@Suite struct SecretFileTests {
  private func offer(_ value: String?, madeAt: Int64 = 100, notBefore: Int64 = 50) -> SecretOffer {
    SecretOffer(name: "n", secret: value.map { Secret(value: $0, madeAt: madeAt) }, notMadeBefore: notBefore)
  }

  @Test func `the stored secret wins unless it is too old`() async throws {
    let folder = try TemporaryFolder()
    let file = try SecretFile(path: folder.path + "/secrets")
    #expect(try await file.exchange(offer(nil)) == nil)
    #expect(try await file.exchange(offer("one"))?.value == "one")
    let other = try SecretFile(path: folder.path + "/secrets")
    #expect(try await other.exchange(offer("two"))?.value == "one")
    #expect(try await other.exchange(offer("three", madeAt: 300, notBefore: 101))?.value == "three")
    #expect(try await file.exchange(offer(nil)) == Secret(value: "three", madeAt: 300))
    // A shorter one leaves nothing of the longer behind.
    #expect(try await file.exchange(offer("4", madeAt: 400, notBefore: 301))?.value == "4")
    #expect(try await other.exchange(offer(nil))?.value == "4")
  }

  @Test func `of many that offer at once one wins`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/secrets"
    let won = try await withThrowingTaskGroup(of: String?.self) { group in
      for index in 0..<20 {
        let file = try SecretFile(path: path)
        group.addTask { [offer = offer("\(index)")] in try await file.exchange(offer)?.value }
      }
      return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(won.count == 1)
  }

  @Test func `the file is its owner's alone, and one that is not is refused`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/secrets"
    _ = try await SecretFile(path: path).exchange(offer("one"))
    #expect(shell("stat -c %a '\(path)'").output == "600\n")
    _ = shell("chmod 644 '\(path)'")
    let error = await #expect(throws: StoreError.self) { try await SecretFile(path: path).exchange(offer("two")) }
    #expect(error?.code == .denied)
    #expect(error?.sentence.contains("chmod 600") == true)
    #expect(error?.sentence.contains("one") == false)
    _ = shell("chmod 600 '\(path)'; mv '\(path)' '\(path)2'; ln -s '\(path)2' '\(path)'")
    await #expect(throws: StoreError.self) { try await SecretFile(path: path).exchange(offer("two")) }
  }

  @Test func `a lock that is not given back is waited for, but not for ever`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/secrets"
    let file = try SecretFile(path: path, patience: 50)
    #expect(try await file.exchange(offer("one"))?.value == "one")
    let holder = try #require(fopen(path, "r"))
    #expect(flock(fileno(holder), LOCK_EX) == 0)
    let error = await #expect(throws: StoreError.self) { try await file.exchange(offer("two")) }
    #expect(error?.code == .busy)
    #expect(error?.sentence.contains(path) == true)
    // Closing alone would not do: a child of another test may have inherited the descriptor.
    #expect(flock(fileno(holder), LOCK_UN) == 0)
    fclose(holder)
    #expect(try await file.exchange(offer("three"))?.value == "one")
  }

  @Test(arguments: ["", "{", "[]", #"{"n":5}"#])
  func `a damaged file is begun anew`(_ text: String) async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("secrets", text)
    let file = try SecretFile(path: path)
    #expect(try await file.exchange(offer("one"))?.value == "one")
    #expect(try await file.exchange(offer(nil))?.value == "one")
  }
}
