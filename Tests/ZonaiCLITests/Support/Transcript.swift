import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a child process wrote to one of its outputs, read as it comes by a thread of its own.
final class Transcript: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var isComplete = false
  }

  private let state = Monitor(State())

  /// Reads until the end, and closes the descriptor.
  init(reading descriptor: Int32) throws {
    let state = state
    _ = try NamedThread(name: "transcript") {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { break }
        state.change { $0.bytes += buffer.prefix(count) }
      }
      close(descriptor)
      state.change { $0.isComplete = true }
    }
  }

  var text: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }

  /// Blocks until the end of the output.
  func waitForEnd() { _ = state.wait { $0.isComplete ? true : nil } }

  /// Blocks until the text appears; false when the output ended, or a minute passed, without it.
  func waitFor(_ text: String) -> Bool {
    state.wait(until: MonotonicClock.milliseconds() + 60_000) { state -> Bool? in
      if String(decoding: state.bytes, as: UTF8.self).contains(text) { return true }
      return state.isComplete ? false : nil
    } ?? false
  }
}
