/// A flag that one thread raises and another waits for: raised once or often, it wakes one waiter once.
public final class Signal: Sendable {
  private let raised = Monitor(false)

  public init() {}

  public func raise() { raised.change { $0 = true } }

  /// Blocks until the flag is raised, and lowers it; false when the deadline (`MonotonicClock`, ms) passed first.
  public func wait(until deadline: Int64? = nil) -> Bool {
    raised.wait(until: deadline) { isRaised -> Bool? in
      guard isRaised else { return nil }
      isRaised = false
      return true
    } ?? false
  }
}
