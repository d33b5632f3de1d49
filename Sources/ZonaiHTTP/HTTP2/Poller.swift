import CZonaiCurl
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// poll(2) over a pool's connections, its wake pipe, and whatever libcurl waits for while it connects.
struct Poller {
  /// The connections that have something to read, or news of their end.
  private(set) var readable: [HTTP2Connection] = []
  private var entries: [pollfd] = []
  private var curlEntries: [curl_waitfd] = []

  /// Sleeps until there is something to do; a negative time-out sleeps for good.
  mutating func wait(
    for connections: [HTTP2Connection], connecting: TLSConnection?, wakePipe: WakePipe, timeout: Int32
  ) {
    readable.removeAll(keepingCapacity: true)
    if let connecting {
      waitWithCurl(connections, connecting, wakePipe, timeout)
    } else {
      waitAlone(connections, wakePipe, timeout)
    }
    wakePipe.drain()
  }

  private mutating func waitAlone(_ connections: [HTTP2Connection], _ wakePipe: WakePipe, _ timeout: Int32) {
    entries.removeAll(keepingCapacity: true)
    entries.append(pollfd(fd: wakePipe.descriptor, events: Int16(POLLIN), revents: 0))
    for connection in connections {
      let events = POLLIN | (connection.wantsWrite ? POLLOUT : 0)
      entries.append(pollfd(fd: connection.socket, events: Int16(events), revents: 0))
    }
    // An error (EINTR) leaves revents as they were: nothing is ready then.
    poll(&entries, nfds_t(entries.count), timeout)
    for (index, connection) in connections.enumerated() where entries[index + 1].revents & ~Int16(POLLOUT) != 0 {
      readable.append(connection)
    }
  }

  private mutating func waitWithCurl(
    _ connections: [HTTP2Connection], _ connecting: TLSConnection, _ wakePipe: WakePipe, _ timeout: Int32
  ) {
    curlEntries.removeAll(keepingCapacity: true)
    curlEntries.append(curl_waitfd(fd: wakePipe.descriptor, events: Int16(CURL_WAIT_POLLIN), revents: 0))
    for connection in connections {
      let events = CURL_WAIT_POLLIN | (connection.wantsWrite ? CURL_WAIT_POLLOUT : 0)
      curlEntries.append(curl_waitfd(fd: connection.socket, events: Int16(events), revents: 0))
    }
    // libcurl has time-outs of its own, and cuts this one to them; a minute is only the most it is told.
    curlEntries.withUnsafeMutableBufferPointer { connecting.poll($0, timeout: timeout < 0 ? 60_000 : timeout) }
    // libcurl reports no errors or hang-ups here: reading finds out, and costs little while a connect is on.
    readable.append(contentsOf: connections)
  }
}
