import Testing
import ZonaiTestKit
import ZonaiTestServers

@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(3)))
struct MySQLConformanceTests {
  @Test(arguments: TokenStoreConformance<MySQLFixture>.checks)
  func conforms(_ check: Check<MySQLFixture>) async throws {
    try await check(MySQLFixture())
  }
}
