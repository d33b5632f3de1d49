#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The contents of a key source, with what tells whether the file changed since.
struct KeyFile {
  /// A file is another one when any of these differ. A rename over it changes the inode, an edit in place the time.
  struct Stamp: Equatable {
    var inode: UInt64
    var size: Int64
    var seconds: Int64
    var nanoseconds: Int64
  }

  let text: String
  /// What was taken off to get at the text, as clauses that follow the name of the source.
  let repairs: [String]
  /// nil for an inline key, which never changes.
  let stamp: Stamp?
  let warning: SetupWarning?

  /// Far beyond any key, far below what would hurt.
  private static let largest = 1 << 20

  /// Reads the source. It blocks: a thread of our own calls it.
  init(reading source: KeySource, setting: String) throws(SetupError) {
    let path: String
    switch source {
    case .inline(let given):
      (text, repairs) = KeyWrapping.unwrapped(Array(given.utf8))
      stamp = nil
      warning = nil
      return
    case .file(let named): path = named
    }
    // Without O_NONBLOCK a named pipe is waited for until somebody writes to it.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw KeyFile.unreadable(path, setting, errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw KeyFile.unreadable(path, setting, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SetupError(.unreadable, setting: setting, "\(path) is not a file; name the key file itself")
    }
    (text, repairs) = KeyWrapping.unwrapped(try KeyFile.contents(of: descriptor, path, setting))
    stamp = Stamp(status)
    let others = status.st_mode & (S_IRGRP | S_IROTH)
    warning =
      others == 0
      ? nil
      : SetupWarning(
        setting: setting, sentence: "\(path) holds a private key and can be read by others; run: chmod 600 \(path)")
  }

  /// The file's stamp as it is now; nil for an inline key, and when the file is not there at the moment.
  static func stamp(of source: KeySource) -> Stamp? {
    guard case .file(let path) = source else { return nil }
    var status = stat()
    return stat(path, &status) == 0 ? Stamp(status) : nil
  }

  /// That others may read it, and what was put right in it. `more` are the repairs of the key
  /// inside.
  func warnings(_ source: KeySource, _ setting: String, _ more: [String]) -> [SetupWarning] {
    let repairs = repairs + more
    guard !repairs.isEmpty else { return [warning].compactMap { $0 } }
    let note = SetupWarning(
      setting: setting,
      sentence: "\(source) \(repairs.joined(separator: " and ")); it was read, but keep it as it was given out")
    return [warning, note].compactMap { $0 }
  }

  private static func contents(of descriptor: Int32, _ path: String, _ setting: String) throws(SetupError) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(path, setting, errno) }
      if count == 0 { return bytes }
      bytes.append(contentsOf: buffer.prefix(count))
      guard bytes.count <= largest else {
        throw SetupError(.wrongKind, setting: setting, "\(path) is far too large to be a key")
      }
    }
  }

  private static func unreadable(_ path: String, _ setting: String, _ number: Int32) -> SetupError {
    let advice =
      switch number {
      case ENOENT: "check the path; it is relative to the configuration file"
      case EACCES: "let the user that runs this read it"
      default: "make it readable"
      }
    return SetupError(
      .unreadable, setting: setting, "cannot read \(path): \(String(cString: strerror(number))); \(advice)")
  }
}

extension KeyFile.Stamp {
  init(_ status: stat) {
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    seconds = Int64(time.tv_sec)
    nanoseconds = Int64(time.tv_nsec)
  }
}
