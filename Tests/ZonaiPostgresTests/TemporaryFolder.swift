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

/// A folder of its own for each test, removed with it.
final class TemporaryFolder: Sendable {
  let root: String

  init() throws {
    root = FileManager.default.temporaryDirectory.path + "/zonai-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  func path(_ name: String) -> String { root + "/" + name }

  func write(_ text: String, to name: String, mode: mode_t) throws {
    try Data(text.utf8).write(to: URL(filePath: path(name)))
    guard chmod(path(name), mode) == 0 else { throw TestFailure("cannot set the mode of \(name)") }
  }
}
