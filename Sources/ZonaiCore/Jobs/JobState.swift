/// Where a job stands: `pending → running → completed`, or `failed`, or `cancelled`. The last two keep their place.
public enum JobState: String, Sendable, Hashable, Codable, CaseIterable {
  /// Enqueued; nobody has claimed anything. Leaves for `running` with the first claim, for `cancelled`, for `failed` when
  /// the first claim finds that it cannot run.
  case pending
  /// Batches are claimed. Leaves for `completed` when the frontier is at its end and nothing is open, for `failed`, for
  /// `cancelled`.
  case running
  case completed
  /// Leaves for `running` by a resume.
  case failed
  /// Leaves for `running` by a resume.
  case cancelled

  public enum Event: Sendable, Hashable {
    case claimed, finished, failed, cancelled, resumed
  }

  /// The state after the event; nil when the event changes nothing here: late and repeated events are harmless.
  public func after(_ event: Event) -> JobState? {
    switch (self, event) {
    case (.pending, .claimed): .running
    case (.running, .finished): .completed
    case (.pending, .failed), (.running, .failed): .failed
    case (.pending, .cancelled), (.running, .cancelled), (.failed, .cancelled): .cancelled
    case (.failed, .resumed), (.cancelled, .resumed): .running
    default: nil
    }
  }

  /// Whether workers may claim from a job in this state.
  public var isOpen: Bool { self == .pending || self == .running }
}
