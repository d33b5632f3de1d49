import Testing
import ZonaiCore
import ZonaiTestKit

@testable import ZonaiTransports

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

@Suite struct SecretFileTests {
  private func offer(
    _ value: String?, madeAt: Int64 = 100, endsAt: Int64 = .max, notBefore: Int64 = 50, name: String = "n"
  ) -> SecretOffer {
    SecretOffer(
      name: name, secret: value.map { Secret(value: $0, madeAt: madeAt, endsAt: endsAt) }, notMadeBefore: notBefore)
  }

  @Test func `a secret that has ended is not given, and does not stay in the file`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/secrets"
    let clock = TurnableClock()
    let file = try SecretFile(path: path, patience: 5000, clock: { clock.now })
    let end = clock.now + 1000
    #expect(try await file.exchange(offer("one", endsAt: end)).now == clock.now)
    #expect(try await file.exchange(offer("two", endsAt: end, name: "m")).secret?.value == "two")
    clock.advance(milliseconds: 999)
    #expect(try await file.exchange(offer(nil)).secret?.value == "one")
    clock.advance(milliseconds: 1)
    #expect(try await file.exchange(offer(nil)).secret == nil)
    #expect(try await file.exchange(offer("three", name: "m")).secret?.value == "three")
    let kept = shell("cat '\(path)'").output
    #expect(kept.contains("three"))
    #expect(!kept.contains("one"))
    #expect(!kept.contains("two"))
  }

  @Test func `the stored secret wins unless it is too old`() async throws {
    let folder = try TemporaryFolder()
    let file = try SecretFile(path: folder.path + "/secrets")
    #expect(try await file.exchange(offer(nil)).secret == nil)
    #expect(try await file.exchange(offer("one")).secret?.value == "one")
    let other = try SecretFile(path: folder.path + "/secrets")
    #expect(try await other.exchange(offer("two")).secret?.value == "one")
    #expect(try await other.exchange(offer("three", madeAt: 300, notBefore: 101)).secret?.value == "three")
    #expect(try await file.exchange(offer(nil)).secret == Secret(value: "three", madeAt: 300))
    // A shorter one leaves nothing of the longer behind.
    #expect(try await file.exchange(offer("4", madeAt: 400, notBefore: 301)).secret?.value == "4")
    #expect(try await other.exchange(offer(nil)).secret?.value == "4")
  }

  @Test func `of many that offer at once one wins`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/secrets"
    let won = try await withThrowingTaskGroup(of: String?.self) { group in
      for index in 0..<20 {
        let file = try SecretFile(path: path)
        group.addTask { [offer = offer("\(index)")] in try await file.exchange(offer).secret?.value }
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
    #expect(try await file.exchange(offer("one")).secret?.value == "one")
    let holder = try #require(fopen(path, "r"))
    #expect(flock(fileno(holder), LOCK_EX) == 0)
    let error = await #expect(throws: StoreError.self) { try await file.exchange(offer("two")) }
    #expect(error?.code == .busy)
    #expect(error?.sentence.contains(path) == true)
    // Closing alone would not do: a child of another test may have inherited the descriptor.
    #expect(flock(fileno(holder), LOCK_UN) == 0)
    fclose(holder)
    #expect(try await file.exchange(offer("three")).secret?.value == "one")
  }

  @Test(arguments: ["", "{", "[]", #"{"n":5}"#])
  func `a damaged file is begun anew`(_ text: String) async throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("secrets", text)
    let file = try SecretFile(path: path)
    #expect(try await file.exchange(offer("one")).secret?.value == "one")
    #expect(try await file.exchange(offer(nil)).secret?.value == "one")
  }
}
