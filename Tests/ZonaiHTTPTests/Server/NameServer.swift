import Glibc
import Testing
import ZonaiThreads

/// A name server on loopback that says 127.0.0.1 to its first questions and nothing to all others.
///
/// Only threads that `run` begins ask it: they have a mount namespace of their own, with another
/// /etc/resolv.conf. That takes root on Linux.
final class NameServer: Sendable {
  private struct Seen {
    var answersLeft: Int
    /// Questions for an IPv4 address that were left unanswered.
    var unanswered = 0
  }

  private let socket: Int32
  private let file: String
  private let seen: Monitor<Seen>
  private let thread: NamedThread

  /// Why there can be none here; nil when there can.
  static let obstacle: String? = {
    guard geteuid() == 0 else { return "needs root, for a mount namespace and port 53" }
    let outcome = Monitor<Bool?>(nil)
    _ = try? NamedThread(name: "test-namespace") { outcome.change { $0 = enterNamespace() } }
    return outcome.wait { $0 } == true ? nil : "this system gives root no mount namespace"
  }()

  /// The last byte of its address, 127.0.0.x, must be its own among all tests.
  init(_ number: UInt8, answers: Int = 0) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(53).bigEndian
    address.sin_addr.s_addr = (0x7f00_0000 | UInt32(number)).bigEndian
    let socket = socket
    let isBound = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    try #require(isBound)
    file = "/tmp/zonai-resolv-\(getpid())-\(number).conf"
    let output = try #require(fopen(file, "w"))
    fputs("nameserver 127.0.0.\(number)\noptions timeout:30 attempts:5\n", output)
    fclose(output)
    let seen = Monitor(Seen(answersLeft: answers))
    self.seen = seen
    thread = try NamedThread(name: "test-names") { NameServer.serve(socket, seen) }
  }

  /// Runs the body on a thread that asks this server, and so do the threads that it starts.
  func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let executor = try ThreadExecutor(name: "test-namespace")
    defer { executor.close() }
    let file = file
    return try await Task(executorPreference: executor) {
      try #require(enterNamespace() && bindMount(file, "/etc/resolv.conf"))
      return try await body()
    }.value
  }

  /// Waits until so many look-ups hang, a minute at most.
  func untilHanging(_ count: Int = 1) async {
    let seen = seen
    await withCheckedContinuation { continuation in
      do {
        _ = try NamedThread(name: "test-wait") {
          _ = seen.wait(until: MonotonicClock.milliseconds() + 60_000) { $0.unanswered >= count ? true : nil }
          continuation.resume()
        }
      } catch {
        continuation.resume()
      }
    }
  }

  var hanging: Int { seen.withLock { $0.unanswered } }

  func close() {
    shutdown(socket, Int32(SHUT_RDWR))
    thread.join()
    Glibc.close(socket)
    unlink(file)
  }

  private static func serve(_ socket: Int32, _ seen: Monitor<Seen>) {
    var packet = [UInt8](repeating: 0, count: 512)
    while true {
      var peer = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let count = withUnsafeMutablePointer(to: &peer) { peer in
        peer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(socket, &packet, packet.count, 0, $0, &length)
        }
      }
      guard count > 12 else { return }
      guard let answer = answer(to: packet[0..<count], seen) else { continue }
      _ = withUnsafePointer(to: &peer) { peer in
        peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { sendto(socket, answer, answer.count, 0, $0, length) }
      }
    }
  }

  /// RFC 1035: a header of twelve bytes, then the question: a name, its type and its class.
  private static func answer(to packet: ArraySlice<UInt8>, _ seen: Monitor<Seen>) -> [UInt8]? {
    var end = 12
    while end < packet.count, packet[end] != 0 { end += Int(packet[end]) + 1 }
    guard end + 5 <= packet.count else { return nil }
    let isAddress = packet[end + 2] == 1
    let isAnswered = seen.change { seen in
      if isAddress {
        if seen.answersLeft > 0 { seen.answersLeft -= 1 } else { seen.unanswered += 1 }
      }
      return isAddress ? seen.unanswered == 0 : true
    }
    guard isAnswered else { return nil }
    var answer = Array(packet[0..<2]) + [0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0] + packet[12..<end + 5]
    // The name of the question again, type and class of an address, a life of no second, 127.0.0.1.
    if isAddress { answer += [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1] }
    return answer
  }
}

/// Gives the calling thread a mount namespace of its own.
private func enterNamespace() -> Bool {
  // Functions and constants that Swift's module of the C library does not have.
  typealias Unshare = @convention(c) (Int32) -> Int32
  let newNamespace: Int32 = 0x20000
  let (recursive, asPrivate) = (UInt(16384), UInt(1 << 18))
  guard let found = dlsym(nil, "unshare"), unsafeBitCast(found, to: Unshare.self)(newNamespace) == 0 else {
    return false
  }
  return mount("none", "/", recursive | asPrivate)
}

private func bindMount(_ source: String, _ target: String) -> Bool { mount(source, target, 4096) }

private func mount(_ source: String, _ target: String, _ flags: UInt) -> Bool {
  typealias Mount =
    @convention(c) (UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UInt, UnsafeRawPointer?) ->
    Int32
  guard let found = dlsym(nil, "mount") else { return false }
  return unsafeBitCast(found, to: Mount.self)(source, target, nil, flags, nil) == 0
}
