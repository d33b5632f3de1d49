import Testing
import ZonaiThreads

/// Runs what blocks on a thread of its own, since a test runs on the cooperative pool.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    do {
      _ = try NamedThread(name: "test") {
        do { continuation.resume(returning: try body()) } catch { continuation.resume(throwing: error) }
      }
    } catch {
      continuation.resume(throwing: error)
    }
  }
}

/// Looks until what another process or thread does can be seen; gives up after two minutes. The pause leaves that process the
/// processor, and its length decides nothing.
func eventually(
  _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
  let limit = ContinuousClock.now + .seconds(120)
  while try await !condition() {
    guard ContinuousClock.now < limit else {
      Issue.record("never seen: \(what)", sourceLocation: sourceLocation)
      throw NeverSeen(what: what)
    }
    try await Task.sleep(for: .milliseconds(2))
  }
}

struct NeverSeen: Error { let what: String }
