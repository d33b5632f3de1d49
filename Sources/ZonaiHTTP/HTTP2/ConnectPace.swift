/// When a pool may connect next, by what came of its connections so far. Times are milliseconds.
struct ConnectPace {
  /// Before this moment no connect begins.
  private(set) var next: Int64 = 0
  /// How many connects may be under way at once: one until a connection has answered, then twice as
  /// many in each round that succeeds.
  private(set) var width = 1

  private let delay: Int64
  private let maxDelay: Int64
  /// Connects that failed since a connection last answered.
  private var failures = 0
  private var nextAfterFailure: Int64 = 0
  /// Connections in a row that the server ended in order before they answered anything.
  private var unanswered = 0

  /// So many orderly ends without an answer are a server that shuts down. One more, and it is a
  /// server that does not work.
  private static let unansweredLimit = 5

  init(delay: Int64, maxDelay: Int64) {
    self.delay = delay
    self.maxDelay = maxDelay
  }

  /// A connection gave its first answer.
  mutating func answered() {
    failures = 0
    unanswered = 0
    width = max(width, 2)
  }

  /// A connect succeeded.
  mutating func connected() { if width > 1 { width += 1 } }

  /// A connect failed, or a connection ended before it answered anything: the wait doubles. Those
  /// that began together and fail together count once.
  mutating func failed(now: Int64) {
    width = 1
    guard now >= nextAfterFailure else { return }
    wait(min(delay << min(failures, 16), maxDelay), now)
    nextAfterFailure = next
    failures += 1
  }

  /// The server ended a young connection after a few answers: one that does so to each of its
  /// connections must not be connected to in a hot loop.
  mutating func endedEarly(now: Int64) {
    width = 1
    wait(min(delay, maxDelay), now)
  }

  /// The server ended a connection in order before it answered anything, as one that shuts down
  /// does. True when it happens too often to be that.
  mutating func endedUnanswered(now: Int64) -> Bool {
    unanswered += 1
    if unanswered >= ConnectPace.unansweredLimit { return true }
    endedEarly(now: now)
    return false
  }

  /// Half of the wait is chance, so that many senders do not come back at the same moment.
  private mutating func wait(_ delay: Int64, _ now: Int64) {
    let delay = max(1, delay)
    next = max(next, now + delay / 2 + Int64.random(in: 0...(delay - delay / 2)))
  }
}
