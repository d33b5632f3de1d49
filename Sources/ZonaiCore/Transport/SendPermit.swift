import Synchronization
import ZonaiThreads

/// Leave to open new requests, up to a moment of the monotonic clock. The engine extends it while it owns the batch and
/// takes it back when it does not; a transport looks at it before each request it opens, or follows it.
public final class SendPermit: Sendable {
  private let validUntil: Atomic<Int64>
  private let followers = Mutex<[@Sendable (Int64) -> Void]>([])

  /// `validUntil` is in milliseconds of the monotonic clock.
  public init(validUntil: Int64) { self.validUntil = Atomic(validUntil) }

  /// Ends when the other does, or earlier when it is revoked itself.
  public convenience init(following other: SendPermit) {
    // Not `.min`, which stands for a permit that was revoked.
    self.init(validUntil: .min + 1)
    other.follow { [weak self] moment in
      if moment == .min { self?.revoke() } else { self?.extend(to: moment) }
    }
  }

  /// The clock of permits outside of tests: milliseconds of this machine that only ever grow.
  public static var now: Int64 { MonotonicClock.milliseconds() }

  public func allows(at now: Int64) -> Bool { now < validUntil.load(ordering: .acquiring) }

  /// Moves the end; one that was revoked stays so.
  public func extend(to moment: Int64) {
    move { current in current != .min && current < moment ? moment : nil }
  }

  /// No request is opened from now on.
  public func revoke() { move { _ in .min } }

  /// Tells the follower the end, now and whenever it moves, one after the other: for a transport whose own loop keeps the
  /// end. The follower must be quick and must not block.
  public func follow(_ follower: @escaping @Sendable (_ validUntil: Int64) -> Void) {
    followers.withLock { followers in
      followers.append(follower)
      follower(validUntil.load(ordering: .acquiring))
    }
  }

  /// Within the lock, so that no follower hears of an extension after the end was taken back.
  private func move(_ change: (Int64) -> Int64?) {
    followers.withLock { followers in
      guard let moment = change(validUntil.load(ordering: .acquiring)) else { return }
      validUntil.store(moment, ordering: .releasing)
      for follower in followers { follower(moment) }
    }
  }
}
