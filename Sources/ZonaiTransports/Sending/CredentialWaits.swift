import Synchronization
import ZonaiCore

/// What a send gets that asked for its lane's credential.
enum AwaitedCredential<Credential: Sendable>: Sendable {
  case ready(Credential)
  /// There is none, and this is why.
  case refused(LaneRefusal)
  /// The send has to end before there is one: nothing was sent.
  case stopped
}

/// Lets the sends of a transport wait for its credential, and no longer than they may: up to a time
/// limit, until the permit ends, the task is cancelled or the transport closes.
///
/// A token endpoint or a store that hangs, and a key file on a disk that does, must not hold up a
/// worker that has to stop. What is asked goes on without the send, for those that ask later.
final class CredentialWaits: Sendable {
  private struct State {
    var isClosed = false
    var lastNumber = 0
    var ends: [Int: @Sendable () -> Void] = [:]
  }

  /// "access token" or "provider token".
  private let name: String
  /// In milliseconds. Longer than a request for a credential may take, whose own failure says
  /// better why there is none.
  private let limit: Int64

  private static let margin: Int64 = 10_000
  private let state = Mutex(State())

  init(for name: String, limit: Int64) {
    self.name = name
    self.limit = limit + CredentialWaits.margin
  }

  /// What is ready counts whatever the time; `ask` is what may take long.
  func wait<Credential: Sendable>(
    permit: SendPermit, ready: Credential? = nil,
    _ ask: @escaping @Sendable () async -> Result<Credential, LaneRefusal>
  ) async -> AwaitedCredential<Credential> {
    if let ready { return .ready(ready) }
    let (first, offer) = AsyncStream.makeStream(
      of: AwaitedCredential<Credential>.self, bufferingPolicy: .bufferingOldest(1))
    guard let number = add({ offer.yield(.stopped) }) else { return .stopped }
    let end = PermitEnd()
    permit.follow { moment in
      end.move(to: moment)
      if moment <= SendPermit.now { offer.yield(.stopped) }
    }
    Task {
      switch await ask() {
      case .success(let credential): offer.yield(.ready(credential))
      case .failure(let refusal): offer.yield(.refused(refusal))
      }
    }
    let deadline = SendPermit.now + limit
    let timer = Task { [name, limit] in
      while !Task.isCancelled {
        let now = SendPermit.now
        guard now < deadline else {
          offer.yield(.refused(.noCredential(name, within: limit)))
          return
        }
        guard now < end.moment else {
          offer.yield(.stopped)
          return
        }
        try? await Task.sleep(for: .milliseconds(min(deadline, end.moment) - now))
      }
    }
    defer {
      timer.cancel()
      remove(number)
    }
    for await outcome in first { return outcome }
    // The task was cancelled.
    return .stopped
  }

  /// Ends all waits, now and from now on.
  func close() {
    let ends = state.withLock { state in
      state.isClosed = true
      return state.ends
    }
    for end in ends.values { end() }
  }

  private func add(_ end: @escaping @Sendable () -> Void) -> Int? {
    state.withLock { state in
      guard !state.isClosed else { return nil }
      state.lastNumber += 1
      state.ends[state.lastNumber] = end
      return state.lastNumber
    }
  }

  private func remove(_ number: Int) { state.withLock { $0.ends[number] = nil } }
}

/// When a permit ends, as it was last told.
private final class PermitEnd: Sendable {
  private let value = Atomic(Int64.max)

  var moment: Int64 { value.load(ordering: .acquiring) }
  func move(to moment: Int64) { value.store(moment, ordering: .releasing) }
}

extension LaneRefusal {
  /// The credential was not there in time.
  fileprivate static func noCredential(_ name: String, within limit: Int64) -> LaneRefusal {
    LaneRefusal(
      Verdict(
        .transientlyFailed, fault: .service, retry: .attempts, reason: .timedOut,
        words: "no \(name) within \(limit) ms"))
  }
}
