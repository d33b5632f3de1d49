import ZonaiCore

extension [any Transport] {
  /// Runs the body, and closes every transport however it ends.
  func whileOpen<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
    do {
      let result = try await body()
      for transport in self { await transport.close() }
      return result
    } catch {
      for transport in self { await transport.close() }
      throw error
    }
  }
}
