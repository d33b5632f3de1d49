import CZonaiThreads
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Wakes a thread that sleeps in poll(2): poll `descriptor` for reading, `drain` it, then look at the queue.
///
/// The order matters: what was queued before `wake` is seen by whoever looks after `drain`. However many threads wake it,
/// one byte is written until the sleeper has drained.
public final class WakePipe: Sendable {
  /// The end to poll for reading.
  public let descriptor: Int32
  private let writeEnd: Int32
  private let isSignalled = Atomic<Bool>(false)

  /// Throws when the process has no descriptors left.
  public init() throws(WakePipeError) {
    var ends: (Int32, Int32) = (-1, -1)
    let made = withUnsafeMutableBytes(of: &ends) { bytes in
      zonai_make_pipe(bytes.assumingMemoryBound(to: Int32.self).baseAddress)
    }
    guard made == 0 else { throw WakePipeError(number: errno) }
    descriptor = ends.0
    writeEnd = ends.1
  }

  deinit {
    close(descriptor)
    close(writeEnd)
  }

  /// Makes the sleeper's poll return, now or when it next polls.
  public func wake() {
    guard !isSignalled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    var byte: UInt8 = 1
    var written = 0
    repeat { written = write(writeEnd, &byte, 1) } while written < 0 && errno == EINTR
  }

  /// Takes the byte out. Call it on the sleeping thread, before looking at the queue.
  public func drain() {
    guard isSignalled.load(ordering: .acquiring) else { return }
    var bytes: UInt64 = 0
    var count = 0
    // The byte may not have been written yet when the flag is up already: then it wakes one turn for nothing.
    repeat { count = read(descriptor, &bytes, 8) } while count < 0 && errno == EINTR
    if count > 0 { isSignalled.store(false, ordering: .sequentiallyConsistent) }
  }
}

/// No pipe could be made: the process is out of descriptors.
public struct WakePipeError: Error, CustomStringConvertible {
  /// The system's error number.
  public let number: Int32

  public var description: String {
    "cannot make a pipe: \(String(cString: strerror(number))); raise the limit of open files (ulimit -n)"
  }
}
