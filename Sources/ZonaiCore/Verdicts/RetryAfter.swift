/// The header `retry-after`: seconds, or a date that counts from the answer's own `date`, since no clock is asked here.
/// https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
public enum RetryAfter {
  /// The longest wait that is passed on: a year. Who waits decides what is too long.
  static let longest: Int64 = 365 * 24 * 3600 * 1000

  /// Milliseconds from the answer; 0 for a date that is past, nil when the service asked for nothing that can be read.
  public static func milliseconds(_ text: String?, date: String?) -> Int64? {
    guard let text else { return nil }
    var reader = DigitReader(text)
    reader.skipSpaces()
    guard let first = reader.next, (0x30...0x39).contains(first) else {
      guard let until = HTTPDate.milliseconds(text), let now = date.flatMap(HTTPDate.milliseconds) else { return nil }
      return min(max(until - now, 0), longest)
    }
    var seconds: Int64 = 0
    while let digit = reader.number(digits: 1) {
      seconds = min(seconds * 10 + Int64(digit), longest)
    }
    reader.skipSpaces()
    return reader.isAtEnd ? min(seconds * 1000, longest) : nil
  }
}
