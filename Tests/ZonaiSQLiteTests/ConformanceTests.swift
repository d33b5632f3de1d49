import Testing
import ZonaiTestKit

@Suite struct SQLiteConformanceTests {
  @Test(arguments: TokenStoreConformance<SQLiteFixture>.checks, SQLiteFixture.Journal.allCases)
  func conforms(_ check: Check<SQLiteFixture>, _ journal: SQLiteFixture.Journal) async throws {
    try await check(SQLiteFixture(journal: journal))
  }
}
