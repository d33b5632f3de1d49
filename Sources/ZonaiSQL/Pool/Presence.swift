import Synchronization

/// Since when the database has been there without a break, as far as the connections of one pool can tell.
///
/// A connection that is cut while others go on is no break, nor is one that is cut while it idles and is there again at the
/// next look: then the last contact is not long ago.
final class Presence: Sendable {
  private struct State {
    var lastContact: Int64?
    var connectedAt: Int64?
    /// Whether a connection was lost or refused since the last one was opened.
    var isTroubled = false
  }

  private let state = Mutex(State())

  /// Shorter breaks than this cost nobody a lease.
  static let shortest: Int64 = 1000

  var connectedAt: Int64? { state.withLock { $0.connectedAt } }

  func noteContact(_ now: Int64) { state.withLock { $0.lastContact = max(now, $0.lastContact ?? now) } }

  func noteTrouble() { state.withLock { $0.isTroubled = true } }

  func noteOpened(_ now: Int64) {
    state.withLock { state in
      let wasAway = state.isTroubled && state.lastContact.map { now - $0 >= Presence.shortest } ?? true
      if state.connectedAt == nil || wasAway { state.connectedAt = now }
      state.isTroubled = false
      state.lastContact = max(now, state.lastContact ?? now)
    }
  }
}
