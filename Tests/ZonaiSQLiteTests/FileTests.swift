import Testing
import ZonaiCore
import ZonaiSQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The file is the application's: opened, never made, and left as it is.
@Suite(.timeLimit(.minutes(2))) struct FileTests {
  private func error(of path: String) async throws -> StoreError {
    let store = try SQLiteStore(path: path)
    do {
      _ = try await store.migrate()
    } catch {
      return error
    }
    throw TestFailure("\(path) was taken")
  }

  @Test func `a file that is not there is named, and not made`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("missing.db")
    let error = try await error(of: path)
    #expect(error.code == .notFound)
    #expect(error.sentence.contains(path))
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try await self.error(of: folder.path("no/such/folder.db")).code == .notFound)
  }

  @Test func `a folder is no database`() async throws {
    let folder = try TemporaryFolder()
    let error = try await error(of: folder.root)
    #expect(error.code == .notFound)
    #expect(error.sentence.contains("is a folder"))
  }

  @Test func `a file of another kind is no database`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("notes.txt")
    try Data(String(repeating: "no database, only words. ", count: 100).utf8).write(to: URL(filePath: path))
    let error = try await error(of: path)
    #expect(error.code == .corrupt)
    #expect(error.sentence.contains("is not an SQLite database"))
  }

  @Test(arguments: [":memory:", "file:app.db?mode=memory"])
  func `no name means anything but a file`(_ name: String) async throws {
    #expect(try await error(of: name).code == .notFound)
  }

  @Test func `an empty path is refused`() {
    let error = #expect(throws: StoreError.self) { try SQLiteStore(path: "") }
    #expect(error?.code == .invalidRequest)
  }

  @Test func `a damaged file is called damaged`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices, journal: .rollback)
    try scene.addDevices(5000)
    let path = scene.fixture.path
    await scene.store.close()
    var bytes = try Data(contentsOf: URL(filePath: path))
    for index in 4096..<bytes.count { bytes[index] = 0xA5 }
    try bytes.write(to: URL(filePath: path))
    let store = try SQLiteStore(path: path)
    let audience = Audience("devices", token: "token")
    let error = await #expect(throws: StoreError.self) {
      _ = try await store.jobs(.count(EnqueueRequest(definition: .news(audience))))
    }
    #expect(error?.code == .corrupt)
    #expect(error?.sentence.contains("integrity_check") == true)
  }

  @Test func `text that is not UTF-8 as a whole is refused`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("app.db")
    let application = try Application(path: path)
    try application.run("PRAGMA encoding = 'UTF-16le'")
    try application.run("CREATE TABLE devices (id INTEGER PRIMARY KEY, token TEXT)")
    let error = try await error(of: path)
    #expect(error.sentence.contains("UTF-16le"))
  }

  @Test(arguments: SQLiteFixture.Journal.allCases)
  func `the journal mode stays the application's`(_ journal: SQLiteFixture.Journal) async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices, journal: journal)
    try scene.addDevices(3)
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    _ = try await scene.prune(scene.claim())
    #expect(try await scene.job(job).state == .completed)
    #expect(try scene.application.first("PRAGMA journal_mode") == .text(journal.rawValue.lowercased()))
  }

  @Test func `the application's schema gains tables that begin with zonai_ and nothing else`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    let names = try scene.application.rows("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY 1")
      .compactMap { row in if case .text(let name) = row["name"] { name } else { nil } }
    #expect(names.filter { !$0.hasPrefix("zonai_") } == ["devices"])
    #expect(names.count > 1)
  }

  @Test func `tables of another version are refused`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    try scene.application.run("UPDATE zonai_meta SET version = 0")
    let error = await #expect(throws: StoreError.self) { _ = try await scene.claimResult() }
    #expect(error?.code == .schemaVersion)
    #expect(error?.sentence.contains("zonai migrate") == true)
    _ = try await scene.store.migrate()
    _ = try await scene.claimResult()
  }

  @Test func `a closed store says so`() async throws {
    let scene = try await SQLiteScene(SQLiteScene.devices)
    await scene.store.close()
    let error = await #expect(throws: StoreError.self) { _ = try await scene.claimResult() }
    #expect(error?.sentence == "the store was closed: open it again")
    // And a wait does not hang.
    try await scene.store.waitForWork(milliseconds: 240_000)
  }
}
