import Synchronization
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

/// The built command, or another, as a process whose words go to files: what it has written stays, however it ends.
final class Program: Sendable {
  let pid: pid_t
  private let files: (output: String, errors: String)
  private let status = Monitor<Int32?>(nil)

  private static let started = Atomic(0)

  /// Starts `zonai` with these words.
  convenience init(_ words: [String], in folder: TemporaryFolder) throws {
    try self.init(Program.executable, words, in: folder)
  }

  /// Starts another program.
  init(_ executable: String, _ words: [String], in folder: TemporaryFolder) throws {
    let number = Program.started.add(1, ordering: .relaxed).newValue
    files = (folder["program-\(number).out"], folder["program-\(number).err"])
    pid = try Program.spawn(executable, words, output: files.output, errors: files.errors)
    let (pid, status) = (pid, status)
    _ = try NamedThread(name: "waits for zonai") {
      var code: Int32 = 0
      while waitpid(pid, &code, 0) < 0, errno == EINTR {}
      let signal = code & 0x7f
      let ended = signal == 0 ? code >> 8 & 0xff : 128 + signal
      status.change { $0 = ended }
    }
  }

  deinit { if isRunning { kill(pid, SIGKILL) } }

  /// Runs to the end; what it wrote to standard output.
  @discardableResult
  static func run(
    _ words: [String], in folder: TemporaryFolder, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let program = try Program(words, in: folder)
    let code = try await program.end()
    #expect(code == 0, "\(program.errors)", sourceLocation: sourceLocation)
    return program.output
  }

  var isRunning: Bool { status.withLock { $0 == nil } }

  var output: String { (try? TemporaryFolder.read(files.output)) ?? "" }
  var errors: String { (try? TemporaryFolder.read(files.errors)) ?? "" }

  /// The events of `work --json`. A line that a signal cut is none.
  var events: [JSON] { output.split(separator: "\n").compactMap { try? JSON(parsing: String($0)) } }

  func signal(_ number: Int32) { kill(pid, number) }

  /// Stops it where it is, and returns once all of it stands still.
  func pause() async throws {
    signal(SIGSTOP)
    let pid = pid
    try await blocking {
      var info = siginfo_t()
      while waitid(P_PID, id_t(pid), &info, WSTOPPED) < 0 { try #require(errno == EINTR) }
    }
  }

  /// Waits for its end; the exit code, or 128 and the signal's number.
  func end() async throws -> Int32 { try await blocking { [status] in status.wait { $0 } ?? -1 } }

  private static func spawn(_ executable: String, _ words: [String], output: String, errors: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    #if canImport(Glibc)
      // Nothing of a sibling: Swift Testing makes a pipe inheritable while it starts an exit test's child, and then waits
      // until the last process that has it is gone.
      for end in 3..<Int32(min(4096, sysconf(Int32(_SC_OPEN_MAX)))) {
        posix_spawn_file_actions_addclose(&actions, end)
      }
    #endif
    // Whatever the thread that runs this test blocks or ignores is no business of the child.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var arguments: [UnsafeMutablePointer<CChar>?] = ([executable] + words).map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var started: pid_t = 0
    let result = posix_spawn(&started, executable, &actions, &attributes, &arguments, environ)
    try #require(result == 0, "cannot start \(executable): \(String(cString: strerror(result)))")
    return started
  }

  /// Beside the test bundle, where SwiftPM puts every product.
  private static let executable: String = {
    let bundle = CommandLine.arguments[0]
    return String(bundle[..<(bundle.lastIndex(of: "/") ?? bundle.startIndex)]) + "/zonai"
  }()
}
