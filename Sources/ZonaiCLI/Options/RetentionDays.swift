/// For how long jobs are kept after they ended, as people write it: a number of days, or `off`.
struct RetentionDays: Sendable, Equatable {
  /// nil keeps them for good.
  let seconds: Double?

  static let bounds: ClosedRange<Double> = 0.01...36_525

  private init(seconds: Double?) { self.seconds = seconds }

  init(days: Double) { self.init(seconds: days * 86_400) }

  init(_ text: String) throws(ArgumentProblem) {
    if text == "off" {
      self.init(seconds: nil)
      return
    }
    guard let days = Double(text), RetentionDays.bounds.contains(days) else {
      throw ArgumentProblem("wants a number of days, 0.01 to 36525, or off, not '\(text)'")
    }
    self.init(days: days)
  }
}
