import Testing

/// What every command line has in common.
struct UsageTests {
  @Test func `the overview lists every command and says how to go on`() async throws {
    let ending = try await Shell.run("--help")
    #expect(ending.code == 0)
    #expect(ending.errors.isEmpty)
    #expect(ending.output.contains("zonai COMMAND [OPTIONS]"))
  }

  @Test func `no word at all shows the overview and is refused`() async throws {
    let ending = try await Shell.run()
    #expect(ending.code == 2)
    #expect(ending.output.isEmpty)
    #expect(ending.errors.contains("Usage: zonai COMMAND"))
  }

  @Test func `the version is one line`() async throws {
    let ending = try await Shell.run("--version")
    #expect(ending.code == 0)
    #expect(ending.output == "zonai 0.1.0\n")
  }
}
