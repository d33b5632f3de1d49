#if os(Linux)
  import Testing
  import ZonaiCore
  import ZonaiMySQL
  import ZonaiTestServers

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A file system of its own, which is small, over a folder that every user may enter.
  final class SmallDisk: Sendable {
    let folder: String

    /// nil without the right to mount one.
    init?(megabytes: Int) throws {
      var template = Array("/tmp/zonai-disk-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw TestFailure("cannot make a folder in /tmp") }
      folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard mount("none", folder, "tmpfs", 0, "size=\(megabytes)m,mode=755") == 0 else {
        rmdir(folder)
        return nil
      }
    }

    deinit {
      umount2(folder, Int32(MNT_DETACH))
      rmdir(folder)
    }

    static let isPossible = (try? SmallDisk(megabytes: 1)) != nil

    /// Takes all the room that is left; gives the file that has it.
    func fill() throws -> String {
      let path = folder + "/filler"
      let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
      guard descriptor >= 0 else { throw TestFailure("cannot write \(path)") }
      defer { close(descriptor) }
      let block = [UInt8](repeating: 0, count: 1 << 16)
      while write(descriptor, block, block.count) > 0 {}
      return path
    }
  }

  @Suite(.enabled("a small disk needs the right to mount one") { SmallDisk.isPossible }, .timeLimit(.minutes(15)))
  struct FullDiskTests {
    @Test func `a full disk is called full, nothing is half written, and room heals it`() async throws {
      let disk = try #require(try SmallDisk(megabytes: 500))
      let server = try await PrivateServer(.mariadb, in: disk.folder)
      let scene = try await MySQLScene(MySQLScene.devices, on: try ServerURL(server))
      try await scene.addDevices(1)
      let filler = try disk.fill()
      // Six megabytes of job want room that there is not.
      let large = Audience(
        "devices", token: "token", where: Column("platform").like(String(repeating: "x", count: 6_000_000)))
      let error = try await scene.refusal { for _ in 0..<10 { _ = try await scene.enqueue(large) } }
      #expect(error.code == .full, "\(error)")
      #expect(error.sentence.contains("make room"))
      guard case .jobs(let jobs) = try await scene.store.jobs(.list(limit: 20, states: nil)) else { return }
      unlink(filler)
      let job = try await scene.enqueue(large)
      guard case .jobs(let after) = try await scene.store.jobs(.list(limit: 20, states: nil)) else { return }
      #expect(after.count == jobs.count + 1)
      #expect(try await scene.job(job).definition.audience.predicate == large.predicate)
      await scene.store.close()
    }
  }
#endif
