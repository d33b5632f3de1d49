import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The event loop: waits for sockets, timers and its owner, and lets each connection do what it can do at once.
final class ServerLoop {
  /// A service with its listening socket.
  struct Listener: Sendable {
    var service: ServerService
    var tls: ServerTLS?
    var descriptor: Int32
    var port: UInt16
  }

  /// More connections than this wait in the system's queue.
  static let connectionLimit = 1024
  /// How long a TLS handshake may take.
  static let handshakeMilliseconds = 30_000

  private let listeners: [Listener]
  private let mailbox: ServerMailbox
  private var connections: [Int32: ServerConnection] = [:]
  private var toFlush: [ServerConnection] = []
  private var timers = TimerHeap()
  private var lastID: UInt64 = 0
  /// Set for a moment when the system has no descriptors left: a connection that waits would wake the loop for ever.
  private var isPaused = false

  init(listeners: [Listener], mailbox: ServerMailbox) {
    self.listeners = listeners
    self.mailbox = mailbox
  }

  /// Serves until the mailbox says stop.
  func run() {
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    let clear = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 10, alignment: 16)
    defer {
      space.deallocate()
      clear.deallocate()
      end()
    }
    var polled: [pollfd] = []
    while true {
      fill(&polled)
      let ready = poll(&polled, nfds_t(polled.count), timers.pollTimeout(now: MonotonicClock.milliseconds()))
      guard ready >= 0 || errno == EINTR else { return }
      mailbox.pipe.drain()
      let letters = mailbox.take()
      for work in letters.work { work() }
      if letters.stops { return }
      if ready > 0 { serve(polled[1...], space, clear) }
      while let action = timers.popDue(now: MonotonicClock.milliseconds()) { action() }
      flush()
    }
  }

  private func fill(_ polled: inout [pollfd]) {
    polled.removeAll(keepingCapacity: true)
    polled.append(pollfd(fd: mailbox.pipe.descriptor, events: Int16(POLLIN), revents: 0))
    if connections.count < Self.connectionLimit, !isPaused {
      for listener in listeners { polled.append(pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)) }
    }
    for connection in connections.values {
      let events = (connection.wantsRead ? POLLIN : 0) | (connection.wantsWrite ? POLLOUT : 0)
      polled.append(pollfd(fd: connection.descriptor, events: Int16(events), revents: 0))
    }
  }

  private func serve(
    _ polled: ArraySlice<pollfd>, _ space: UnsafeMutableRawBufferPointer, _ clear: UnsafeMutableRawBufferPointer
  ) {
    for entry in polled where entry.revents != 0 {
      if let connection = connections[entry.fd] {
        // POLLHUP and POLLERR show themselves in the read.
        if Int32(entry.revents) & Int32(POLLOUT) != 0 { flushLater(connection) }
        if Int32(entry.revents) & ~Int32(POLLOUT) != 0 { connection.readable(space, clear) }
      } else if let listener = listeners.first(where: { $0.descriptor == entry.fd }) {
        accept(listener)
      }
    }
  }

  private func accept(_ listener: Listener) {
    while connections.count < Self.connectionLimit {
      switch ServerSocket.accept(listener.descriptor) {
      case .connection(let descriptor): welcome(descriptor, listener)
      case .nobody: return
      case .exhausted:
        isPaused = true
        return schedule(afterMilliseconds: 100) { [weak self] in self?.isPaused = false }
      }
    }
  }

  private func welcome(_ descriptor: Int32, _ listener: Listener) {
    lastID += 1
    do {
      let connection = try ServerConnection(
        id: lastID, descriptor: descriptor, service: listener.service, tls: listener.tls, loop: self)
      connections[descriptor] = connection
      listener.service.connections(1)
      schedule(afterMilliseconds: Self.handshakeMilliseconds) { [weak connection] in
        if let connection, connection.speaks == nil { connection.finish() }
      }
    } catch {
      ServerSocket.end(descriptor)
    }
  }

  func schedule(afterMilliseconds delay: Int, _ action: @escaping () -> Void) {
    timers.add(at: MonotonicClock.milliseconds() + Int64(delay), action)
  }

  /// Has the connection send at the end of this turn, together with whatever else comes up in it.
  func flushLater(_ connection: ServerConnection) {
    if connection.isInFlushQueue { return }
    connection.isInFlushQueue = true
    toFlush.append(connection)
  }

  private func flush() {
    let queue = toFlush
    toFlush.removeAll(keepingCapacity: true)
    for connection in queue {
      connection.isInFlushQueue = false
      connection.flush()
    }
  }

  func forget(_ connection: ServerConnection) {
    connections[connection.descriptor] = nil
    connection.service.connections(-1)
  }

  private func end() {
    for connection in Array(connections.values) {
      connection.flush()
      connection.finish()
    }
    for listener in listeners { ServerSocket.end(listener.descriptor) }
    timers = TimerHeap()
    toFlush = []
  }
}
