/// How many streams a connection lets be open, whatever the server allows: few at first, twice as
/// many for each round of answers, and half as many after a refusal.
///
/// A server that advertises a thousand streams may refuse all but one of them a moment later; APNs
/// does so after it has rejected a notification. What is refused is not lost, but it has to be sent
/// again.
struct StreamRamp {
  /// The width of a new connection, as long as nothing was refused.
  static let start = 8

  private(set) var width: Int
  /// From this width on it grows by one for each round of answers.
  private var threshold = Int.max
  private var answersSinceGrowth = 0
  /// Streams from this one on were opened after the last refusal.
  private var firstAfterRefusal: Int32 = 0

  init(width: Int) { self.width = max(1, width) }

  /// Whether it still doubles.
  var isDoubling: Bool { width < threshold }

  /// A request was answered while as many were open as it allows. While nothing was refused here,
  /// it makes up for what the server was seen to take on another connection.
  mutating func answered(atLeast seen: Int = 0) {
    guard !isDoubling else {
      width = max(width + 1, seen)
      return
    }
    answersSinceGrowth += 1
    guard answersSinceGrowth >= width else { return }
    answersSinceGrowth = 0
    width += 1
  }

  /// The stream was refused; `next` is the number of the next one to be opened. False for a refusal
  /// that belongs to the one before: streams that were opened together are refused together.
  mutating func refused(_ stream: Int32, next: Int32) -> Bool {
    guard stream >= firstAfterRefusal else { return false }
    firstAfterRefusal = next
    width = max(1, width / 2)
    threshold = width
    answersSinceGrowth = 0
    return true
  }
}
