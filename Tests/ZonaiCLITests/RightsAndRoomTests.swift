import Testing
import ZonaiJSON

@testable import ZonaiCLI

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A database that cannot be written to: exit code 1, a sentence, and nothing half done.
///
/// Root may write anything and a limit belongs to a whole process, so these run the command in a process of its own that
/// first takes rights or room away from itself.
@Suite(.sharedSimulator) struct RightsAndRoomTests {
  @Test func `a read-only file is named as such`() async throws {
    let scene = try await Scene(devices: 2, ownSimulator: true)
    let before = try scene.folder.bytes("app.db")
    // Somebody else may read everything here, the keys too.
    scene.folder.setMode("simulator", 0o755)
    for file in ["service-account.json", try keyFile(of: scene)] { scene.folder.setMode("simulator/\(file)", 0o644) }
    scene.folder.setMode("app.db", 0o444)
    scene.folder.setMode("", 0o555)
    defer { scene.folder.setMode("", 0o755) }
    let words = scene.pushWords
    let result = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
      [words = words as [String]] in
      if getuid() == 0, setuid(65534) != 0 { exit(10) }
      ZonaiCommand.main(["zonai"] + words + ["--json"])
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains(#""code":"readOnly""#), "\(errors)")
    #expect(try scene.folder.bytes("app.db") == before)
  }

  @Test func `a file that may not grow is named, and nothing of the job is left`() async throws {
    let scene = try await Scene(devices: 2)
    let words = scene.pushWords
    let size = try scene.folder.bytes("app.db").count
    let result = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
      [words = words as [String], size = size as Int] in
      // No file may become larger than the database is now.
      var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: rlim_t(size))
      signal(SIGXFSZ, SIG_IGN)
      if setrlimit(fileSize, &limit) != 0 { exit(10) }
      ZonaiCommand.main(["zonai"] + words + ["--data", "x=" + String(repeating: "y", count: 3800), "--json"])
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("app.db could not be read or written: look at the disk and its limits"), "\(errors)")
    #expect(try scene.jobs == 0)
  }

  private func keyFile(of scene: Scene) throws -> String {
    let configuration = try JSON(parsing: try scene.folder.read("simulator/zonai.json"))
    return try #require(configuration["apns"]?["keyFile"]?.string)
  }

  @Test func `a result that cannot be written is a failure`() async throws {
    let result = await #expect(processExitsWith: .exitCode(1), observing: [\.standardErrorContent]) {
      let full = open("/dev/full", O_WRONLY)
      if full < 0 || dup2(full, 1) < 0 { exit(10) }
      ZonaiCommand.main(["zonai", "--version"])
    }
    let errors = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(errors.contains("cannot write the result: No space left on device"))
  }
}

#if canImport(Glibc)
  private let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#else
  private let fileSize = RLIMIT_FSIZE
#endif
