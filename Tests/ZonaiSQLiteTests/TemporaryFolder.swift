#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
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
}
