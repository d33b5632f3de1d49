import ZonaiJSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The folder in which the simulator leaves what a client needs.
struct SimulatorFolder: Sendable {
  static let names = ["ca.pem", "service-account.json", "zonai.json", "simulator.json"]
  /// Marks the folder as a simulator's and lists the files that it wrote, so that the next one may
  /// replace them.
  private static let mark = ".zonai-simulator"

  let path: String

  private let lock: FolderLock

  /// Makes the folder, or takes one that an earlier simulator made and removes what it left.
  /// Refuses, and writes nothing, if the folder holds other files or another simulator uses it.
  init(_ path: String) throws(SimulatorError) {
    self.path = path
    let earlier = Self.read("\(path)/\(Self.mark)")
    if earlier == nil, let foreign = Self.firstEntry(of: path) {
      throw SimulatorError(
        .foreignFile,
        "the folder \(path) is not empty and was not made by a simulator: it holds \(foreign); name a new or empty folder"
      )
    }
    try Self.make(path)
    lock = try FolderLock(path)
    // The mark could have been changed: only files that a simulator writes are removed.
    for name in (earlier ?? "").split(separator: "\n").map(String.init) where Self.isOwn(name) {
      unlink("\(path)/\(name)")
    }
    try write(Self.mark, Self.names.joined(separator: "\n") + "\n")
  }

  /// Lets another simulator use the folder.
  func release() { lock.release() }

  private static func isOwn(_ name: String) -> Bool {
    names.contains(name) || !name.contains("/") && name.hasPrefix(keyPrefix) && name.hasSuffix(".p8")
  }

  /// The name of a file or folder in it; nil when it is empty or not there.
  private static func firstEntry(of path: String) -> String? {
    guard let listing = opendir(path) else { return nil }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { return name }
    }
    return nil
  }

  /// Writes a file in one step: readers see the old one or the new one whole. Secrets are for the owner alone.
  func write(_ name: String, _ text: String, isSecret: Bool = false) throws(SimulatorError) {
    let temporary = "\(path)/.\(name).new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, isSecret ? 0o600 : 0o644)
    guard descriptor >= 0 else { throw failure("write \(path)/\(name)") }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Self.write(descriptor, $0) }
      guard count > 0 else {
        let failure = failure("write \(path)/\(name)")
        close(descriptor)
        throw failure
      }
      rest = rest.dropFirst(count)
    }
    guard close(descriptor) == 0, rename(temporary, "\(path)/\(name)") == 0 else {
      throw failure("write \(path)/\(name)")
    }
  }

  /// Writes a file whose name differs from run to run, and remembers it for the next simulator.
  func writeKey(_ name: String, _ text: String) throws(SimulatorError) {
    let known = Self.read("\(path)/\(Self.mark)") ?? ""
    try write(Self.mark, known + name + "\n")
    try write(name, text, isSecret: true)
  }

  func remove(_ name: String) { unlink("\(path)/\(name)") }

  private static func make(_ path: String) throws(SimulatorError) {
    var made = ""
    for piece in path.split(separator: "/", omittingEmptySubsequences: false) {
      made += piece + "/"
      guard mkdir(made, 0o755) == 0 || errno == EEXIST || errno == EISDIR else {
        throw SimulatorError(.folder, "cannot make the folder \(path): \(String(cString: strerror(errno)))")
      }
    }
  }

  private static func read(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // A list of a few names; what is longer was not written by a simulator.
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = bytes.withUnsafeMutableBytes { Self.read(descriptor, $0) }
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }

  private func failure(_ action: String) -> SimulatorError {
    SimulatorError(.folder, "cannot \(action): \(String(cString: strerror(errno)))")
  }

  // The names of these calls are taken by methods above.
  #if canImport(Glibc)
    private static func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
      Glibc.write(file, bytes.baseAddress, bytes.count)
    }
    private static func read(_ file: Int32, _ space: UnsafeMutableRawBufferPointer) -> Int {
      Glibc.read(file, space.baseAddress, space.count)
    }
  #elseif canImport(Musl)
    private static func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
      Musl.write(file, bytes.baseAddress, bytes.count)
    }
    private static func read(_ file: Int32, _ space: UnsafeMutableRawBufferPointer) -> Int {
      Musl.read(file, space.baseAddress, space.count)
    }
  #else
    private static func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
      Darwin.write(file, bytes.baseAddress, bytes.count)
    }
    private static func read(_ file: Int32, _ space: UnsafeMutableRawBufferPointer) -> Int {
      Darwin.read(file, space.baseAddress, space.count)
    }
  #endif
}
