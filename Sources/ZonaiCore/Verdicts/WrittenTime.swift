/// A date and time in words, as applications write them into a text column, and as databases give
/// theirs.
struct WrittenTime {
  private let year: Int
  private let month: Int
  private let day: Int
  private var time = Time()
  /// The milliseconds that its zone is ahead of UTC.
  private var offset: Int64 = 0

  /// nil when the text has none of the forms.
  init?(_ text: String) {
    var reader = DigitReader(text)
    reader.skipSpaces()
    let written = reader.letters().isEmpty ? WrittenTime(iso: &reader) : WrittenTime(words: &reader)
    guard let written, reader.isAtEnd else { return nil }
    self = written
  }

  /// From the earliest to the latest moment that it can mean; nil when the calendar has no such day
  /// or time.
  var moments: ClosedRange<Int64>? {
    let local = CivilTime.milliseconds(
      year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second,
      millisecond: Int(time.fraction.milliseconds))
    return local.map { LastSeen.span($0 - offset, unit: time.unit, midnight: -offset, isFiner: time.fraction.isFiner) }
  }

  private init(_ year: Int, _ month: Int, _ day: Int, _ time: Time, offset: Int64 = 0) {
    self.year = year
    self.month = month
    self.day = day
    self.time = time
    self.offset = offset
  }

  // MARK: Forms

  /// `2026-01-02`, with a time behind a `T` or a blank, and a zone behind that.
  private init?(iso reader: inout DigitReader) {
    guard let year = reader.number(digits: 4), reader.take("-"), let month = reader.number(digits: 2),
      reader.take("-"), let day = reader.number(digits: 2)
    else { return nil }
    guard !reader.isAtEnd else {
      self.init(year, month, day, Time())
      return
    }
    guard reader.take("T") || reader.take(" "), let time = Time(&reader), let offset = WrittenTime.zone(&reader) else {
      return nil
    }
    self.init(year, month, day, time, offset: offset)
  }

  /// Behind the day of the week: `, 02 Jan 2026 03:04:05 GMT` (mail), ` Jan 02 2026 03:04:05
  /// GMT+0200 (a name)` (JavaScript) or ` Jan 2 03:04:05 2026` (C).
  private init?(words reader: inout DigitReader) {
    _ = reader.take(",")
    reader.skipSpaces()
    var day = WrittenTime.day(&reader)
    reader.skipSpaces()
    guard let month = HTTPDate.month(&reader) else { return nil }
    reader.skipSpaces()
    if day == nil { day = WrittenTime.day(&reader) }
    reader.skipSpaces()
    var year = reader.number(digits: 4)
    reader.skipSpaces()
    guard let day, let time = Time(&reader) else { return nil }
    reader.skipSpaces()
    if year == nil { year = reader.number(digits: 4) }
    guard let year, let offset = WrittenTime.zone(&reader) else { return nil }
    if reader.take("(") { reader.skip { $0 != UInt8(ascii: ")") } }
    _ = reader.take(")")
    self.init(year, month, day, time, offset: offset)
  }

  private static func day(_ reader: inout DigitReader) -> Int? {
    reader.number(digits: 2) ?? reader.number(digits: 1)
  }

  /// The milliseconds that the zone is ahead of UTC; 0 when there is none.
  private static func zone(_ reader: inout DigitReader) -> Int64? {
    reader.skipSpaces()
    let isNamed = reader.take("Z") || reader.take("UTC") || reader.take("GMT")
    let isAhead = reader.take("+")
    guard isAhead || reader.take("-") else {
      reader.skipSpaces()
      return isNamed || reader.isAtEnd ? 0 : nil
    }
    guard let hours = reader.number(digits: 2), hours <= 18 else { return nil }
    var minutes = 0
    let isMore = reader.take(":") || reader.next.map { (0x30...0x39).contains($0) } ?? false
    if isMore {
      guard let read = reader.number(digits: 2), read <= 59 else { return nil }
      minutes = read
    }
    reader.skipSpaces()
    let offset = Int64(hours * 60 + minutes) * 60_000
    return isAhead ? offset : -offset
  }

  // MARK: Parts

  /// A time of day, to the minute or finer; without one a day is meant as a whole.
  private struct Time {
    var hour = 0
    var minute = 0
    var second = 0
    var fraction = Fraction()
    /// How much time it leaves open, in milliseconds.
    var unit = LastSeen.day

    init() {}

    init?(_ reader: inout DigitReader) {
      guard let hour = reader.number(digits: 2), reader.take(":"), let minute = reader.number(digits: 2) else {
        return nil
      }
      self.hour = hour
      self.minute = minute
      unit = 60_000
      guard reader.take(":") else { return }
      guard let second = reader.number(digits: 2), let fraction = Fraction(&reader) else { return nil }
      self.second = second
      self.fraction = fraction
      unit = fraction.unit
    }
  }

  /// `.25` of a second, with as many digits as are known.
  struct Fraction {
    var milliseconds: Int64 = 0
    /// How much time it leaves open, in milliseconds.
    var unit: Int64 = 1000
    /// Whether something stands behind the milliseconds.
    var isFiner = false

    init() {}

    /// The whole second when no fraction stands here; nil when there is a point and no digit behind
    /// it.
    init?(_ reader: inout DigitReader) {
      guard reader.take(".") || reader.take(",") else { return }
      guard let first = reader.number(digits: 1) else { return nil }
      unit = 100
      milliseconds = Int64(first) * unit
      while let digit = reader.number(digits: 1) {
        guard unit > 1 else {
          isFiner = isFiner || digit > 0
          continue
        }
        unit /= 10
        milliseconds += Int64(digit) * unit
      }
    }
  }
}
