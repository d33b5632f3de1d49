import Testing
import ZonaiTestKit

@Suite(.timeLimit(.minutes(3))) struct InMemoryStoreTests {
  @Test(arguments: TokenStoreConformance<MemoryFixture>.checks)
  func `the store in memory keeps every law`(_ check: Check<MemoryFixture>) async throws {
    try await check(MemoryFixture())
  }

  @Test func `every check has a name of its own`() {
    let names = TokenStoreConformance<MemoryFixture>.checks.map(\.name)
    #expect(Set(names).count == names.count)
  }
}
