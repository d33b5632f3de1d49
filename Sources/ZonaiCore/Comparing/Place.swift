/// Where a value lies among those that a column can hold.
enum Place {
  case at(Value)
  /// Between two of them: `below` is the greatest that is less, nil when there is none.
  case above(Value?)
  /// The column cannot hold it, and it has no place in the order.
  case nowhere
}

extension ColumnDescription {
  /// The value's place in this column; throws what the column can be compared with instead.
  func place(of value: Value) throws(StoreError) -> Place {
    switch (kind, value) {
    case (.integer(let least, let greatest), .integer(let integer))
    where integer >= least && (integer < 0 || UInt64(integer) <= greatest):
      return .at(value)
    case (.integer(let least, let greatest), _):
      let number = try number(value, allowsBoolean: true)
      return Place.among(least: least, greatest: greatest, number)
    case (.decimal(let limits), _):
      return Place.among(limits, try number(value))
    case (.real(let isSingle), _):
      let number = try number(value)
      return isSingle ? Place.amongSingles(number, value) : Place.amongDoubles(number, value)
    case (.number, .integer): return .at(value)
    case (.number, _):
      return Place.amongNumbers(try number(value, allowsBoolean: true), value)
    case (.boolean, .boolean): return .at(value)
    case (.boolean, .integer(let bit)) where bit == 0 || bit == 1: return .at(.boolean(bit == 1))
    case (.text(let rules), .text(let text)):
      if rules.repertoire.holds(text) { return .at(value) }
      // What a character set of which no more is known can hold is not known either.
      guard rules.repertoire != .common else { throw unfitText }
      return .nowhere
    case (.bytes(let width), .bytes(let bytes)): return Place.among(width: width, bytes)
    case (.uuid, .text(let text)):
      guard let uuid = Place.uuid(text) else { throw unfit }
      return .at(.text(uuid))
    case (.date, .text(let text)):
      guard let moment = StrictTime.moment(text) else { throw unfit }
      return moment.isMidnight ? .at(.text(moment.date)) : .above(.text(moment.date))
    case (.moment, .text(let text)):
      guard let moment = StrictTime.moment(text) else { throw unfit }
      return moment.isCut ? .above(.text(moment.text)) : .at(.text(moment.text))
    case (.timeOfDay(let least, let greatest), .text(let text)):
      guard let time = StrictTime.time(text), time.microseconds >= Int64(least) * 3_600_000_000,
        // What was cut off lies beyond the last hour too.
        time.microseconds + (time.isCut ? 1 : 0) <= Int64(greatest) * 3_600_000_000
      else { throw unfit }
      let written = Value.text(StrictTime.text(time.microseconds))
      return time.isCut ? .above(written) : .at(written)
    case (.choice(let words), .text(let word)):
      guard words.contains(where: { $0.utf8.elementsEqual(word.utf8) }) else { throw unfit }
      return .at(value)
    case (.anything(let convertsText), _): return try anything(value, convertsText: convertsText)
    case (.boolean, _), (.text, _), (.bytes, _), (.uuid, _), (.date, _), (.moment, _), (.timeOfDay, _), (.choice, _),
      (.array, _), (.json, _), (.other, _):
      throw unfit
    }
  }

  private func anything(_ value: Value, convertsText: Bool) throws(StoreError) -> Place {
    switch value {
    case .text(let text):
      guard convertsText, let number = ExactDecimal(text) else { return .at(value) }
      return Place.amongNumbers(number, value)
    case .bytes: return .at(value)
    case .boolean, .integer, .real: return Place.amongNumbers(try number(value, allowsBoolean: true), value)
    case .null: throw unfit
    }
  }

  private func number(_ value: Value, allowsBoolean: Bool = false) throws(StoreError) -> ExactDecimal {
    var number: ExactDecimal?
    switch value {
    case .integer(let integer): number = ExactDecimal(integer)
    case .real(let real): number = ExactDecimal(real)
    case .text(let text): number = ExactDecimal(text)
    case .boolean(let boolean): number = allowsBoolean ? ExactDecimal(boolean ? 1 : 0 as Int64) : nil
    case .null, .bytes: break
    }
    guard let number else { throw unfit }
    return number
  }
}

extension Place {
  static func among(least: Int64, greatest: UInt64, _ number: ExactDecimal) -> Place {
    if number < ExactDecimal(least) { return .above(nil) }
    let whole = number.floored()
    let top = ExactDecimal(greatest)
    if whole > top { return .above(integer(top)) }
    return whole == number ? .at(integer(whole)) : .above(integer(whole))
  }

  /// More than 63 bits are their digits.
  private static func integer(_ number: ExactDecimal) -> Value {
    Int64(number.text).map { .integer($0) } ?? .text(number.text)
  }

  static func among(_ limits: DecimalLimits?, _ number: ExactDecimal) -> Place {
    guard let limits else { return .at(.text(number.text)) }
    let known = number.floored(scale: limits.scale)
    let greatest = ExactDecimal.greatest(limits)
    if known > greatest { return .above(.text(greatest.text)) }
    // Their opposites are as many.
    if known.isNegative, known.wholeDigits > limits.precision - limits.scale { return .above(nil) }
    return known == number ? .at(.text(number.text)) : .above(.text(known.text))
  }

  static func amongDoubles(_ number: ExactDecimal, _ value: Value) -> Place {
    if case .real(let real) = value { return .at(.real(real == 0 ? 0 : real)) }
    guard let near = Double(number.text), let held = ExactDecimal(near) else {
      return .above(.real(number.isNegative ? -.infinity : .greatestFiniteMagnitude))
    }
    if number == held { return .at(.real(near == 0 ? 0 : near)) }
    return .above(.real(held < number ? near : near.nextDown))
  }

  static func amongSingles(_ number: ExactDecimal, _ value: Value) -> Place {
    if case .real(let real) = value, let single = Float(exactly: real) {
      return .at(.real(single == 0 ? 0 : Double(single)))
    }
    guard let near = Float(number.text), let held = ExactDecimal(near) else {
      return .above(.real(number.isNegative ? -.infinity : Double(Float.greatestFiniteMagnitude)))
    }
    if number == held { return .at(.real(near == 0 ? 0 : Double(near))) }
    return .above(.real(Double(held < number ? near : near.nextDown)))
  }

  static func amongNumbers(_ number: ExactDecimal, _ value: Value) -> Place {
    let whole = Int64(number.floored().text)
    if let whole, number.isWhole { return .at(.integer(whole)) }
    let place = amongDoubles(number, value)
    // Between two doubles may lie whole numbers that are none.
    guard let whole, case .above(.real(let real)?) = place, ExactDecimal(real).map({ $0 < ExactDecimal(whole) }) ?? true
    else { return place }
    return .above(.integer(whole))
  }

  static func among(width: Int?, _ bytes: [UInt8]) -> Place {
    guard let width else { return .at(.bytes(bytes)) }
    let held = Array(bytes.prefix(width))
    if bytes.dropFirst(width).contains(where: { $0 != 0 }) { return .above(.bytes(held)) }
    return .at(.bytes(held + Array(repeating: 0, count: width - held.count)))
  }

  /// In lower case; nil when it has another form than 8-4-4-4-12.
  static func uuid(_ text: String) -> String? {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.map(\.count) == [8, 4, 4, 4, 12], parts.joined().allSatisfy({ $0.hexDigit != nil }) else { return nil }
    return text.lowercased()
  }
}
