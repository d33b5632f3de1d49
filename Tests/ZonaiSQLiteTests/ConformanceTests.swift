import Testing
import ZonaiTestKit

@Suite(.timeLimit(.minutes(3))) struct SQLiteConformanceTests {
  @Test(arguments: TokenStoreConformance<SQLiteFixture>.checks, SQLiteFixture.Journal.allCases)
  func conforms(_ check: Check<SQLiteFixture>, _ journal: SQLiteFixture.Journal) async throws {
    try await check(SQLiteFixture(journal: journal))
  }
}
