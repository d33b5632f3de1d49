import Testing
import ZonaiJSON
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The built executable as a child process: what a person types, and what comes of it.
final class Shell: Sendable {
  let pid: pid_t
  let standardOutput: Transcript
  let standardError: Transcript
  private let openInput: Int32?
  private let status = Monitor<Int32?>(nil)

  struct Ending {
    /// The exit code; 128 and the signal's number when a signal ended it.
    let code: Int32
    let output: String
    let errors: String

    /// Standard output as JSON.
    var json: JSON { get throws { try JSON(parsing: output) } }
    /// `error.code` and `error.message` of the last line of standard error.
    var failure: (code: String?, message: String?) {
      let line = errors.split(separator: "\n").last ?? ""
      let error = (try? JSON(parsing: String(line)))?["error"]
      return (error?["code"]?.string, error?["message"]?.string)
    }
  }

  /// Starts `zonai` with these words, and this on its standard input.
  init(
    _ words: [String], input: String = "", keepsInputOpen: Bool = false, environment: [String: String] = [:],
    program: String = Shell.executable
  ) throws {
    let spawned = try SpawnedProcess(program, words, environment: environment)
    pid = spawned.pid
    standardOutput = try Transcript(reading: spawned.output)
    standardError = try Transcript(reading: spawned.error)
    let bytes = Array(input.utf8)
    // What the tests feed fits into the pipe, so this never waits for the reader.
    #expect(bytes.isEmpty || write(spawned.input, bytes, bytes.count) == bytes.count)
    openInput = keepsInputOpen ? spawned.input : nil
    if !keepsInputOpen { close(spawned.input) }
    let (pid, status) = (pid, status)
    _ = try NamedThread(name: "waits for zonai") {
      var code: Int32 = 0
      while waitpid(pid, &code, 0) < 0, errno == EINTR {}
      let signal = code & 0x7f
      let ended = signal == 0 ? code >> 8 & 0xff : 128 + signal
      status.change { $0 = ended }
    }
  }

  deinit {
    if let openInput { close(openInput) }
    if status.withLock({ $0 == nil }) { kill(pid, SIGKILL) }
  }

  func signal(_ number: Int32) { kill(pid, number) }

  /// Waits until it has ended by itself.
  func end() async throws -> Ending {
    try await blocking { [self] in
      let code = status.wait { $0 } ?? -1
      standardOutput.waitForEnd()
      standardError.waitForEnd()
      return Ending(code: code, output: standardOutput.text, errors: standardError.text)
    }
  }

  /// Runs to the end.
  static func run(_ words: String..., input: String = "") async throws -> Ending {
    try await run(words, input: input)
  }

  static func run(
    _ words: [String], input: String = "", environment: [String: String] = [:]
  ) async throws -> Ending {
    try await Shell(words, input: input, environment: environment).end()
  }

  /// Beside the test bundle, where SwiftPM puts every product.
  static let executable: String = {
    let bundle = CommandLine.arguments[0]
    return String(bundle[..<(bundle.lastIndex(of: "/") ?? bundle.startIndex)]) + "/zonai"
  }()
}
