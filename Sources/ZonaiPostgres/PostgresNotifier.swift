import CZonaiPostgres
import Synchronization
import ZonaiCore
import ZonaiSQL
import ZonaiThreads

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Listens for the work that other processes make, on a connection and a thread of its own, from the first wait on.
///
/// It only wakes who waits: whoever waits has a deadline too, so that a connection that is away costs time and no work.
/// Behind a pooler that changes server connections, and on a standby, there is nothing to hear, and it gives up.
final class PostgresNotifier: Sendable {
  static let channel = "zonai_work"

  private let state: ListenerState
  private let connector: PostgresConnector
  private let thread = Mutex<NamedThread?>(nil)

  init(_ connector: PostgresConnector, bell: ChangeBell, own: OwnProcesses, isOn: Bool) {
    self.connector = connector
    state = ListenerState(bell: bell, own: own, isOver: !isOn)
  }

  func start() {
    guard !state.isOver else { return }
    thread.withLock { thread in
      guard thread == nil else { return }
      // The thread holds the state and never this object, so that the last reference to it ends the thread.
      let (state, connector) = (state, connector)
      // Without a thread there is polling.
      thread = try? NamedThread(name: "zonai-pg-listen") { Listener(state, connector).run() }
    }
  }

  func close() { state.end() }
}

/// The server's processes that work for this pool: what they tell the others, it knows already.
final class OwnProcesses: Sendable {
  private let processes = Mutex<[Int32]>([])

  func note(_ process: Int32) {
    processes.withLock { processes in
      processes.append(process)
      // Those of connections that were lost are old.
      if processes.count > 64 { processes.removeFirst(32) }
    }
  }

  func contains(_ process: Int32) -> Bool { processes.withLock { $0.contains(process) } }
}

private final class ListenerState: Sendable {
  let bell: ChangeBell
  let own: OwnProcesses
  let pipe: WakePipe?
  private let over: Atomic<Bool>

  init(bell: ChangeBell, own: OwnProcesses, isOver: Bool) {
    self.bell = bell
    self.own = own
    // Without a descriptor to spare there is polling.
    pipe = try? WakePipe()
    over = Atomic(isOver || pipe == nil)
  }

  var isOver: Bool { over.load(ordering: .acquiring) }

  func end() {
    over.store(true, ordering: .releasing)
    pipe?.wake()
  }
}

/// What the listening thread does.
private struct Listener {
  private let state: ListenerState
  private let connector: PostgresConnector

  private static let longestPause: Int64 = 10_000

  init(_ state: ListenerState, _ connector: PostgresConnector) {
    self.state = state
    self.connector = connector
  }

  func run() {
    var pause: Int64 = 100
    while !state.isOver {
      do throws(StoreError) {
        let link = try connect()
        pause = 100
        // What was committed before we listened is heard of in this way.
        state.bell.ring()
        try listen(link)
      } catch {
        if error.code == .readOnly || error.code == .failed { return }
        rest(pause / 2 + Int64.random(in: 0...(pause / 2)))
        pause = min(pause * 2, Listener.longestPause)
      }
    }
  }

  private func connect() throws(StoreError) -> PostgresLink {
    let deadline = MonotonicClock.milliseconds() + 30_000
    let link = try connector.connect(until: deadline)
    var process = ""
    try link.run("SELECT pg_backend_pid()", until: deadline) { process = PostgresRow(result: $0, row: 0).text(0) }
    guard process == "\(link.process)" else {
      throw StoreError(.failed, "a pooler stands between Zonai and the server, and passes no notifications on")
    }
    try link.run("LISTEN \(PostgresNotifier.channel)", until: deadline)
    return link
  }

  private func listen(_ link: PostgresLink) throws(StoreError) {
    while !state.isOver {
      // Before the sleep: a notification may have come with the answer to LISTEN.
      let senders = try link.notifications()
      if senders.contains(where: { !state.own.contains($0) }) { state.bell.ring() }
      sleep(for: nil, on: PQsocket(link.handle))
    }
  }

  private func rest(_ milliseconds: Int64) { sleep(for: milliseconds, on: -1) }

  /// Until something comes, the time is over, or `close` was called. poll(2) passes a negative descriptor over.
  private func sleep(for milliseconds: Int64?, on socket: Int32) {
    guard let pipe = state.pipe else { return }
    var pollers = [
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
      pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    _ = poll(&pollers, nfds_t(pollers.count), milliseconds.map { Int32(clamping: $0) } ?? -1)
    pipe.drain()
  }
}
