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

  /// Sleeps until there is something to do; a negative time-out sleeps for good.
  mutating func wait(
    for connections: [HTTP2Connection], connecting: [TLSConnection], wakePipe: WakePipe, timeout: Int32
  ) {
    readable.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    entries.append(pollfd(fd: wakePipe.descriptor, events: Int16(POLLIN), revents: 0))
    for connection in connections {
      let events = POLLIN | (connection.wantsWrite ? POLLOUT : 0)
      entries.append(pollfd(fd: connection.socket, events: Int16(events), revents: 0))
    }
    for attempt in connecting { entries += attempt.awaited }
    // An error (EINTR) leaves revents as they were: nothing is ready then.
    poll(&entries, nfds_t(entries.count), timeout)
    for (index, connection) in connections.enumerated() where entries[index + 1].revents & ~Int16(POLLOUT) != 0 {
      readable.append(connection)
    }
    var next = connections.count + 1
    for attempt in connecting {
      let count = attempt.awaited.count
      attempt.note(entries[next..<next + count])
      next += count
    }
    wakePipe.drain()
  }
}
