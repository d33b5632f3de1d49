/// The three forms of a date in an HTTP header, all of them UTC.
/// https://www.rfc-editor.org/rfc/rfc9110#name-date-time-formats
public enum HTTPDate {
  /// Milliseconds since 1970; nil when it is none of the forms. A year of two digits from 70 on is of the last century.
  public static func milliseconds(_ text: String) -> Int64? {
    var reader = DigitReader(text)
    reader.skipSpaces()
    let weekday = reader.letters()
    let moment: Int64?
    if longWeekdays.contains(weekday), reader.take(", ") {
      moment = rfc850(&reader)
    } else if weekdays.contains(weekday), reader.take(", ") {
      moment = fixdate(&reader)
    } else if weekdays.contains(weekday), reader.take(" ") {
      moment = asctime(&reader)
    } else {
      return nil
    }
    reader.skipSpaces()
    return reader.isAtEnd ? moment : nil
  }

  /// `06 Nov 1994 08:49:37 GMT`
  private static func fixdate(_ reader: inout DigitReader) -> Int64? {
    guard let day = reader.number(digits: 2), reader.take(" "), let month = month(&reader), reader.take(" "),
      let year = reader.number(digits: 4), reader.take(" ")
    else { return nil }
    return time(&reader, year, month, day, zone: true)
  }

  /// `06-Nov-94 08:49:37 GMT`
  private static func rfc850(_ reader: inout DigitReader) -> Int64? {
    guard let day = reader.number(digits: 2), reader.take("-"), let month = month(&reader), reader.take("-"),
      let year = reader.number(digits: 2), reader.take(" ")
    else { return nil }
    return time(&reader, year + (year >= 70 ? 1900 : 2000), month, day, zone: true)
  }

  /// `Nov  6 08:49:37 1994`
  private static func asctime(_ reader: inout DigitReader) -> Int64? {
    guard let month = month(&reader), reader.take(" "),
      let day = reader.take(" ") ? reader.number(digits: 1) : reader.number(digits: 2), reader.take(" ")
    else { return nil }
    var ahead = reader
    guard time(&ahead, 1970, 1, 1, zone: false) != nil, ahead.take(" "), let year = ahead.number(digits: 4) else {
      return nil
    }
    let moment = time(&reader, year, month, day, zone: false)
    reader = ahead
    return moment
  }

  /// `08:49:37`, with ` GMT` after it in two of the forms.
  private static func time(_ reader: inout DigitReader, _ year: Int, _ month: Int, _ day: Int, zone: Bool) -> Int64? {
    guard let hour = reader.number(digits: 2), reader.take(":"), let minute = reader.number(digits: 2),
      reader.take(":"), let second = reader.number(digits: 2), !zone || reader.take(" GMT")
    else { return nil }
    return CivilTime.milliseconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
  }

  /// `Jan` to `Dec`, as 1 to 12.
  static func month(_ reader: inout DigitReader) -> Int? {
    months.firstIndex(of: reader.letters()).map { $0 + 1 }
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]
  private static let weekdays: Set<String> = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  private static let longWeekdays: Set<String> = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]
}
