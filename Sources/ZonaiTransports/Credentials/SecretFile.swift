import ZonaiCore
import ZonaiJSON
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file in which the processes of one machine share secrets, for those who have no store to share.
///
/// The file is made when it is missing, with leave for its owner only; one that others may read or write is refused. Two
/// processes take turns by a lock on it.
public final class SecretFile: SecretStore {
  private let path: String
  private let patience: Int64
  private let thread: FileThread

  /// Starts the thread that reads and writes the file. `patience` is how many milliseconds are waited for another process that
  /// has the file locked; the default, 5 s, is far beyond what an exchange takes.
  public convenience init(path: String, patience: Int64 = 5_000) throws(SetupError) {
    try self.init(path: path, patience: patience, clock: { WallClock.milliseconds() })
  }

  /// `clock` takes the place of the machine's, in milliseconds since 1970: for tests, whose clock is one to turn.
  init(path: String, patience: Int64, clock: @escaping @Sendable () -> Int64) throws(SetupError) {
    self.path = path
    self.patience = patience
    do throws(ThreadStartError) {
      thread = FileThread(executor: try ThreadExecutor(name: "zonai-secrets"), clock: clock)
    } catch {
      throw SetupError(.outOfResources, setting: "secrets", error.description)
    }
  }

  deinit { thread.executor.close() }

  public func exchange(_ offer: SecretOffer) async throws(StoreError) -> SecretAnswer {
    try await thread.exchange(offer, path, patience)
  }

  /// File work blocks, so it has a thread.
  private actor FileThread {
    nonisolated let executor: ThreadExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let clock: @Sendable () -> Int64

    init(executor: ThreadExecutor, clock: @escaping @Sendable () -> Int64) {
      self.executor = executor
      self.clock = clock
    }

    func exchange(_ offer: SecretOffer, _ path: String, _ patience: Int64) throws(StoreError) -> SecretAnswer {
      let file = try LockedFile(path: path, patience: patience)
      var secrets = try file.read()
      let now = clock()
      if let stored = secrets[offer.name], stored.madeAt >= offer.notMadeBefore, stored.endsAt > now {
        return SecretAnswer(secret: stored, now: now)
      }
      guard let secret = offer.secret else { return SecretAnswer(secret: nil, now: now) }
      secrets[offer.name] = secret
      try file.write(secrets.filter { $0.value.endsAt > now })
      return SecretAnswer(secret: secret, now: now)
    }
  }
}

/// The file of secrets, locked as long as this value lives.
private struct LockedFile: ~Copyable {
  private let descriptor: Int32
  private let path: String

  init(path: String, patience: Int64) throws(StoreError) {
    let opened = try LockedFile.open(path)
    do throws(StoreError) {
      try LockedFile.lock(opened, path, patience)
    } catch {
      close(opened)
      throw error
    }
    descriptor = opened
    self.path = path
  }

  private static func open(_ path: String) throws(StoreError) -> Int32 {
    #if canImport(Glibc)
      let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    #elseif canImport(Musl)
      let descriptor = Musl.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    #else
      let descriptor = Darwin.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    #endif
    guard descriptor >= 0 else { throw failed("open", path, errno) }
    var status = stat()
    let isKnown = fstat(descriptor, &status) == 0
    let isOurs = status.st_uid == geteuid() && status.st_mode & 0o077 == 0 && status.st_mode & S_IFMT == S_IFREG
    if isKnown, isOurs { return descriptor }
    close(descriptor)
    throw StoreError(.denied, "\(path) holds secrets and others may read or write it; run: chmod 600 \(path)")
  }

  /// flock(2) has no time-out and tells nobody when a lock is given back: it is asked for again and again.
  private static func lock(_ descriptor: Int32, _ path: String, _ patience: Int64) throws(StoreError) {
    let deadline = MonotonicClock.milliseconds() + patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let number = errno
      guard number == EWOULDBLOCK || number == EINTR else { throw failed("lock", path, number) }
      guard MonotonicClock.milliseconds() < deadline else {
        throw StoreError(
          .busy, "another process has kept \(path) locked for \(patience) ms; look for one that hangs (fuser \(path))")
      }
      poll(nil, 0, 10)
    }
  }

  deinit {
    // A child process that is being started may hold a copy until its program begins.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  func read() throws(StoreError) -> [String: Secret] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var offset: off_t = 0
    while true {
      let count = pread(descriptor, &buffer, buffer.count, offset)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw LockedFile.failed("read", path, errno) }
      if count == 0 { break }
      bytes.append(contentsOf: buffer.prefix(count))
      offset += off_t(count)
    }
    // A file that a crash cut short holds nothing: what is in it can be made again.
    guard let members = (try? JSON(parsing: bytes))?.object else { return [:] }
    return members.compactMapValues { member in
      guard let value = member["value"]?.string, let madeAt = member["madeAt"]?.integer,
        let endsAt = member["endsAt"]?.integer
      else { return nil }
      return Secret(value: value, madeAt: madeAt, endsAt: endsAt)
    }
  }

  func write(_ secrets: [String: Secret]) throws(StoreError) {
    let members = secrets.mapValues {
      JSON.object(["value": .string($0.value), "madeAt": .integer($0.madeAt), "endsAt": .integer($0.endsAt)])
    }
    let bytes = JSON.object(members).bytes
    var offset = 0
    while offset < bytes.count {
      let count = bytes[offset...].withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw LockedFile.failed("write", path, errno) }
      offset += count
    }
    // Last, so that a crash before it leaves no empty file.
    guard ftruncate(descriptor, off_t(bytes.count)) == 0 else { throw LockedFile.failed("write", path, errno) }
  }

  private static func failed(_ action: String, _ path: String, _ number: Int32) -> StoreError {
    StoreError(.unavailable, "cannot \(action) \(path): \(String(cString: strerror(number)))")
  }
}
