import ZonaiThreads

/// The event loop of a pool: takes batches in, opens streams, writes, sleeps in poll(2), reads, and hands results over.
///
/// Touched only by the pool's thread.
final class PoolLoop {
  let origin: HTTPOrigin
  let options: HTTP2Options
  let turn: PoolTurn
  /// Batches with requests to open, in the order in which they came.
  var queue: [BatchRun] = []
  /// The same for batches that may not use just any connection.
  var routed: [BatchRun] = []
  var connections: [HTTP2Connection] = []
  /// Connections in the making.
  var connecting: [TLSConnection] = []
  var pace: ConnectPace
  /// Since when requests wait for which the connections have no room.
  var fullSince: Int64?

  private let inbox: PoolInbox
  /// Batches that are not delivered yet, or of which a connection still holds memory.
  private var runs: [BatchRun] = []
  private var poller = Poller()

  init(origin: HTTPOrigin, options: HTTP2Options, inbox: PoolInbox) {
    self.origin = origin
    self.options = options
    self.inbox = inbox
    pace = ConnectPace(delay: options.reconnectDelay, maxDelay: options.maxReconnectDelay)
    turn = PoolTurn(options: options, now: MonotonicClock.milliseconds())
  }

  func run() {
    while true {
      turn.now = MonotonicClock.milliseconds()
      let contents = inbox.take()
      for run in contents.overtakenRuns + contents.runs {
        run.answersBefore = turn.answers
        runs.append(run)
      }
      line(up: contents.overtakenRuns)
      if contents.wantsReconnect { reconnect() }
      line(up: contents.runs)
      if contents.isClosing { break }
      for run in queue { run.checkPermit(now: turn.now) }
      for run in routed { run.checkPermit(now: turn.now) }
      advanceConnecting()
      for connection in connections { connection.checkTime(hasWaiting: hasWaiting(for: connection)) }
      pumpRouted()
      pump()
      for connection in connections { connection.flush() }
      sweep()
      connectIfNeeded()
      deliver()
      poller.wait(
        for: connections, connecting: connecting, wakePipe: inbox.wakePipe, timeout: timeout())
      turn.now = MonotonicClock.milliseconds()
      for connection in poller.readable { connection.read() }
    }
    close()
  }

  /// Opens streams, batch after batch, for as long as there is room.
  private func pump() {
    for connection in connections {
      while let run = queue.first, connection.hasRoom {
        connection.fill(with: run)
        if !run.hasMore { queue.removeFirst() }
      }
    }
    queue.removeAll { !$0.hasMore }
    probeIdle()
    for connection in connections where connection.owner == nil {
      connection.isPressed = !queue.isEmpty && connection.openStreams >= connection.limit
    }
    fullSince = missingConnections > 0 ? fullSince ?? turn.now : nil
  }

  /// Hands over what was settled in this turn.
  private func deliver() {
    for run in runs { run.deliver(answers: turn.answers) }
    runs.removeAll { $0.isSettled && $0.streams == 0 }
  }

  private func timeout() -> Int32 {
    // Writing a reset makes room.
    if !queue.isEmpty && connections.contains(where: \.hasRoom) { return 0 }
    var next = Int64.max
    for connection in connections { next = min(next, connection.nextDeadline) }
    for attempt in connecting { next = min(next, attempt.deadline ?? .max) }
    for run in queue { next = min(next, run.permitEnd) }
    if !routed.isEmpty { next = min(next, nextRoutedMoment) }
    if let moment = momentToConnect { next = min(next, moment) }
    if next == .max { return -1 }
    // A revoked permit ended at the beginning of time: no difference can be taken.
    return next <= turn.now ? 0 : Int32(min(next - turn.now, 60_000))
  }

  private func close() {
    for run in runs { run.finishRest(.poolClosed) }
    connecting = []
    for connection in connections {
      connection.close()
      connection.release()
    }
    connections = []
    deliver()
    inbox.end()
  }
}
