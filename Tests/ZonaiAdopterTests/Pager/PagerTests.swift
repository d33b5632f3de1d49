import Testing
import ZonaiCore
import ZonaiTestKit

@Suite struct PagerTests {
  @Test(arguments: TransportConformance<PagerFixture>.checks)
  func `the pager is a sound transport`(_ check: Check<PagerFixture>) async throws {
    try await check(PagerFixture())
  }
}
