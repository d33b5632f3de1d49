extension PoolLoop {
  /// Connections on which further requests of any batch may be opened, now or when others have been
  /// answered.
  var usable: [HTTP2Connection] { connections.filter { !$0.isDraining && !$0.isLost && $0.owner == nil } }

  /// Goes on with the connections in the making.
  func advanceConnecting() {
    let attempts = connecting
    connecting = []
    var failures: [HTTPFailure] = []
    for attempt in attempts {
      do throws(HTTPFailure) {
        guard try attempt.advance() else {
          connecting.append(attempt)
          continue
        }
        guard let socket = attempt.socket else { throw HTTPFailure(.other, "libcurl gives no socket for \(origin)") }
        let connection = try HTTP2Connection(attempt, socket: socket, origin: origin, turn: turn)
        connections.append(connection)
        pace.connected()
        // The server's SETTINGS may have come with the end of the handshake: OpenSSL has them then,
        // and poll does not know.
        connection.read()
      } catch {
        failures.append(error)
      }
    }
    for failure in failures { countFailure(failure) }
  }

  /// Begins as many connects as are wanted and whose time has come.
  func connectIfNeeded() {
    while let moment = momentToConnect, moment <= turn.now {
      do throws(HTTPFailure) {
        connecting.append(try TLSConnection(origin: origin, options: options))
      } catch {
        countFailure(error)
      }
    }
    advanceConnecting()
  }

  /// When the next connect begins; nil when none is wanted.
  var momentToConnect: Int64? {
    guard let routed = routedMomentToConnect else { return sharedMomentToConnect }
    return min(routed, sharedMomentToConnect ?? .max)
  }

  private var sharedMomentToConnect: Int64? {
    // Those that are draining count a little: a server that ends every connection must not make us collect them.
    guard !queue.isEmpty, connections.count + connecting.count < 2 * options.maxConnections else { return nil }
    let usable = usable
    if usable.isEmpty && connecting.isEmpty { return pace.next }
    guard usable.count + connecting.count < options.maxConnections, connecting.count < pace.width,
      missingConnections > 0, let fullSince
    else { return nil }
    return usable.isEmpty ? pace.next : max(pace.next, fullSince + options.patienceBeforeAnotherConnection)
  }

  /// How many further connections the requests that wait would fill, beside those that are there or
  /// in the making.
  var missingConnections: Int {
    guard !queue.isEmpty else { return 0 }
    let usable = usable
    // None beside one that never answered: if the first does not work, others would not either.
    if pace.width == 1, !connecting.isEmpty || !usable.contains(where: \.hasAnswered) { return 0 }
    let waiting = queue.reduce(0) { $0 + $1.remaining }
    let room = usable.reduce(connecting.count * turn.usualStreams) { $0 + $1.expectedRoom }
    return max(0, waiting - room + turn.usualStreams - 1) / turn.usualStreams
  }

  /// Asks as many idle connections whether they are there as the requests that wait would fill.
  func probeIdle() {
    guard !queue.isEmpty || !routed.isEmpty else { return }
    let asked = usable.filter { $0.idleProbe.sentAt != nil }
    let shared = queue + routed.filter { $0.route != .own }
    var waiting = shared.reduce(0) { $0 + $1.remaining } - asked.reduce(0) { $0 + $1.expectedRoom }
    for connection in usable where connection.isDoubtful && connection.idleProbe.sentAt == nil {
      guard waiting > 0 else { return }
      waiting -= connection.expectedRoom
      connection.probe()
    }
  }

  /// Lets go of connections that have ended or have nothing more to do.
  func sweep() {
    var isAnythingGone = false
    for connection in connections {
      if !connection.isCounted { count(connection) }
      if connection.endedEarly, !connection.isEndCounted {
        pace.endedEarly(now: turn.now)
        connection.isEndCounted = true
      }
      if connection.isDraining && connection.openStreams == 0 { connection.close() }
      if connection.isLost {
        connection.release()
        isAnythingGone = true
      }
    }
    if isAnythingGone { connections.removeAll { $0.isLost } }
  }

  /// Judges a connect by what came of it, once: its first answer, or its end without one.
  private func count(_ connection: HTTP2Connection) {
    if connection.hasAnswered {
      pace.answered()
    } else if let failure = connection.failure {
      // A server that shuts down may still answer what it has.
      if connection.wasEndedInOrder, !connection.isLost, connection.openStreams > 0 { return }
      let isFailedConnect = !connection.wasEndedInOrder || pace.endedUnanswered(now: turn.now)
      if isFailedConnect { countFailure(failure) }
    } else {
      return
    }
    connection.isCounted = true
  }

  /// Waits longer before the next connect; without any connection, what waits is told why.
  private func countFailure(_ failure: HTTPFailure) {
    pace.failed(now: turn.now)
    if connecting.isEmpty { giveUpWaiting(failure) }
  }

  /// Has further requests opened on connections made from now on. What waits was meant for the old ones.
  func reconnect() {
    for run in queue + routed { run.finishRest(.stopped) }
    queue = []
    routed = []
    connecting = []
    for connection in connections { connection.drain() }
  }
}
