import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A child process just started, and our ends of its three pipes.
struct SpawnedProcess {
  let pid: pid_t
  let input: Int32
  let output: Int32
  let error: Int32

  // A pipe is inheritable for a moment: no other child of ours may be started in it.
  private static let one = Mutex(())

  /// `environment` is added to this process's own.
  init(_ executable: String, _ words: [String], environment: [String: String] = [:]) throws {
    self = try SpawnedProcess.one.withLock { _ in
      try SpawnedProcess(spawning: executable, words, environment)
    }
  }

  private init(spawning executable: String, _ words: [String], _ added: [String: String]) throws {
    let (inputPipe, outputPipe, errorPipe) = (try Pipe(), try Pipe(), try Pipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, inputPipe.source, 0)
    posix_spawn_file_actions_adddup2(&actions, outputPipe.sink, 1)
    posix_spawn_file_actions_adddup2(&actions, errorPipe.sink, 2)
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
    var variables = SpawnedProcess.environment.filter { added[$0.key] == nil }.map { "\($0.key)=\($0.value)" }
    variables += added.map { "\($0.key)=\($0.value)" }
    var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
    defer { for variable in environment { free(variable) } }
    let result = posix_spawn(&started, executable, &actions, &attributes, &arguments, &environment)
    for end in [inputPipe.source, outputPipe.sink, errorPipe.sink] { close(end) }
    try #require(result == 0, "cannot start \(executable): \(String(cString: strerror(result)))")
    pid = started
    input = inputPipe.sink
    output = outputPipe.source
    error = errorPipe.source
  }
}

extension SpawnedProcess {
  /// Without what would name a store for every child.
  private static var environment: [String: String] {
    var variables: [String: String] = [:]
    var next = environ
    while let variable = next.pointee {
      let text = String(cString: variable)
      let name = text.prefix { $0 != "=" }
      if name != "ZONAI_STORE" { variables[String(name)] = String(text.dropFirst(name.count + 1)) }
      next += 1
    }
    return variables
  }
}

private struct Pipe {
  let source: Int32
  let sink: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (source, sink) = (ends[0], ends[1])
  }
}
