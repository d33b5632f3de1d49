// Threads of our own, and what passes between them: for work that blocks in a C library or drives a loop, and so must
// never sit on Swift's cooperative pool. There is no pool of threads here and none is wanted: each thread has one owner.

import CZonaiThreads
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A thread with a name that a debugger shows, which runs one body and ends with it.
///
/// It takes no signals, so SIGTERM reaches the threads that expect it and a write to a closed socket is an error and no
/// end of the process. When nobody joins it, it cleans up after itself.
public final class NamedThread: Sendable {
  private enum Fate {
    case running(pthread_t)
    case left
  }

  private let fate: Mutex<Fate>
  /// The name as it was asked for; systems show the first 15 bytes.
  public let name: String

  /// Starts the thread. Throws when the system has no thread left to give.
  ///
  /// `stackBytes` is 1 MiB by default: deep enough for any of our C libraries, and only touched pages cost memory.
  public init(name: String, stackBytes: Int = 1 << 20, body: @escaping @Sendable () -> Void) throws(ThreadStartError) {
    self.name = name
    fate = Mutex(.running(try startThread(name: name, stackBytes: stackBytes, body: body)))
  }

  deinit {
    fate.withLock { fate in
      if case .running(let thread) = fate { pthread_detach(thread) }
    }
  }

  /// Blocks until the body has returned. Only the first call waits; called on the thread itself it returns at once.
  public func join() {
    let thread = fate.withLock { fate -> pthread_t? in
      guard case .running(let thread) = fate, pthread_equal(thread, pthread_self()) == 0 else { return nil }
      fate = .left
      return thread
    }
    guard let thread else { return }
    let result = pthread_join(thread, nil)
    precondition(result == 0, "a thread that was neither joined nor detached can be joined")
  }
}

/// The system refused to start a thread: a limit of processes or memory was reached.
public struct ThreadStartError: Error, CustomStringConvertible {
  public let name: String
  /// The system's error number, EAGAIN as a rule.
  public let number: Int32

  public var description: String {
    "cannot start the thread \(name): \(String(cString: strerror(number))); raise the limit of processes (ulimit -u)"
  }
}

/// What the new thread is handed through C's one pointer.
private final class ThreadBody {
  let name: String
  let run: @Sendable () -> Void

  init(name: String, run: @escaping @Sendable () -> Void) {
    self.name = name
    self.run = run
  }
}

private func startThread(
  name: String, stackBytes: Int, body: @escaping @Sendable () -> Void
) throws(ThreadStartError) -> pthread_t {
  var attributes = pthread_attr_t()
  let prepared = pthread_attr_init(&attributes)
  guard prepared == 0 else { throw ThreadStartError(name: name, number: prepared) }
  defer { pthread_attr_destroy(&attributes) }
  let sized = pthread_attr_setstacksize(&attributes, stackBytes)
  guard sized == 0 else { throw ThreadStartError(name: name, number: sized) }

  // A new thread inherits its creator's mask: set it here, so that no signal slips in before the body runs.
  var blocked = sigset_t()
  var previous = sigset_t()
  sigfillset(&blocked)
  for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF] { sigdelset(&blocked, fault) }
  pthread_sigmask(SIG_SETMASK, &blocked, &previous)
  defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

  let handed = Unmanaged.passRetained(ThreadBody(name: name, run: body))
  #if canImport(Darwin)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  let started = pthread_create(&thread, &attributes, enterThread, handed.toOpaque())
  guard started == 0 else {
    handed.release()
    throw ThreadStartError(name: name, number: started)
  }
  #if canImport(Darwin)
    guard let thread else { throw ThreadStartError(name: name, number: EAGAIN) }
  #endif
  return thread
}

#if canImport(Darwin)
  private func enterThread(_ handed: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    runBody(Unmanaged<ThreadBody>.fromOpaque(handed).takeRetainedValue())
    return nil
  }
#else
  private func enterThread(_ handed: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let handed { runBody(Unmanaged<ThreadBody>.fromOpaque(handed).takeRetainedValue()) }
    return nil
  }
#endif

private func runBody(_ body: ThreadBody) {
  // Linux refuses a longer name instead of cutting it.
  zonai_name_current_thread(String(decoding: body.name.utf8.prefix(15), as: UTF8.self))
  body.run()
}
