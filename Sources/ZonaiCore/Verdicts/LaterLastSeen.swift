/// By how much a row's last-seen is later than the death of its token, in a handful of steps: a
/// job's account has one line for each.
public enum LaterLastSeen: Sendable, Hashable, CaseIterable {
  case byLessThanAMinute, byLessThanAnHour, byLessThanADay, byLessThanAMonth, byAMonthOrMore
  /// It cannot be read as a time.
  case unreadable

  /// Both in milliseconds since 1970; `lastSeen` is nil when it cannot be read.
  init(lastSeen: Int64?, deadSince: Int64) {
    guard let lastSeen else {
      self = .unreadable
      return
    }
    let (later, isBeyond) = lastSeen.subtractingReportingOverflow(deadSince)
    switch isBeyond ? .max : later {
    case ..<60_000: self = .byLessThanAMinute
    case ..<3_600_000: self = .byLessThanAnHour
    case ..<86_400_000: self = .byLessThanADay
    case ..<2_592_000_000: self = .byLessThanAMonth
    default: self = .byAMonthOrMore
    }
  }

  /// Why the row is kept, as a job's account says it.
  public var sentence: String {
    switch self {
    case .byLessThanAMinute: LaterLastSeen.later("less than a minute")
    case .byLessThanAnHour: LaterLastSeen.later("less than an hour")
    case .byLessThanADay: LaterLastSeen.later("less than a day")
    case .byLessThanAMonth: LaterLastSeen.later("less than 30 days")
    case .byAMonthOrMore: LaterLastSeen.later("30 days or more")
    case .unreadable:
      "kept: its last-seen cannot be read as a time, so it may be later than the death that APNs names"
    }
  }

  private static func later(_ amount: String) -> String {
    "kept: its last-seen is later than the time of death that APNs names, by \(amount)"
  }
}
