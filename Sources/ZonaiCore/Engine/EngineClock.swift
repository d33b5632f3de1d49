/// The clock that the engine waits by: milliseconds that only ever grow, and whose zero means nothing.
///
/// Tests bring one that they turn; everybody else leaves it at `ThreadClock`.
public protocol EngineClock: Sendable {
  var now: Int64 { get }

  /// Returns when the moment has come; throws `CancellationError` at once when the task is cancelled.
  func sleep(until moment: Int64) async throws
}

extension EngineClock {
  /// Returns when so much time has passed.
  public func sleep(milliseconds: Int64) async throws { try await sleep(until: now + max(0, milliseconds)) }
}
