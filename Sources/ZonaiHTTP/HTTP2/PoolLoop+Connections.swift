extension PoolLoop {
  /// Connections on which further requests of any batch may be opened, now or when others have been
  /// answered.
  var usable: [HTTP2Connection] { connections.filter { !$0.isDraining && !$0.isLost && $0.owner == nil } }

  /// Goes on with the connection in the making.
  func advanceConnecting() {
    guard let attempt = connecting else { return }
    do throws(HTTPFailure) {
      guard try attempt.advance() else { return }
      connecting = nil
      guard let socket = attempt.socket else { throw HTTPFailure(.other, "libcurl gives no socket for \(origin)") }
      let connection = try HTTP2Connection(attempt, socket: socket, origin: origin, turn: turn)
      connections.append(connection)
      // The server's SETTINGS may have come with the end of the handshake: OpenSSL has them then, and poll does not know.
      connection.read()
    } catch {
      connecting = nil
      countFailure(error)
    }
  }

  /// Begins a connect when one is wanted and its time has come.
  func connectIfNeeded() {
    guard let moment = momentToConnect, moment <= turn.now else { return }
    do throws(HTTPFailure) {
      connecting = try TLSConnection(origin: origin, options: options)
    } catch {
      countFailure(error)
    }
    advanceConnecting()
  }

  /// When the next connect begins; nil when none is wanted. One is made at a time: when the first fails, so would others.
  var momentToConnect: Int64? {
    guard connecting == nil else { return nil }
    guard let routed = routedMomentToConnect else { return sharedMomentToConnect }
    return min(routed, sharedMomentToConnect ?? .max)
  }

  private var sharedMomentToConnect: Int64? {
    // Those that are draining count a little: a server that ends every connection must not make us collect them.
    guard !queue.isEmpty, connections.count < 2 * options.maxConnections else { return nil }
    let usable = usable
    if usable.isEmpty { return pace.next }
    guard usable.count < options.maxConnections, let fullSince else { return nil }
    return max(pace.next, fullSince + options.patienceBeforeAnotherConnection)
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
    if connecting == nil { giveUpWaiting(failure) }
  }

  /// Has further requests opened on connections made from now on. What waits was meant for the old ones.
  func reconnect() {
    for run in queue + routed { run.finishRest(.stopped) }
    queue = []
    routed = []
    connecting = nil
    for connection in connections { connection.drain() }
  }
}
