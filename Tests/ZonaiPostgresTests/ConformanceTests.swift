import Testing
import ZonaiTestKit
import ZonaiTestServers

@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct PostgresConformanceTests {
  @Test(arguments: TokenStoreConformance<PostgresFixture>.checks)
  func conforms(_ check: Check<PostgresFixture>) async throws {
    try await Turns.shared.take { try await withFixture { try await check($0) } }
  }
}

/// Runs the body on a fixture, and takes the fixture away again.
func withFixture(_ body: (PostgresFixture) async throws -> Void) async throws {
  let fixture = try await PostgresFixture.make()
  do {
    try await body(fixture)
  } catch {
    try await fixture.remove()
    throw error
  }
  try await fixture.remove()
}
