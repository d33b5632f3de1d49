import Testing
import ZonaiJSON
import ZonaiSimulator

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The folder and its files.
@Suite struct FolderTests {
  private func mode(_ path: String) -> UInt32? {
    var information = stat()
    return stat(path, &information) == 0 ? UInt32(information.st_mode) & 0o777 : nil
  }

  private func failure(_ directory: String, _ options: SimulatorOptions = SimulatorOptions()) async -> (any Error)? {
    do {
      _ = try await Simulator(directory: directory, options: options)
      return nil
    } catch {
      return error
    }
  }

  @Test func `the files are what a client needs, and secrets are their owner's alone`() async throws {
    try await Bench.with { bench in
      let directory = bench.directory
      #expect(bench.keyID.count == 10 && bench.keyFile.hasSuffix("/AuthKey_\(bench.keyID).p8"))
      #expect(mode(bench.keyFile) == 0o600)
      #expect(mode(directory + "/service-account.json") == 0o600)
      #expect(try Program.read(bench.keyFile).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
      #expect(bench.serviceAccount["type"] == "service_account")
      #expect(bench.serviceAccount["token_uri"]?.string == bench.simulator.endpoints.oauth + "/token")
      let configuration = try JSON(parsing: Program.read(directory + "/zonai.json"))
      #expect(
        configuration["fcm"] == ["projectId": .string(bench.projectID), "serviceAccount": "service-account.json"])
      #expect(configuration["apns"]?["useSandbox"] == false)
      let endpoints = try JSON(parsing: Program.read(directory + "/simulator.json"))
      #expect(endpoints["fcm"]?.string == bench.simulator.endpoints.fcm)
      #expect(endpoints["oauth"]?.string == bench.simulator.endpoints.oauth)
      #expect(endpoints["apns"]?.string == bench.simulator.endpoints.apns)
      #expect(endpoints["control"]?.string == bench.simulator.endpoints.control)
    }
  }

  @Test func `a stopped simulator is gone, and the next one in its folder has keys of its own`() async throws {
    let directory = Bench.temporaryDirectory()
    defer { Bench.removeTree(directory) }
    let path = directory + "/deep/er"
    let first = try await Simulator(directory: path)
    #expect(access(path + "/simulator.json", F_OK) != 0)
    try first.start()
    let before = try Bench(first)
    await first.stop()
    await first.stop()
    #expect(access(path + "/simulator.json", F_OK) != 0)
    #expect(try await before.curl(first.endpoints.control + "/status", method: "GET").exit == 7)
    await #expect(throws: SimulatorError.self) { _ = try await first.control("GET", "/status") }

    let second = try await Simulator(directory: path)
    try second.start()
    let after = try Bench(second)
    #expect(after.keyID != before.keyID)
    #expect(access(before.keyFile, F_OK) != 0)
    #expect(try await after.push(apnsToken(1), jwt: after.providerToken()).status == 200)
    await second.stop()
  }

  /// The names and contents in a folder.
  private func contents(_ directory: String) throws -> [String: String] {
    let listing = try #require(opendir(directory))
    defer { closedir(listing) }
    var found: [String: String] = [:]
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { found[name] = try Program.read("\(directory)/\(name)") }
    }
    return found
  }

  @Test(arguments: ["zonai.json", "notes.txt", ".hidden", "simulator.json", "AuthKey_ABCDEFGHIJ.p8"])
  func `a folder with other files in it is refused, and nothing is written`(_ name: String) async throws {
    let directory = Bench.temporaryDirectory()
    defer { Bench.removeTree(directory) }
    try Program.write("\(directory)/\(name)", "mine")
    let failure = try #require(await failure(directory) as? SimulatorError)
    #expect(failure.code == .foreignFile)
    #expect(failure.description.contains(name) && failure.description.contains("empty"), "\(failure)")
    #expect(try contents(directory) == [name: "mine"])
  }

  #if os(Linux)
    @Test func `a folder is free once its simulator has stopped, though a copy of its descriptor is open`()
      async throws
    {
      let directory = Bench.temporaryDirectory()
      defer { Bench.removeTree(directory) }
      let first = try await Simulator(directory: directory)
      // A child process that is being started holds such a copy until its program begins.
      let copies = openDescriptors(of: directory).map { dup($0) }
      defer { for copy in copies { close(copy) } }
      #expect(!copies.isEmpty)
      await first.stop()
      let second = try await Simulator(directory: directory)
      await second.stop()
    }

    private func openDescriptors(of directory: String) -> [Int32] {
      (3..<4096 as Range<Int32>).filter { descriptor in
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(descriptor)", &path, path.count - 1)
        let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self) == directory
      }
    }
  #endif

  @Test func `its own folder is used again, and what others put beside its files stays`() async throws {
    let directory = Bench.temporaryDirectory()
    defer { Bench.removeTree(directory) }
    let first = try await Simulator(directory: directory)
    try first.start()
    let key = try Bench(first).keyFile
    await first.stop()
    try Program.write(directory + "/push.py", "mine")
    // What is named there by another hand is not removed.
    let mark = directory + "/.zonai-simulator"
    try Program.write(mark, Program.read(mark) + "push.py\n../\n")
    let second = try await Simulator(directory: directory)
    try second.start()
    await second.stop()
    #expect(access(key, F_OK) != 0)
    #expect(try Program.read(directory + "/push.py") == "mine")
  }

  @Test func `a folder serves one simulator at a time`() async throws {
    try await Bench.with { bench in
      let before = try Program.read(bench.directory + "/simulator.json")
      let failure = try #require(await failure(bench.directory) as? SimulatorError)
      #expect(failure.code == .inUse)
      #expect(try Program.read(bench.directory + "/simulator.json") == before)
      #expect(try await bench.push(apnsToken(1), jwt: bench.providerToken()).status == 200)
    }
  }

  @Test func `a folder that cannot be and a port that is taken are said so`() async throws {
    #expect((await failure("/dev/null/x") as? SimulatorError)?.code == .folder)
    var named = SimulatorOptions()
    named.bundleID = "not a bundle"
    let directory = Bench.temporaryDirectory()
    defer { Bench.removeTree(directory) }
    #expect((await failure(directory, named) as? SimulatorError)?.code == .option)
    try await Bench.with { bench in
      var options = SimulatorOptions()
      options.fcmPort = bench.simulator.endpoints.fcm.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
      let taken = await failure(directory + "/x", options)
      #expect(taken.map { "\($0)" }?.contains("choose another port") == true)
    }
  }
}
