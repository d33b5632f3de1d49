import Synchronization
import ZonaiCore
import ZonaiThreads

/// Since when the database has been there, for everybody: while it is away, nobody can renew a lease.
///
/// After an absence that may have cost a live worker its leases nothing is taken over for the length of a lease, so that
/// owners come back first. So it is after a start of the server; a worker that has just come to a server that had been
/// running leaves the others a sixth of a lease, in case it was the way there that was cut for all.
final class Attendance: Sendable {
  /// A moment at which the database was there, again or for the first time.
  private struct Arrival {
    /// By `MonotonicClock`.
    let moment: Int64
    /// For how long there had been no contact; nil for the first one, of which nobody knows.
    let absence: Int64?
    /// By the store's clock, once it was asked for.
    var stored: Int64?
    /// For how long the server had been running.
    var uptime: Int64?
  }

  private struct State {
    var connectedAt: Int64?
    var lastContact: Int64?
    var arrivals: [Arrival] = []
  }

  private let state = Mutex(State())

  /// Arrivals that lie further back are of no account: no lease is longer.
  private static let memory = 8

  /// A transaction was committed, over a connection as the driver has had it since that moment.
  func noteContact(connectedAt: Int64?, at now: Int64) {
    state.withLock { state in
      Self.note(connectedAt, &state)
      state.lastContact = now
    }
  }

  private static func note(_ connectedAt: Int64?, _ state: inout State) {
    guard let connectedAt, connectedAt != state.connectedAt else { return }
    state.connectedAt = connectedAt
    let absence = state.lastContact.map { max(0, connectedAt - $0) }
    state.arrivals.append(Arrival(moment: connectedAt, absence: absence))
    if state.arrivals.count > memory { state.arrivals.removeFirst() }
  }

  /// For how long, from now on, batches of other workers are left alone though their leases ended. `now` is the store's.
  func left(
    connectedAt: Int64?, lease: Int64, now: Int64, uptime: () throws(StoreError) -> Int64?
  ) throws(StoreError) -> Int64 {
    guard connectedAt != nil else { return 0 }
    let isNew = state.withLock { state in
      Self.note(connectedAt, &state)
      return state.arrivals.contains { $0.stored == nil && $0.absence == nil }
    }
    let found = isNew ? try uptime() : nil
    let moment = MonotonicClock.milliseconds()
    return state.withLock { state in
      var left: Int64 = 0
      for index in state.arrivals.indices {
        let stored = state.arrivals[index].stored ?? now - max(0, moment - state.arrivals[index].moment)
        if state.arrivals[index].stored == nil, state.arrivals[index].absence == nil {
          state.arrivals[index].uptime = found
        }
        state.arrivals[index].stored = stored
        // A database's clock that was put back must not make it longer.
        let passed = max(now - stored, moment - state.arrivals[index].moment, 0)
        left = max(left, Self.quarantine(state.arrivals[index], lease: lease) - passed)
      }
      return left
    }
  }

  private static func quarantine(_ arrival: Arrival, lease: Int64) -> Int64 {
    // An owner renews every third of a lease and has two thirds left: a shorter absence costs it nothing.
    if let absence = arrival.absence { return absence > lease / 3 ? lease : 0 }
    guard let uptime = arrival.uptime else { return lease }
    return max(lease / 6, lease - uptime)
  }
}
