/// Dates of the Gregorian calendar in UTC, as milliseconds since 1970; the core has no Foundation to ask.
enum CivilTime {
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
