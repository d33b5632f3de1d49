import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A program of the system, run to its end. Foundation's own waits for ever when a child leaves descriptors to others.
struct Program {
  struct Ending {
    var status: Int32
    var output: String
  }

  /// There is no such program, or it could not be started: the test fails, since nobody judged.
  struct NotRun: Error, CustomStringConvertible {
    var description: String
  }

  /// Runs it with what it prints, both ways out of it, gathered in a file. Blocks no thread of the pool.
  static func run(_ path: String, _ arguments: [String], in directory: String) async throws -> Ending {
    try await withCheckedThrowingContinuation { continuation in
      do {
        _ = try NamedThread(name: "judge") {
          continuation.resume(with: Result { try runAndWait(path, arguments, in: directory) })
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  private static func runAndWait(_ path: String, _ arguments: [String], in directory: String) throws -> Ending {
    guard access(path, X_OK) == 0 else { throw NotRun(description: "\(path) is missing: install the Debian package") }
    let output = "\(directory)/output.\(UInt64.random(in: 0...UInt64.max))"
    defer { unlink(output) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    #if canImport(Glibc)
      // Nothing of a sibling: Swift Testing makes a pipe inheritable while it starts an exit test's child, and then waits
      // until the last process that has it is gone.
      for end in 3..<Int32(min(4096, sysconf(Int32(_SC_OPEN_MAX)))) {
        posix_spawn_file_actions_addclose(&actions, end)
      }
    #endif
    // Our own threads block every signal, and a child would inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var child = pid_t()
    let started = posix_spawn(&child, path, &actions, &attributes, &words, environ)
    guard started == 0 else { throw NotRun(description: "\(path): \(String(cString: strerror(started)))") }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {
      guard errno == EINTR else { throw NotRun(description: "\(path): \(String(cString: strerror(errno)))") }
    }
    return Ending(status: status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F), output: try read(output))
  }

  static func read(_ path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw NotRun(description: "\(path) cannot be read") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&piece, 1, piece.count, file)
      if count == 0 { break }
      bytes.append(contentsOf: piece[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func write(_ path: String, _ text: String) throws {
    guard let file = fopen(path, "w") else { throw NotRun(description: "\(path) cannot be written") }
    defer { fclose(file) }
    let bytes = Array(text.utf8)
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
      throw NotRun(description: "\(path) cannot be written")
    }
  }
}
