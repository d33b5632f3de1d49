import ZonaiJSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Files that people write: small, read whole.
enum TextFile {
  /// Far beyond any configuration or message.
  private static let largest = 4 << 20

  /// The bytes of a file. `what` says in the sentence of a failure what the file was to be.
  static func read(_ path: String, as what: String) throws(CommandFailure) -> [UInt8] {
    func failure(_ clause: String) -> CommandFailure { .configuration("cannot read \(what) \(path): \(clause)") }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(String(cString: strerror(errno))) }
    defer { close(descriptor) }
    guard let bytes = read(descriptor: descriptor) else { throw failure(String(cString: strerror(errno))) }
    guard bytes.count <= largest else { throw failure("it is larger than 4 MiB, so it is no such file") }
    return bytes
  }

  /// Everything up to the end, or a little more than the limit; nil when the system refused, with `errno` set.
  static func read(descriptor: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= largest {
      let count = readBytes(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { return nil }
      if count == 0 { break }
      bytes.append(contentsOf: buffer.prefix(count))
    }
    return bytes
  }

  /// Makes a file that is not there yet.
  static func write(_ text: String, to path: String) throws(CommandFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    var rest = Array(text.utf8)[...]
    while descriptor >= 0, !rest.isEmpty {
      let count = rest.withUnsafeBytes { writeBytes(descriptor, $0) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { break }
      rest = rest.dropFirst(count)
    }
    guard descriptor >= 0, rest.isEmpty else {
      let clause = String(cString: strerror(errno))
      if descriptor >= 0 { close(descriptor) }
      throw CommandFailure("file", "cannot write \(path): \(clause)", exitCode: .failed)
    }
    close(descriptor)
  }

  static func json(_ bytes: [UInt8], file: String) throws(CommandFailure) -> JSON {
    do throws(JSONError) { return try JSON(parsing: bytes) } catch {
      throw .configuration("\(file) is not JSON: \(error)")
    }
  }

  /// The path as seen from the folder of another file.
  static func resolve(_ path: String, besides file: String) -> String {
    guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return path }
    return String(file[...slash]) + path
  }
}

private func readBytes(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(descriptor, buffer, count)
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}
