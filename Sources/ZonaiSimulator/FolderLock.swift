import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Keeps a folder for one simulator. The system lets go of it when the process ends, however it
/// does.
final class FolderLock: Sendable {
  private let descriptor: Mutex<Int32?>

  init(_ path: String) throws(SimulatorError) {
    let opened = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else {
      throw SimulatorError(.folder, "cannot open the folder \(path): \(String(cString: strerror(errno)))")
    }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      let isTaken = errno == EWOULDBLOCK
      let problem = String(cString: strerror(errno))
      close(opened)
      guard isTaken else { throw SimulatorError(.folder, "cannot lock the folder \(path): \(problem)") }
      throw SimulatorError(.inUse, "a simulator already runs in the folder \(path); name another one, or stop it first")
    }
    descriptor = Mutex(opened)
  }

  deinit { release() }

  /// Does nothing the second time.
  func release() {
    let opened = descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
    guard let opened else { return }
    // A child process that is being started may hold a copy until its program begins.
    flock(opened, LOCK_UN)
    close(opened)
  }
}
