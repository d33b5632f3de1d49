/// Reads dates and times as predicates write them, strictly: a moment that does not exist is none.
enum StrictTime {
  /// A day, a time of it in microseconds, and whether digits beyond those were cut off.
  struct Moment {
    var year: Int, month: Int, day: Int
    var microseconds: Int64
    var isCut: Bool

    var date: String { "\(StrictTime.padded(year, 4))-\(StrictTime.padded(month, 2))-\(StrictTime.padded(day, 2))" }
    var isMidnight: Bool { microseconds == 0 && !isCut }
    var text: String { "\(date) \(StrictTime.text(microseconds))" }
  }

  /// `2026-01-31`, and behind a blank or a T `12:30`, `12:30:15` or `12:30:15.25`, with `Z` at the
  /// end or not: UTC.
  static func moment(_ text: String) -> Moment? {
    var reader = DigitReader(text)
    guard let year = reader.number(digits: 4), year > 0, reader.take("-"), let month = reader.number(digits: 2),
      reader.take("-"), let day = reader.number(digits: 2),
      CivilTime.milliseconds(year: year, month: month, day: day) != nil
    else { return nil }
    var moment = Moment(year: year, month: month, day: day, microseconds: 0, isCut: false)
    if reader.isAtEnd { return moment }
    guard reader.take("T") || reader.take(" "), let hour = reader.number(digits: 2), hour < 24,
      let (rest, isCut) = minutes(&reader)
    else { return nil }
    _ = reader.take("Z")
    guard reader.isAtEnd else { return nil }
    moment.microseconds = Int64(hour) * 3_600_000_000 + rest
    moment.isCut = isCut
    return moment
  }

  /// `12:30`, `12:30:15.25`, `-100:00:00`: microseconds, the next lower ones where digits were cut
  /// off, and whether they were.
  static func time(_ text: String) -> (microseconds: Int64, isCut: Bool)? {
    var reader = DigitReader(text)
    let isNegative = reader.take("-")
    let digits = reader.rest.prefix { (0x30...0x39).contains($0) }.count
    guard digits == 2 || digits == 3, let hour = reader.number(digits: digits), let (rest, isCut) = minutes(&reader),
      reader.isAtEnd
    else { return nil }
    let whole = Int64(hour) * 3_600_000_000 + rest
    guard isNegative else { return (whole, isCut) }
    return (isCut ? -whole - 1 : -whole, isCut)
  }

  /// `:30`, `:30:15` or `:30:15.25` in microseconds.
  private static func minutes(_ reader: inout DigitReader) -> (Int64, isCut: Bool)? {
    guard reader.take(":"), let minute = reader.number(digits: 2), minute < 60 else { return nil }
    var microseconds = Int64(minute) * 60_000_000
    guard reader.take(":") else { return (microseconds, false) }
    guard let second = reader.number(digits: 2), second < 60 else { return nil }
    microseconds += Int64(second) * 1_000_000
    guard reader.take(".") else { return (microseconds, false) }
    guard var digit = reader.number(digits: 1) else { return nil }
    var weight: Int64 = 100_000
    var isCut = false
    while true {
      if weight == 0 { isCut = isCut || digit > 0 }
      microseconds += Int64(digit) * weight
      weight /= 10
      guard let next = reader.number(digits: 1) else { return (microseconds, isCut) }
      digit = next
    }
  }

  /// `12:30:15.250000`.
  static func text(_ microseconds: Int64) -> String {
    let all = microseconds.magnitude
    let seconds = all / 1_000_000
    return (microseconds < 0 ? "-" : "") + padded(Int(seconds / 3600), 2) + ":" + padded(Int(seconds / 60 % 60), 2)
      + ":"
      + padded(Int(seconds % 60), 2) + "." + padded(Int(all % 1_000_000), 6)
  }

  fileprivate static func padded(_ number: Int, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
