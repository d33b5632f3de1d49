import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A folder of the test's own, gone with everything in it when the test is.
final class Folder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/zonai-cli-test-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Folder.remove(path) }

  /// The path of something in it.
  subscript(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file and gives its path.
  func write(_ name: String, _ text: String) throws -> String { try Folder.write(self[name], text) }

  static func write(_ path: String, _ text: String) throws -> String {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { writeBytes(descriptor, $0) }
      try #require(count > 0)
      done += count
    }
    return path
  }

  func has(_ name: String) -> Bool { access(self[name], F_OK) == 0 }

  func setMode(_ name: String, _ mode: mode_t) { chmod(self[name], mode) }

  /// The text of a file.
  func read(_ name: String) throws -> String { try Folder.read(self[name]) }

  static func read(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

  func bytes(_ name: String) throws -> [UInt8] { try Folder.bytes(self[name]) }

  private static func bytes(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    try #require(descriptor >= 0, "\(path)")
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = readBytes(descriptor, &buffer, buffer.count)
      if count <= 0 { return bytes }
      bytes += buffer.prefix(count)
    }
  }

  private static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { remove("\(path)/\(name)") }
    }
    closedir(folder)
    rmdir(path)
  }
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}
