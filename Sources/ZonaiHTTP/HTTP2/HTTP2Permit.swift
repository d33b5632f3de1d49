import Synchronization
import ZonaiThreads

/// Leave to open further requests, until a moment that can be moved while the batch is under way.
///
/// A worker that holds a lease extends its batch's permit with each renewal; when the lease can no longer be trusted,
/// the moment passes by itself, even if the worker does not get to say so.
public final class HTTP2Permit: Sendable {
  private let deadline: Atomic<Int64>
  private let sleepers = Monitor<[WakePipe]>([])

  /// Valid until this moment of `MonotonicClock`, in milliseconds; without one, for good.
  public init(until deadline: Int64 = .max) { self.deadline = Atomic(deadline) }

  /// Moves the moment, either way.
  public func move(to deadline: Int64) {
    self.deadline.store(deadline, ordering: .releasing)
    for sleeper in sleepers.withLock({ $0 }) { sleeper.wake() }
  }

  /// Lets no further request be opened. What is under way is still waited for.
  public func revoke() { move(to: .min) }

  /// The moment at which it ends.
  public var end: Int64 { deadline.load(ordering: .acquiring) }

  /// Lets the loop that waits behind this pipe look at once when the moment is moved.
  func wakes(_ sleeper: WakePipe) {
    sleepers.withLock { sleepers in
      if !sleepers.contains(where: { $0 === sleeper }) { sleepers.append(sleeper) }
    }
  }
}
