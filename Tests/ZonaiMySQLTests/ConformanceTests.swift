import Testing
import ZonaiTestKit
import ZonaiTestServers

// The limit counts from when a check begins to wait for its turn on the server.
@Suite(.enabled(if: TestServers.mysql != nil, "\(TestServers.noMySQL)"), .timeLimit(.minutes(15)))
struct MySQLConformanceTests {
  @Test(arguments: TokenStoreConformance<MySQLFixture>.checks)
  func conforms(_ check: Check<MySQLFixture>) async throws {
    try await check(MySQLFixture())
  }
}
