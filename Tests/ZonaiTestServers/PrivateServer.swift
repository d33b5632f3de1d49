import Synchronization
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A database server for one test, which may stop it, kill it and start it again. Gone with its data when it is released.
public final class PrivateServer: Sendable {
  public enum Kind: String, Sendable { case postgres, mariadb }

  public let kind: Kind
  /// Where everything of it lies: `log`, `tls/server.crt`, `data`.
  public let folder: String
  private let options: [String]
  private let address = Mutex("")

  /// Starts it. `options` go to the server's command line. `parent` is a folder for its own, `/tmp` by default: elsewhere
  /// when the disk is to be a small one.
  public init(_ kind: Kind, options: [String] = [], in parent: String = "/tmp") async throws {
    self.kind = kind
    self.options = options
    var template = Array("\(parent)/zonai-server-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw ServerFailure("cannot make a folder in \(parent)") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try await start()
  }

  deinit {
    _ = try? PrivateServer.script(["kill", folder], log: "/dev/null")
    _ = try? PrivateServer.spawn("/bin/rm", ["-rf", folder], log: "/dev/null")
  }

  /// The URL of a user who may do everything. The same after each start.
  public var url: String { address.withLock { $0 } }

  /// Starts it again, with the same port and data.
  public func start() async throws {
    let log = folder + "/start.out"
    try await run(["start", kind.rawValue, folder] + options, log: log)
    let url = try text(of: log).split(separator: "\n").last.map { String($0) }
    address.withLock { $0 = url ?? "" }
  }

  /// Stops it in order: open connections are ended.
  public func stop() async throws { try await run(["stop", folder], log: folder + "/stop.out") }

  /// Ends it as a power cut would.
  public func kill() async throws { try await run(["kill", folder], log: folder + "/kill.out") }

  private func run(_ words: [String], log: String) async throws {
    let result = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int32, any Error>) in
      do {
        _ = try NamedThread(name: "servers") {
          done.resume(with: Result { try PrivateServer.script(words, log: log) })
        }
      } catch { done.resume(throwing: error) }
    }
    guard result == 0 else { throw ServerFailure("Scripts/servers \(words[0]): \((try? text(of: log)) ?? "")") }
  }

  // MARK: Processes

  private static func script(_ words: [String], log: String) throws -> Int32 {
    // Tests/ZonaiTestServers/PrivateServer.swift is three steps below the package's top.
    let top = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return try spawn("/\(top)/Scripts/servers", words, log: log)
  }

  private static func spawn(_ program: String, _ words: [String], log: String) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    #if canImport(Glibc)
      for end in 3..<Int32(min(4096, sysconf(Int32(_SC_OPEN_MAX)))) {
        posix_spawn_file_actions_addclose(&actions, end)
      }
    #endif
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments: [UnsafeMutablePointer<CChar>?] = ([program] + words).map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var pid: pid_t = 0
    let started = posix_spawn(&pid, program, &actions, &attributes, &arguments, environ)
    guard started == 0 else { throw ServerFailure("cannot start \(program): \(String(cString: strerror(started)))") }
    var code: Int32 = 0
    while waitpid(pid, &code, 0) < 0, errno == EINTR {}
    return code & 0x7f == 0 ? code >> 8 & 0xff : 128 + (code & 0x7f)
  }

  private func text(of path: String) throws -> String {
    guard let file = fopen(path, "r") else { throw ServerFailure("cannot read \(path)") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    return String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
  }
}

public struct ServerFailure: Error, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
