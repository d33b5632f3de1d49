import CZonaiOpenSSL
import Glibc
import Synchronization
import Testing
import ZonaiHTTP
import ZonaiThreads

/// An HTTP/2 server on loopback that does what a script says, the wrong things included.
final class TestServer: Sendable {
  struct Seen: Sendable {
    var connections = 0
    var requests: [ServedRequest] = []
    var held = 0
    var pings = 0
    var goAways = 0
    var wakePipes: [WakePipe] = []
    var threads: [NamedThread] = []
    var releases: [Int: Int] = [:]
    var politeEnds: [Int: Int] = [:]
    var isClosing = false
  }

  let port: UInt16
  let files: TLSFiles
  private let script: ServerScript
  private let listener: Int32
  private let context: OpaqueBox
  private let seen = Monitor(Seen())
  private let acceptor = Mutex<NamedThread?>(nil)

  /// SSL_CTX is safe to share between threads once it is set up.
  private struct OpaqueBox: @unchecked Sendable { let pointer: OpaquePointer }

  init(_ script: ServerScript = ServerScript()) throws {
    self.script = script
    files = try TLSFiles(name: script.name)
    (listener, port) = try listenOnLoopback()
    let context = try #require(SSL_CTX_new(TLS_server_method()))
    try #require(SSL_CTX_use_certificate_chain_file(context, files.certificate) == 1)
    try #require(SSL_CTX_use_PrivateKey_file(context, files.key, SSL_FILETYPE_PEM) == 1)
    switch script.welcome {
    case .noALPN: break
    case .http1Only: SSL_CTX_set_alpn_select_cb(context, { _, _, _, _, _, _ in SSL_TLSEXT_ERR_ALERT_FATAL }, nil)
    default:
      SSL_CTX_set_alpn_select_cb(
        context,
        { _, chosen, length, offered, offeredLength, _ in
          guard let offered, offeredLength >= 3, offered[0] == 2, offered[1] == 0x68, offered[2] == 0x32 else {
            return SSL_TLSEXT_ERR_ALERT_FATAL
          }
          chosen?.pointee = offered + 1
          length?.pointee = 2
          return SSL_TLSEXT_ERR_OK
        }, nil)
    }
    self.context = OpaqueBox(pointer: context)
    let thread = try NamedThread(name: "test-accept") { [self] in accept() }
    acceptor.withLock { $0 = thread }
  }

  var origin: HTTPOrigin { HTTPOrigin(host: "localhost", port: port) }

  var isClosing: Bool { seen.withLock { $0.isClosing } }
  var connections: Int { seen.withLock { $0.connections } }
  var requests: [ServedRequest] { seen.withLock { $0.requests } }
  var pings: Int { seen.withLock { $0.pings } }

  /// A wait that has no end would hide the failure that it waits beside: after a minute the test goes on and fails.
  private static var patience: Int64 { MonotonicClock.milliseconds() + 60_000 }

  /// Blocks until so many requests are held at once.
  func waitUntilHeld(_ count: Int) { _ = seen.wait(until: Self.patience) { $0.held >= count ? true : nil } }

  func waitUntilConnected(_ count: Int) { _ = seen.wait(until: Self.patience) { $0.connections >= count ? true : nil } }

  func waitUntilPinged() { _ = seen.wait(until: Self.patience) { $0.pings > 0 ? true : nil } }

  /// Blocks until a client has said farewell.
  func waitUntilFarewell() { _ = seen.wait(until: Self.patience) { $0.goAways > 0 ? true : nil } }

  /// Answers everything that is held.
  func release() { tell { $0.releases[$1, default: 0] += 1 } }

  /// Announces the end of every connection without naming a stream.
  func endPolitely() { tell { $0.politeEnds[$1, default: 0] += 1 } }

  private func tell(_ change: (inout Seen, Int) -> Void) {
    let pipes = seen.withLock { seen in
      for connection in 0..<seen.connections { change(&seen, connection) }
      return seen.wakePipes
    }
    for pipe in pipes { pipe.wake() }
  }

  func close() {
    let (pipes, threads) = seen.change { seen in
      seen.isClosing = true
      return (seen.wakePipes, seen.threads)
    }
    shutdown(listener, Int32(SHUT_RDWR))
    acceptor.withLock { $0 }?.join()
    for pipe in pipes { pipe.wake() }
    for thread in threads { thread.join() }
    SSL_CTX_free(context.pointer)
    files.remove()
  }

  private func accept() {
    while true {
      let socket = Glibc.accept(listener, nil, nil)
      guard socket >= 0 else { break }
      var on: Int32 = 1
      setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, 4)
      guard fcntl(socket, F_SETFL, O_NONBLOCK) == 0, let ssl = SSL_new(context.pointer), let pipe = try? WakePipe()
      else {
        break
      }
      SSL_set_fd(ssl, socket)
      let box = OpaqueBox(pointer: ssl)
      let isOpen = seen.change { seen in
        let number = seen.connections
        guard !seen.isClosing,
          let thread = try? NamedThread(
            name: "test-serve",
            body: { [self] in
              ServerConnection(number: number, socket: socket, ssl: box.pointer, script: script, server: self)
                .run(wakePipe: pipe)
            })
        else { return false }
        seen.connections += 1
        seen.wakePipes.append(pipe)
        seen.threads.append(thread)
        return true
      }
      if !isOpen {
        SSL_free(ssl)
        Glibc.close(socket)
      }
    }
    Glibc.close(listener)
  }

  // What the connections tell.

  func record(_ request: ServedRequest) { seen.change { $0.requests.append(request) } }
  func sawHeld() { seen.change { $0.held += 1 } }
  func sawPing() { seen.change { $0.pings += 1 } }
  func sawGoAway() { seen.change { $0.goAways += 1 } }
  func takeReleases(of connection: Int) -> Int { seen.withLock { $0.releases.removeValue(forKey: connection) ?? 0 } }
  func takePoliteEnds(of connection: Int) -> Int {
    seen.withLock { $0.politeEnds.removeValue(forKey: connection) ?? 0 }
  }
}
