/// Reads the last-seen column: when the row's token was registered, as the application happens to write it.
///
/// A value stands for all moments that it can mean: one in whole seconds for the whole second, a
/// day for the whole day. Times without a zone are in UTC.
public enum LastSeen {
  /// The latest moment that the value can mean, in milliseconds since 1970; nil when it cannot be
  /// read as a time.
  ///
  /// The latest, since a row whose token may have been registered after it died is kept.
  public static func milliseconds(_ value: Value) -> Int64? { moments(value)?.upperBound }

  /// From the earliest to the latest moment that the value can mean, in milliseconds since 1970;
  /// nil when it cannot be read.
  ///
  /// Numbers are seconds, milliseconds, microseconds or nanoseconds by their magnitude; one that
  /// would be none of these between 1973 and 5138 (a Julian day, `20260102`) is unreadable, except
  /// 0. Text is ISO 8601, a date as JavaScript, mail and C write it, or a number.
  public static func moments(_ value: Value) -> ClosedRange<Int64>? {
    switch value {
    case .integer(let number): moments(number)
    case .real(let number): moments(number)
    case .text(let text): moments(text)
    case .null, .boolean, .bytes: nil
    }
  }

  // MARK: Numbers

  private static let seconds: Range<Int64> = 100_000_000..<100_000_000_000
  private static let millis: Range<Int64> = 100_000_000_000..<100_000_000_000_000
  private static let micros: Range<Int64> = 100_000_000_000_000..<100_000_000_000_000_000
  // Nothing below: what .NET counts from the year 1 would be taken for a moment of 1990.
  private static let nanos: ClosedRange<Int64> = 1_000_000_000_000_000_000 ... .max

  private static func moments(_ number: Int64) -> ClosedRange<Int64>? {
    if number == 0 { return 0...0 }
    if seconds.contains(number) { return span(number * 1000, unit: 1000) }
    if millis.contains(number) { return span(number, unit: 1) }
    if micros.contains(number) { return span(number / 1000, unit: 1, isFiner: number % 1000 != 0) }
    return nanos.contains(number) ? span(number / 1_000_000, unit: 1, isFiner: number % 1_000_000 != 0) : nil
  }

  private static func moments(_ number: Double) -> ClosedRange<Int64>? {
    if let whole = Int64(exactly: number) { return moments(whole) }
    guard number >= Double(seconds.lowerBound), number < Double(millis.upperBound) else { return nil }
    let isSeconds = number < Double(seconds.upperBound)
    return span(Int64((isSeconds ? number * 1000 : number).rounded(.up)), unit: 1, isFiner: true)
  }

  // MARK: Text

  private static func moments(_ text: String) -> ClosedRange<Int64>? {
    if let number = Int64(text) { return moments(number) }
    if let moments = moments(decimal: text) { return moments }
    if let number = Double(text) { return moments(number) }
    return WrittenTime(text)?.moments
  }

  /// `1767323045.25`: as many digits behind the point as are known.
  private static func moments(decimal text: String) -> ClosedRange<Int64>? {
    guard let point = text.firstIndex(of: "."), let whole = Int64(text[..<point]), seconds.contains(whole) else {
      return nil
    }
    var reader = DigitReader(text[point...])
    guard let fraction = WrittenTime.Fraction(&reader), reader.isAtEnd else { return nil }
    return span(whole * 1000 + fraction.milliseconds, unit: fraction.unit, isFiner: fraction.isFiner)
  }

  // MARK: What a value leaves open

  static let day: Int64 = 86_400_000

  /// The moments that a time means which was written to the `unit`. `midnight` is a moment at which
  /// a day begins where it was written.
  ///
  /// Whole seconds and whole days count as such whatever the unit, since a column of a finer type
  /// often holds a coarser value: unless the value `isFiner`, with something behind its
  /// milliseconds.
  static func span(_ start: Int64, unit: Int64, midnight: Int64 = 0, isFiner: Bool = false) -> ClosedRange<Int64> {
    if isFiner { return start...start }
    var unit = unit
    if start % 1000 == 0 { unit = max(unit, 1000) }
    if (start - midnight) % day == 0 { unit = max(unit, day) }
    return start...start + unit - 1
  }
}
