/// Dates of the Gregorian calendar in UTC, as milliseconds since 1970; the core has no Foundation to ask.
package enum CivilTime {
  /// nil when there is no such moment: a 30 February, a 25th hour. Second 60 is the next minute's first.
  static func milliseconds(
    year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, millisecond: Int = 0
  ) -> Int64? {
    guard (0...9999).contains(year), (1...12).contains(month), (1...daysIn(month, year)).contains(day),
      (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second), (0...999).contains(millisecond)
    else { return nil }
    let seconds = ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    return Int64(seconds) * 1000 + Int64(millisecond)
  }

  /// The moment in UTC for people to read, to the second: "2026-11-30 22:34:18 UTC".
  package static func text(_ milliseconds: Int64) -> String {
    let (day, second) = Int(milliseconds / 1000).quotientRoundedDown(by: 86_400)
    let date = date(daysSince1970: day)
    func digits(_ number: Int, _ width: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    return "\(digits(date.year, 4))-\(digits(date.month))-\(digits(date.day)) "
      + "\(digits(second / 3600)):\(digits(second / 60 % 60)):\(digits(second % 60)) UTC"
  }

  // https://howardhinnant.github.io/date_algorithms.html#civil_from_days
  private static func date(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = (days + 719_468).quotientRoundedDown(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  private static func daysIn(_ month: Int, _ year: Int) -> Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  // The year is taken to begin in March, so that the leap day is its last.
  // https://howardhinnant.github.io/date_algorithms.html#days_from_civil
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

extension Int {
  /// The quotient rounded towards minus infinity, and the remainder that is not negative.
  fileprivate func quotientRoundedDown(by divisor: Int) -> (Int, Int) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
