/// The header `retry-after`: seconds, or a date that counts from the answer's own `date`, since no clock is asked here.
/// https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
public enum RetryAfter {
  /// The longest wait that any service is granted: an hour. A year, by mistake or from a proxy,
  /// must not park a job.
  public static let longest: Int64 = 3600 * 1000

  /// Milliseconds from the answer, an hour at most; 0 for a date that is past, nil when the service
  /// asked for nothing that can be read. A fraction of a second counts as a whole one.
  public static func milliseconds(_ text: String?, date: String?) -> Int64? {
    guard let text else { return nil }
    var reader = DigitReader(text)
    reader.skipSpaces()
    guard let first = reader.next, (0x30...0x39).contains(first) else {
      guard let until = HTTPDate.milliseconds(text), let now = date.flatMap(HTTPDate.milliseconds) else { return nil }
      return granted(until - now)
    }
    var seconds: Int64 = 0
    while let digit = reader.number(digits: 1) {
      seconds = min(seconds * 10 + Int64(digit), longest)
    }
    if reader.take(".") {
      guard let tenths = reader.number(digits: 1) else { return nil }
      var hasFraction = tenths > 0
      while let digit = reader.number(digits: 1) { hasFraction = hasFraction || digit > 0 }
      if hasFraction { seconds += 1 }
    }
    reader.skipSpaces()
    return reader.isAtEnd ? granted(seconds * 1000) : nil
  }

  /// The part of a requested wait that is granted.
  static func granted(_ milliseconds: Int64) -> Int64 { min(max(milliseconds, 0), longest) }
}
