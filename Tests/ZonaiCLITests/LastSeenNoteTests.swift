import Testing
import ZonaiJSON

/// What is said about a last-seen column that does not hold the times of registrations, in UTC.
@Suite(.sharedSimulator, .timeLimit(.minutes(3)))
struct LastSeenNoteTests {
  /// A scene whose devices were seen at these SQL expressions, and the others yesterday.
  private func scene(_ seen: [Int: String], ownSimulator: Bool = false) async throws -> Scene {
    let scene = try await Scene(ownSimulator: ownSimulator)
    try scene.database.run(
      "ALTER TABLE devices ADD COLUMN seen TEXT; UPDATE devices SET seen = datetime('now', '-1 day')")
    for (id, value) in seen { try scene.database.run("UPDATE devices SET seen = \(value) WHERE id = \(id)") }
    return scene
  }

  @Test func `a dry run warns of local time and of values that cannot be read, on standard output and in JSON`()
    async throws
  {
    let scene = try await scene([3: "datetime('now', '+2 hours')", 4: "'soon'"])
    let text = try await scene.push("--last-seen-column", "seen", "--dry-run")
    #expect(text.code == 0)
    #expect(text.output.contains("note: 1 of 10 values of devices.seen lie in the future, the newest by 2 h"))
    #expect(text.output.contains("note: 1 of 10 values of devices.seen cannot be read as a time"))
    let notes = try await scene.push("--last-seen-column", "seen", "--dry-run", "--json").json["notes"]?.array ?? []
    #expect(notes.map { $0["code"] } == ["lastSeenInFuture", "lastSeenUnreadable"])
    let without = try await scene.push("--dry-run", "--json")
    #expect(try without.json["notes"] == [])
  }

  @Test func `a worker warns once, and the job keeps the note`() async throws {
    let scene = try await scene([3: "datetime('now', '+2 hours')"])
    let id = try #require(try await scene.push("--last-seen-column", "seen", "--json").json["id"]?.string)
    let worked = try await Shell.run(scene.workWords + ["--once"])
    #expect(worked.code == 0)
    #expect(worked.errors.split(separator: "job \(id): 1 of 10 values of devices.seen lie in the future").count == 2)
    let shown = try await Shell.run("jobs", "show", id, "--store", scene.store)
    #expect(shown.output.contains("note       1 of 10 values of devices.seen lie in the future"))
    let json = try await Shell.run("jobs", "show", id, "--store", scene.store, "--json").json
    #expect(json["notes"]?[0]?["code"] == "lastSeenInFuture")
  }

  @Test func `a column that changes with other updates of the row is called out`() async throws {
    let scene = try await scene([:], ownSimulator: true)
    // 40 days ago.
    let since = Int64(try scene.database.column("SELECT strftime('%s', 'now') - 3456000")[0] ?? "") ?? 0
    try await scene.put(2, ["state": "uninstalled", "since": .integer(since * 1000)])
    let ending = try await scene.push("--last-seen-column", "seen", "--wait")
    #expect(ending.code == 0)
    #expect(
      ending.output.contains("kept: its last-seen is later than the time of death that APNs names, by 30 days or more"))
    #expect(ending.output.contains("note       1 of 1 rows whose tokens APNs called dead were kept"))
    #expect(try scene.cleared == [])
  }
}
