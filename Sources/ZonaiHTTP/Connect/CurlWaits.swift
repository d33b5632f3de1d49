import CZonaiCurl
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The sockets and the moment that a multi handle of libcurl waits for, as it tells them.
///
/// Touched only by the thread that drives the handle.
final class CurlWaits {
  private(set) var sockets: [pollfd] = []
  private(set) var deadline: Int64?
  private var ready: [(socket: curl_socket_t, events: Int32)] = []

  /// Whether the moment has come; it comes once.
  func isDue(_ now: Int64) -> Bool {
    guard let deadline, deadline <= now else { return false }
    self.deadline = nil
    return true
  }

  /// Takes what poll(2) said of `sockets`.
  func note(_ polled: some Sequence<pollfd>) {
    for entry in polled where entry.revents != 0 {
      let happened = Int32(entry.revents)
      var events: Int32 = 0
      if happened & Int32(POLLIN) != 0 { events |= CURL_CSELECT_IN }
      if happened & Int32(POLLOUT) != 0 { events |= CURL_CSELECT_OUT }
      if happened & Int32(POLLERR | POLLHUP | POLLNVAL) != 0 { events |= CURL_CSELECT_ERR }
      ready.append((entry.fd, events))
    }
  }

  /// What became ready and is still waited for.
  func takeReady() -> [(socket: curl_socket_t, events: Int32)] {
    defer { ready = [] }
    return ready.filter { event in sockets.contains { $0.fd == event.socket } }
  }

  fileprivate func change(_ socket: curl_socket_t, _ what: Int32) {
    sockets.removeAll { $0.fd == socket }
    guard what != CURL_POLL_REMOVE, what != CURL_POLL_NONE else { return }
    var events: Int32 = 0
    if what & CURL_POLL_IN != 0 { events |= Int32(POLLIN) }
    if what & CURL_POLL_OUT != 0 { events |= Int32(POLLOUT) }
    sockets.append(pollfd(fd: socket, events: Int16(events), revents: 0))
  }

  fileprivate func wait(milliseconds: Int) {
    deadline = milliseconds < 0 ? nil : MonotonicClock.milliseconds() + Int64(milliseconds)
  }
}

private func waits(_ owner: UnsafeMutableRawPointer?) -> CurlWaits? {
  owner.map { Unmanaged<CurlWaits>.fromOpaque($0).takeUnretainedValue() }
}

/// For CURLMOPT_SOCKETFUNCTION.
func noteSocket(
  _: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ owner: UnsafeMutableRawPointer?,
  _: UnsafeMutableRawPointer?
) -> Int32 {
  waits(owner)?.change(socket, what)
  return 0
}

/// For CURLMOPT_TIMERFUNCTION.
func noteTimer(_: UnsafeMutableRawPointer?, _ milliseconds: Int, _ owner: UnsafeMutableRawPointer?) -> Int32 {
  waits(owner)?.wait(milliseconds: milliseconds)
  return 0
}
