import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// ^C, SIGTERM, and SIGHUP when a terminal is closed. The first asks what runs to stop, if it knows
/// how to; the second, and the first where nothing does, ends the process at once.
///
/// The main thread waits for the signals, which are blocked everywhere else, so no code ever runs in a handler.
final class Interruption: Sendable {
  private struct State {
    var stop: (@Sendable () -> Void)?
    var happened = false
  }

  private let state = Mutex(State())

  /// Blocks the signals here and in every thread that is started from now on. Call it before there are any.
  static func block() {
    var signals = awaited
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    // A reader that left is an error of the write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
  }

  private static var awaited: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    // Under nohup it is ignored and must stay so: a blocked signal would be waited for all the
    // same.
    if !isIgnored(SIGHUP) { sigaddset(&signals, SIGHUP) }
    return signals
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    let handler = signal(number, SIG_DFL)
    signal(number, handler)
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Waits for signals, for good.
  func wait() -> Never {
    var signals = Interruption.awaited
    while true {
      var number: Int32 = 0
      if sigwait(&signals, &number) == 0 { take(number) }
    }
  }

  /// Whether a signal came.
  var happened: Bool { state.withLock { $0.happened } }

  /// From now on the first signal calls this, on the thread that waits for signals.
  func onFirst(_ stop: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.stop = stop
      return state.happened
    }
    if isLate { stop() }
  }

  /// Waits for the first signal.
  func first() async {
    await withCheckedContinuation { continuation in onFirst { continuation.resume() } }
  }

  private func take(_ number: Int32) {
    let stop = state.withLock { state -> (@Sendable () -> Void)? in
      defer { state.happened = true }
      return state.happened ? nil : state.stop
    }
    guard let stop else { _exit(128 + number) }
    stop()
  }
}
