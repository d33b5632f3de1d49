/// Batches that say which connections carry them: see `HTTP2Route`.
extension PoolLoop {
  /// How long such a batch waits for another connection before it uses one that it would avoid.
  private static let detourPatience: Int64 = 2000

  func line(up runs: [BatchRun]) {
    for run in runs {
      if run.route == .any { queue.append(run) } else { routed.append(run) }
    }
  }

  /// Whether requests wait that the connection may carry.
  func hasWaiting(for connection: HTTP2Connection) -> Bool {
    connection.owner?.hasMore ?? (!queue.isEmpty || !routed.isEmpty)
  }

  /// Opens streams, before the batches that may use any connection take the room.
  func pumpRouted() {
    for connection in connections where connection.owner?.isSettled ?? false { connection.drain() }
    for run in routed {
      switch run.route {
      case .any: break
      case .avoiding(let avoided): pump(run, avoiding: avoided)
      case .own: pumpOwn(run)
      }
    }
    routed.removeAll { !$0.hasMore }
    if routed.isEmpty { drainSurplus() }
  }

  private func pump(_ run: BatchRun, avoiding avoided: Set<UInt32>) {
    for connection in connections where connection.hasRoom && !avoided.contains(connection.number) {
      if connection.fill(with: run) { run.blockedSince = nil }
    }
    guard run.hasMore else { return }
    let since = run.blockedSince ?? turn.now
    run.blockedSince = since
    guard turn.now - since >= Self.detourPatience else { return }
    // The one on which the server spoke last is the least bad.
    while run.hasMore, let connection = connections.filter(\.hasRoom).max(by: { $0.lastRead < $1.lastRead }) {
      connection.fill(with: run)
    }
  }

  private func pumpOwn(_ run: BatchRun) {
    if let own = connections.first(where: { $0.owner != nil }) {
      if own.owner === run { fill(own, with: run) }
    } else if let fresh = unused {
      fresh.owner = run
      fill(fresh, with: run)
    }
  }

  private func fill(_ own: HTTP2Connection, with run: BatchRun) {
    own.fill(with: run)
    own.isPressed = run.hasMore && own.openStreams >= own.limit
  }

  /// A connection that has carried nothing, and that can.
  private var unused: HTTP2Connection? { usable.first { !$0.isUsed && $0.hasFreeStream } }

  /// The limit may be exceeded only while a batch must avoid all other connections. One that came
  /// too late to be used goes, else the one that has been silent longest: it is what was to be
  /// avoided.
  private func drainSurplus() {
    guard connections.count > options.maxConnections else { return }
    let usable = usable
    guard usable.count > options.maxConnections else { return }
    (unused ?? usable.min { $0.lastRead < $1.lastRead })?.drain()
  }

  /// When a connection is wanted for such a batch; nil when none is, or one in the making may serve
  /// it.
  var routedMomentToConnect: Int64? {
    guard !routed.isEmpty, connecting.isEmpty, connections.count < 2 * options.maxConnections + 2 else { return nil }
    let hasOwn = connections.contains { $0.owner != nil }
    let usable = usable
    return routed.compactMap { run -> Int64? in
      switch run.route {
      case .any: return nil
      case .own: return hasOwn ? nil : pace.next
      case .avoiding(let avoided):
        let others = usable.filter { !avoided.contains($0.number) }
        if others.isEmpty { return usable.count > options.maxConnections ? nil : pace.next }
        guard usable.count < options.maxConnections, let since = run.blockedSince,
          !others.contains(where: { $0.hasRoom || $0.isWarmingUp || $0.isGrowing })
        else { return nil }
        return max(pace.next, since + options.patienceBeforeAnotherConnection)
      }
    }.min()
  }

  /// When such a batch can open something, or its waiting ends; this turn's moment when it can now.
  var nextRoutedMoment: Int64 {
    let own = connections.first { $0.owner != nil }
    var next = Int64.max
    for run in routed {
      next = min(next, run.permitEnd)
      switch run.route {
      case .any: break
      case .own:
        let isFree = own.map { $0.owner === run && $0.hasFreeStream } ?? (unused != nil)
        if isFree { return turn.now }
      case .avoiding(let avoided):
        if connections.contains(where: { $0.hasRoom && !avoided.contains($0.number) }) { return turn.now }
        guard let since = run.blockedSince else { continue }
        let end = since + Self.detourPatience
        if end > turn.now { next = min(next, end) } else if connections.contains(where: \.hasRoom) { return turn.now }
      }
    }
    return next
  }

  /// A connect failed: what has no connection, and nothing to wait for, is told why.
  func giveUpWaiting(_ failure: HTTPFailure) {
    let served = connections.first { $0.owner != nil && !$0.isLost }?.owner
    let isCutOff = usable.isEmpty
    if isCutOff { for run in queue { run.finishRest(.noConnection, failure) } }
    for run in routed where run !== served && (isCutOff || run.route == .own && served == nil) {
      run.finishRest(.noConnection, failure)
    }
    queue.removeAll { !$0.hasMore }
    routed.removeAll { !$0.hasMore }
  }
}
