import Testing

struct DemoTests {
  @Test func `the demonstration checks itself, and keeps what it made`() async throws {
    let folder = try Folder()
    let ending = try await Shell.run("demo", "--dir", folder["demo"])
    #expect(ending.code == 0)
    #expect(ending.errors.isEmpty)
    for text in [
      "$ zonai simulate --dir simulator", "$ zonai migrate --store sqlite:app.db", "$ zonai push ",
      "$ zonai jobs resume ",
      "hook: the Galaxy S23 (android) is lost", "hook: the iPad Air (ios) is lost", " failed: ", " completed: ",
      "<- cleared", "all as expected", "Everything is kept in \(folder["demo"])",
    ] { #expect(ending.output.contains(text), "\(text)") }
    #expect(folder.has("demo/app.db"))
    #expect(folder.has("demo/app.sql"))
    // Its simulator is gone with it.
    #expect(!folder.has("demo/simulator/simulator.json"))
    let listed = try await Shell.run("jobs", "list", "--store", "sqlite:\(folder["demo/app.db"])")
    #expect(listed.output.split(separator: "\n").allSatisfy { $0.contains("  completed  ") })
    #expect(!ending.output.contains("PRIVATE KEY"))
  }

  @Test func `it does not write into a folder that is there`() async throws {
    let folder = try Folder()
    let ending = try await Shell.run("demo", "--dir", folder.path)
    #expect(ending.code == 2)
    #expect(ending.errors.contains("name a folder that is not there yet"))
  }
}
