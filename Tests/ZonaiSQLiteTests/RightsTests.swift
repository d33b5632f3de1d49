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

extension ChildTests {
  /// Files that a process may not read or write. Root may do anything, so a process of somebody else looks.
  @Suite struct RightsTests {
    @Test func `a file that cannot be written is read-only, in a sentence`() async throws {
      let scene = try await SQLiteScene(SQLiteScene.devices, journal: .rollback)
      let path = scene.fixture.path
      let folder = scene.fixture.folder.root
      _ = chmod(path, 0o444)
      _ = chmod(folder, 0o555)
      defer { _ = chmod(folder, 0o755) }
      // Root may write anything, so a process of somebody else looks.
      await #expect(processExitsWith: .success) { [path = path as String] in
        ChildTests.limitLife()
        if getuid() == 0, setuid(65534) != 0 { exit(10) }
        let store = try SQLiteStore(path: path)
        do throws(StoreError) {
          _ = try await store.jobs(.list(limit: 10, states: nil))
        } catch {
          print(error)
          exit(11)
        }
        do throws(StoreError) {
          _ = try await store.exchange(SecretOffer(name: "a", secret: Secret(value: "b", madeAt: 1), notMadeBefore: 0))
        } catch {
          print(error)
          exit(error.code == .readOnly ? 0 : 12)
        }
        exit(13)
      }
    }

    @Test func `a file in write-ahead mode whose folder cannot be written is refused in a sentence`() async throws {
      let scene = try await SQLiteScene(SQLiteScene.devices, journal: .wal)
      let copy = try TemporaryFolder()
      try scene.application.run("VACUUM INTO '\(copy.path("app.db"))'")
      let application = try Application(path: copy.path("app.db"))
      try application.run("PRAGMA journal_mode=WAL")
      try application.run("PRAGMA wal_checkpoint(TRUNCATE)")
      for name in ["app.db-wal", "app.db-shm"] { try? FileManager.default.removeItem(atPath: copy.path(name)) }
      _ = chmod(copy.path("app.db"), 0o444)
      _ = chmod(copy.root, 0o555)
      defer { _ = chmod(copy.root, 0o755) }
      await #expect(processExitsWith: .success) { [path = copy.path("app.db") as String] in
        ChildTests.limitLife()
        if getuid() == 0, setuid(65534) != 0 { exit(10) }
        let store = try SQLiteStore(path: path)
        do throws(StoreError) {
          _ = try await store.exchange(SecretOffer(name: "a", secret: Secret(value: "b", madeAt: 1), notMadeBefore: 0))
        } catch {
          print(error)
          let isPlain = [StoreError.Code.denied, .readOnly].contains(error.code) && error.sentence.contains("folder")
          exit(isPlain ? 0 : 12)
        }
        exit(13)
      }
    }

    @Test func `a file that cannot be read is denied, in a sentence`() async throws {
      let scene = try await SQLiteScene(SQLiteScene.devices, journal: .rollback)
      let path = scene.fixture.path
      _ = chmod(path, 0o000)
      await #expect(processExitsWith: .success) { [path = path as String] in
        ChildTests.limitLife()
        if getuid() == 0, setuid(65534) != 0 { exit(10) }
        let store = try SQLiteStore(path: path)
        do throws(StoreError) {
          _ = try await store.jobs(.list(limit: 10, states: nil))
        } catch {
          print(error)
          exit(error.code == .denied ? 0 : 12)
        }
        exit(13)
      }
    }
  }
}
