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
