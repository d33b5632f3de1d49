import CZonaiCurl
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A TLS connection to an HTTP/2 server. libcurl makes it (name look-up, proxy, TCP, TLS, checks)
/// without blocking the loop: names are looked up on a thread of libcurl's own, which is left to
/// itself when it hangs.
///
/// Each has a multi handle of its own. libcurl keeps connections per multi handle, and opening one there looks through the
/// others for dead ones; it would take a connection of ours with an unread answer for one. A look-up is new each time.
///
/// Touched only by the thread of its pool.
final class TLSConnection {
  private let handle: CurlHandle
  private let multi: UnsafeMutableRawPointer
  private let waits = CurlWaits()
  private let handshake: TLSHandshake
  private let origin: HTTPOrigin
  private let options: HTTP2Options

  init(origin: HTTPOrigin, options: HTTP2Options) throws(HTTPFailure) {
    handle = try CurlHandle()
    handshake = TLSHandshake(host: origin.host)
    guard let multi = curl_multi_init() else { throw HTTPFailure(.other, "libcurl has no memory for a connection") }
    self.multi = multi
    self.origin = origin
    self.options = options
    try handle.prepare(
      connectTimeout: options.connectTimeout, caFile: options.caFile, usesProxy: !origin.isLoopback)
    try handle.set(CURLOPT_URL, "https://\(origin)/")
    try handle.set(CURLOPT_CONNECT_ONLY, 1)
    try handle.set(CURLOPT_TCP_KEEPALIVE, 1)
    try handshake.attach(to: handle)
    let owner = Unmanaged.passUnretained(waits).toOpaque()
    guard zonai_curl_multi_set_callbacks(multi, noteSocket, noteTimer, owner) == CURLM_OK else {
      throw HTTPFailure(.other, "libcurl does not tell what it waits for")
    }
    guard curl_multi_add_handle(multi, handle.easy) == CURLM_OK else {
      throw HTTPFailure(.other, "libcurl does not take a connection")
    }
  }

  deinit {
    // Closes the connection, with TLS' farewell.
    curl_multi_remove_handle(multi, handle.easy)
    curl_multi_cleanup(multi)
  }

  /// Goes as far as it can without waiting; true once there is a connection that speaks HTTP/2.
  func advance() throws(HTTPFailure) -> Bool {
    for (socket, events) in waits.takeReady() { try act(on: socket, events) }
    if waits.isDue(MonotonicClock.milliseconds()) { try act(on: curl_socket_t(CURL_SOCKET_BAD), 0) }
    var code = CURLE_OK
    guard zonai_curl_multi_finished(multi, &code) == 1 else { return false }
    switch (code, handshake.agreement) {
    case (CURLE_OK, .http2): return true
    case (_, .somethingElse):
      throw HTTPFailure(.http11Only, "\(origin) does not speak HTTP/2; check host and port, and what stands between")
    default:
      throw handle.failure(
        code, host: origin.description, timeout: options.connectTimeout, caFile: options.caFile)
    }
  }

  /// Without a socket, libcurl looks at its time-outs.
  private func act(on socket: curl_socket_t, _ events: Int32) throws(HTTPFailure) {
    var running: Int32 = 0
    guard curl_multi_socket_action(multi, socket, events, &running) == CURLM_OK else {
      throw HTTPFailure(.other, "libcurl cannot go on with the connection to \(origin)")
    }
  }

  /// What libcurl waits for until the connection is there.
  var awaited: [pollfd] { waits.sockets }

  /// When libcurl wants to go on even if none of that happens, on `MonotonicClock`.
  var deadline: Int64? { waits.deadline }

  /// What poll(2) said of `awaited`.
  func note(_ polled: some Sequence<pollfd>) { waits.note(polled) }

  /// The socket, once connected.
  var socket: Int32? {
    var socket = curl_socket_t(-1)
    guard zonai_curl_get_socket(handle.easy, &socket) == CURLE_OK, socket >= 0 else { return nil }
    return socket
  }

  enum Transfer {
    case moved(Int)
    /// Nothing can be moved now.
    case wait
    /// The other side closed, or the connection broke.
    case ended
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
    var count = 0
    switch curl_easy_recv(handle.easy, buffer.baseAddress, buffer.count, &count) {
    case CURLE_OK: return count == 0 ? .ended : .moved(count)
    case CURLE_AGAIN: return .wait
    default: return .ended
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
    var count = 0
    switch curl_easy_send(handle.easy, bytes.baseAddress, bytes.count, &count) {
    case CURLE_OK: return .moved(count)
    case CURLE_AGAIN: return .wait
    default: return .ended
    }
  }
}
