import Synchronization
import ZonaiJSON

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Where a command's words go: results to standard output, everything else to standard error.
///
/// On a terminal progress is one line that is written over; in a pipe each report is a line of its own.
final class Console: Sendable {
  /// Whether the caller asked for JSON.
  let isJSON: Bool
  /// Whether standard error is a terminal.
  let isTerminal: Bool
  private let standardOutput: Int32
  private let standardError: Int32
  private let state = Mutex(State())

  private struct State {
    /// Whether a progress line stands on the terminal, to be written over.
    var hasProgress = false
    /// Whether standard output failed otherwise than by a reader who left.
    var outputFailed = false
  }

  init(isJSON: Bool, standardOutput: Int32 = 1, standardError: Int32 = 2) {
    self.isJSON = isJSON
    self.standardOutput = standardOutput
    self.standardError = standardError
    isTerminal = isatty(standardError) == 1
  }

  /// Writes a line of the result.
  func result(_ text: String) {
    state.withLock { state in
      clearProgress(&state)
      guard !state.outputFailed, let problem = write(text + "\n", to: standardOutput), problem != EPIPE else { return }
      state.outputFailed = true
      _ = write("cannot write the result: \(String(cString: strerror(problem)))\n", to: standardError)
    }
  }

  func result(_ value: JSON) { result(value.text) }

  /// Writes a line that is no result; with `--json` as `{"log": …}`, so that a program can read standard error too.
  func note(_ text: String) {
    log(isJSON ? (["log": .string(text)] as JSON).text : text)
  }

  private func log(_ line: String) {
    state.withLock { state in
      clearProgress(&state)
      _ = write(line + "\n", to: standardError)
    }
  }

  /// Writes how far things are. In a pipe a line; on a terminal over the last one; with `--json` not at all.
  func progress(_ text: String) {
    if isJSON { return }
    state.withLock { state in
      guard isTerminal else {
        _ = write(text + "\n", to: standardError)
        return
      }
      _ = write("\r\(text)\u{1B}[K", to: standardError)
      state.hasProgress = true
    }
  }

  /// Says why the command ends.
  func failure(_ failure: CommandFailure) {
    if isJSON {
      log((["error": ["code": .string(failure.code), "message": .string(failure.sentence)]] as JSON).text)
    } else {
      log("zonai: \(failure.sentence)")
    }
  }

  /// Whether every result was written, or was not wanted any more.
  var deliveredResults: Bool { state.withLock { !$0.outputFailed } }

  private func clearProgress(_ state: inout State) {
    guard state.hasProgress else { return }
    state.hasProgress = false
    _ = write("\r\u{1B}[K", to: standardError)
  }

  /// The error number when the text could not be written whole.
  private func write(_ text: String, to descriptor: Int32) -> Int32? {
    var text = text
    return text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = writeBytes(descriptor, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[done...]))
        if count < 0, errno == EINTR { continue }
        if count < 0 { return errno }
        done += count
      }
      return nil
    }
  }
}

private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}
