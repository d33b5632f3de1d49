#if os(Linux)
  import Testing
  import ZonaiCore
  import ZonaiSQLite

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A file system of its own, which is small, over a folder.
  final class SmallDisk: Sendable {
    private let folder: TemporaryFolder

    /// nil without the right to mount one.
    init?(kilobytes: Int) throws {
      folder = try TemporaryFolder()
      guard mount("none", folder.root, "tmpfs", 0, "size=\(kilobytes)k") == 0 else { return nil }
    }

    deinit { umount2(folder.root, Int32(MNT_DETACH)) }

    func path(_ name: String) -> String { folder.path(name) }

    static let isPossible = (try? SmallDisk(kilobytes: 64)) != nil
  }

  @Suite(.enabled("a small disk needs the right to mount one") { SmallDisk.isPossible })
  struct FullDiskTests {
    @Test(arguments: SQLiteFixture.Journal.allCases)
    func `a full disk is called full, nothing is half written, and room heals it`(
      _ journal: SQLiteFixture.Journal
    ) async throws {
      let disk = try #require(try SmallDisk(kilobytes: 600))
      let application = try Application(path: disk.path("app.db"))
      try application.run("PRAGMA journal_mode=\(journal.rawValue)")
      let store = try SQLiteStore(path: disk.path("app.db"))
      _ = try await store.migrate()
      func offer(_ size: Int) -> SecretOffer {
        SecretOffer(
          name: "a", secret: size == 0 ? nil : Secret(value: String(repeating: "x", count: size), madeAt: 1),
          notMadeBefore: 0)
      }
      let error = await #expect(throws: StoreError.self) { _ = try await store.exchange(offer(1 << 20)) }
      #expect(error?.code == .full)
      #expect(error?.sentence.contains("make room") == true)
      #expect(try await store.exchange(offer(0)).secret == nil)
      #expect(try await store.exchange(offer(1)).secret?.value == "x")
      #expect(try application.first("PRAGMA integrity_check") == .text("ok"))
      await store.close()
    }
  }
#endif
