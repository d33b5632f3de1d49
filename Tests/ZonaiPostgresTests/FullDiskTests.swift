#if os(Linux)
  import Testing
  import ZonaiCore
  import ZonaiPostgres
  import ZonaiTestServers

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A file system of its own, which is small, over a folder.
  final class SmallDisk: Sendable {
    let folder: TemporaryFolder

    /// nil without the right to mount one.
    init?(kilobytes: Int) throws {
      folder = try TemporaryFolder()
      guard mount("none", folder.root, "tmpfs", 0, "size=\(kilobytes)k") == 0 else { return nil }
    }

    deinit { umount2(folder.root, Int32(MNT_DETACH)) }

    static let isPossible = (try? SmallDisk(kilobytes: 64)) != nil
  }

  @Suite(.enabled("a small disk needs the right to mount one") { SmallDisk.isPossible }, .timeLimit(.minutes(10)))
  struct PostgresFullDiskTests {
    @Test func `a full disk is called full, nothing is half written, and room heals it`() async throws {
      let disk = try #require(try SmallDisk(kilobytes: 3000))
      let server = try await PrivateServer(.postgres)
      // Tablespaces belong to the server's user.
      let owner = getpwnam("postgres")
      if getuid() == 0, let owner { chown(disk.folder.root, owner.pointee.pw_uid, owner.pointee.pw_gid) }
      let application = try Application(server.url)
      try await application.runAll([
        "CREATE TABLESPACE small LOCATION '\(disk.folder.root)'", "ALTER ROLE zonai SET default_tablespace TO small",
        "SET default_tablespace TO small", PostgresScene.devices,
        "CREATE TABLE ballast (bytes text)", "ALTER TABLE ballast ALTER bytes SET STORAGE EXTERNAL",
      ])
      let store = try PostgresStore(url: server.url)
      _ = try await store.migrate()
      func request(_ count: Int) -> EnqueueRequest {
        let ids = (0..<count).map { Value.integer(Int64($0) * 7_919_000_000_000) }
        return EnqueueRequest(
          definition: .news(Audience("devices", token: "token", where: Column("id").in(ids))), idempotencyKey: "one")
      }
      let filled = await failure {
        while true { try await application.run("INSERT INTO ballast SELECT repeat(md5(random()::text), 1000)") }
      }
      #expect(filled != nil)
      let error = await failure { _ = try await store.enqueue(request(40_000)) }
      #expect(error?.code == .full, "\(error.map { "\($0)" } ?? "it was written")")
      #expect(error?.sentence.contains("make room") == true)
      guard case .jobs(let none) = try await store.jobs(.list(limit: 10, states: nil)) else { return }
      #expect(none.isEmpty)
      try await application.run("DROP TABLE ballast")
      try await application.run("CHECKPOINT")
      let enqueued = try await store.enqueue(request(40_000))
      #expect(!enqueued.wasThere)
      await store.close()
    }
  }
#endif
