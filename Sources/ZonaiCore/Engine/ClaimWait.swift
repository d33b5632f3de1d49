/// How long a worker that found nothing waits before it claims again.
struct ClaimWait: Sendable {
  private let poll: Int64
  private var contentions = 0
  private var alarms = 0

  init(poll: Int64) { self.poll = max(1, poll) }

  mutating func found() {
    contentions = 0
    alarms = 0
  }

  /// Somebody else was quicker: a few milliseconds, doubled up to a quarter of a second, half of it by chance.
  mutating func afterContention() -> Int64 {
    contentions += 1
    let pause = min(Int64(4) << Int64(min(contentions, 6)), 250)
    return pause / 2 + Int64.random(in: 0...(pause / 2))
  }

  /// Nothing at the first look costs no wait; nothing again and again costs up to a quarter of a second.
  mutating func afterFalseAlarm() -> Int64 {
    defer { alarms += 1 }
    return alarms == 0 ? 0 : min(Int64(4) << Int64(min(alarms, 6)), 250, poll)
  }

  /// Until something falls due, or the next look at the store.
  func untilDue(_ idle: Idle) -> Int64 {
    min(poll, max(1, idle.nextDueInMilliseconds ?? poll))
  }
}
