import Synchronization
import ZonaiThreads

/// Leave to open new requests, up to a moment of the monotonic clock. The engine extends it while it owns the batch and
/// takes it back when it does not; a transport looks at it before each request it opens.
public final class SendPermit: Sendable {
  private let validUntil: Atomic<Int64>

  /// `validUntil` is in milliseconds of the monotonic clock.
  public init(validUntil: Int64) { self.validUntil = Atomic(validUntil) }

  /// The clock of permits outside of tests: milliseconds of this machine that only ever grow.
  public static var now: Int64 { MonotonicClock.milliseconds() }

  public func allows(at now: Int64) -> Bool { now < validUntil.load(ordering: .acquiring) }

  /// Moves the end; one that was revoked stays so.
  public func extend(to moment: Int64) {
    var current = validUntil.load(ordering: .acquiring)
    while current != .min, current < moment {
      let (exchanged, original) = validUntil.compareExchange(
        expected: current, desired: moment, ordering: .acquiringAndReleasing)
      if exchanged { return }
      current = original
    }
  }

  /// No request is opened from now on.
  public func revoke() { validUntil.store(.min, ordering: .releasing) }
}
