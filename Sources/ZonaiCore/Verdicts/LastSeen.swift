/// Reads the last-seen column: when the row's token was registered, as the application happens to write it.
public enum LastSeen {
  /// Milliseconds since 1970; nil when the value cannot be read, and then the row is spared.
  ///
  /// Numbers are seconds or milliseconds by their magnitude; one that would be neither between 1973 and 5138 (a Julian day,
  /// `20260102`, microseconds) is unreadable, except 0. Text is ISO 8601 in UTC, with or without fraction, zone and `T`; a
  /// date without a time counts as its end, since in doubt a row is spared. Text of digits is a number.
  public static func milliseconds(_ value: Value) -> Int64? {
    switch value {
    case .integer(let number): milliseconds(number)
    case .real(let number): milliseconds(number)
    case .text(let text): milliseconds(text)
    case .null, .boolean, .bytes: nil
    }
  }

  private static let seconds: Range<Int64> = 100_000_000..<100_000_000_000
  private static let millis: Range<Int64> = 100_000_000_000..<100_000_000_000_000

  private static func milliseconds(_ number: Int64) -> Int64? {
    if number == 0 { return 0 }
    if seconds.contains(number) { return number * 1000 }
    return millis.contains(number) ? number : nil
  }

  private static func milliseconds(_ number: Double) -> Int64? {
    if number == 0 { return 0 }
    if number >= Double(seconds.lowerBound), number < Double(seconds.upperBound) { return Int64(number * 1000) }
    return number >= Double(millis.lowerBound) && number < Double(millis.upperBound) ? Int64(number) : nil
  }

  private static func milliseconds(_ text: String) -> Int64? {
    if let number = Int64(text) { return milliseconds(number) }
    if let number = Double(text) { return milliseconds(number) }
    var reader = DigitReader(text)
    reader.skipSpaces()
    guard let year = reader.number(digits: 4), reader.take("-"), let month = reader.number(digits: 2),
      reader.take("-"), let day = reader.number(digits: 2)
    else { return nil }
    if reader.isAtEnd {
      return CivilTime.milliseconds(
        year: year, month: month, day: day, hour: 23, minute: 59, second: 59, millisecond: 999)
    }
    guard reader.take("T") || reader.take(" "), let hour = reader.number(digits: 2), reader.take(":"),
      let minute = reader.number(digits: 2)
    else { return nil }
    var second = 0
    var fraction = 0
    if reader.take(":") {
      guard let whole = reader.number(digits: 2), let part = self.fraction(&reader) else { return nil }
      second = whole
      fraction = part
    }
    guard let offset = zone(&reader), reader.isAtEnd,
      let moment = CivilTime.milliseconds(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second, millisecond: fraction)
    else { return nil }
    return moment - offset
  }

  /// The milliseconds of `.123456`; 0 when there is no fraction.
  private static func fraction(_ reader: inout DigitReader) -> Int? {
    guard reader.take(".") || reader.take(",") else { return 0 }
    var value = 0
    var weight = 100
    guard let first = reader.number(digits: 1) else { return nil }
    value = first * weight
    while let digit = reader.number(digits: 1) {
      weight /= 10
      value += digit * weight
    }
    return value
  }

  /// The milliseconds that the zone is ahead of UTC; 0 when there is none.
  private static func zone(_ reader: inout DigitReader) -> Int64? {
    reader.skipSpaces()
    if reader.isAtEnd || reader.take("Z") || reader.take("UTC") || reader.take("GMT") {
      reader.skipSpaces()
      return 0
    }
    let isAhead = reader.take("+")
    guard isAhead || reader.take("-"), let hours = reader.number(digits: 2), hours <= 18 else { return nil }
    var minutes = 0
    if !reader.isAtEnd {
      _ = reader.take(":")
      guard let read = reader.number(digits: 2), read <= 59 else { return nil }
      minutes = read
    }
    reader.skipSpaces()
    let offset = Int64(hours * 60 + minutes) * 60_000
    return isAhead ? offset : -offset
  }
}
