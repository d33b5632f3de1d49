import Testing
import ZonaiSimulator

/// One simulator for all tests of a suite, which then must not change its keys or faults: making keys takes a while.
struct SharedSimulator: SuiteTrait, TestScoping {
  @TaskLocal static var current: Simulator?

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let folder = try Folder()
    let simulator = try await Simulator(directory: folder["simulator"])
    try simulator.start()
    try await Self.$current.withValue(simulator, operation: function)
    await simulator.stop()
    withExtendedLifetime(folder) {}
  }
}

extension Trait where Self == SharedSimulator {
  static var sharedSimulator: SharedSimulator { SharedSimulator() }
}
