import ZonaiCore

/// What a predicate accepts, worked out row by row from what the values mean. It knows nothing of
/// SQL, nor of how a store makes a value fit a column.
struct FuzzModel {
  let columns: [String: FuzzColumn]

  /// Whether the predicate must be taken: every comparison in it has a meaning.
  func hasMeaning(_ predicate: Predicate) -> Bool {
    switch predicate {
    case .compare(let name, let comparison, let value):
      guard let column = columns[name] else { return false }
      let isOrder = comparison != .equal && comparison != .notEqual
      return takes(value, column.meaning) && (!isOrder || hasOrder(column.meaning, value))
    case .isIn(let name, let values):
      guard let column = columns[name] else { return false }
      return values.allSatisfy { takes($0, column.meaning) }
    case .like(let name, _):
      switch columns[name]?.meaning {
      case .text(let collation): return collation.hasLike
      case .loose, .word: return true
      default: return false
      }
    case .isNull: return true
    case .and(let parts), .or(let parts): return parts.allSatisfy(hasMeaning)
    case .not(let part): return hasMeaning(part)
    }
  }

  /// nil where SQL says unknown.
  func test(_ predicate: Predicate, _ row: [String: FuzzCell]) -> Bool? {
    switch predicate {
    case .compare(let name, let comparison, let value):
      guard let column = columns[name], let order = order(row[name] ?? .null, value, column.meaning) else { return nil }
      switch comparison {
      case .equal: return order == 0
      case .notEqual: return order != 0
      case .less: return order < 0
      case .lessOrEqual: return order <= 0
      case .greater: return order > 0
      case .greaterOrEqual: return order >= 0
      }
    case .isIn(let name, let values):
      return any(values.map { test(.compare(name, .equal, $0), row) })
    case .like(let name, let pattern):
      guard case .text(let text) = row[name] else { return nil }
      switch columns[name]?.meaning {
      case .text(let collation), .loose(let collation, _):
        if collation.likeEndsAtZero, text.unicodeScalars.contains("\0") { return nil }
        return collation.isLike(text, pattern)
      case .word: return FuzzCollation().isLike(text, pattern)
      default: return nil
      }
    case .isNull(let name): return (row[name] ?? .null) == .null
    case .and(let parts): return any(parts.map { test($0, row).map { !$0 } }).map { !$0 }
    case .or(let parts): return any(parts.map { test($0, row) })
    case .not(let part): return test(part, row).map { !$0 }
    }
  }

  private func any(_ results: [Bool?]) -> Bool? {
    if results.contains(true) { return true }
    return results.contains(nil) ? nil : false
  }

  // MARK: Values

  private func takes(_ value: Value, _ meaning: FuzzMeaning) -> Bool {
    switch (meaning, value) {
    case (_, .null): false
    case (.number(let isWhole), .boolean): isWhole
    case (.double, .boolean), (.single, .boolean): false
    case (.looseNumber, .boolean), (.loose, .boolean): true
    case (.number, _), (.double, _), (.single, _), (.looseNumber, _): number(value) != nil
    case (.boolean, .boolean), (.boolean, .integer(0)), (.boolean, .integer(1)): true
    case (.text, .text), (.bytes, .bytes), (.loose, .text), (.loose, .bytes): true
    case (.loose, .integer), (.loose, .real): number(value) != nil
    case (.uuid, .text(let text)):
      text.count == 36
        && text.enumerated().allSatisfy { [8, 13, 18, 23].contains($0) ? $1 == "-" : $1.isASCII && $1.isHexDigit }
    case (.date, .text(let text)), (.moment, .text(let text)): moment(text) != nil
    case (.timeOfDay(let hours), .text(let text)):
      nanoseconds(text).map { $0 >= hours.lowerBound * Self.hour && $0 <= hours.upperBound * Self.hour } ?? false
    case (.word(let words), .text(let text)): words.contains { $0.utf8.elementsEqual(text.utf8) }
    default: false
    }
  }

  private func hasOrder(_ meaning: FuzzMeaning, _ value: Value) -> Bool {
    switch (meaning, value) {
    case (.text(let collation), .text(let text)): text.unicodeScalars.allSatisfy(collation.holds)
    case (.uuid(let isOrdered), _): isOrdered
    case (.word, _): false
    default: true
    }
  }

  private func number(_ value: Value) -> FuzzNumber? {
    switch value {
    case .integer(let integer): FuzzNumber(String(integer))
    case .real(let real): FuzzNumber(real)
    case .text(let text): FuzzNumber(text)
    case .boolean(let boolean): FuzzNumber(boolean ? "1" : "0")
    case .null, .bytes: nil
    }
  }

  /// Negative where the cell is less; nil where the two have no order, NULL among them.
  private func order(_ cell: FuzzCell, _ value: Value, _ meaning: FuzzMeaning) -> Int? {
    switch (meaning, cell, value) {
    case (_, .null, _): return nil
    case (.loose(_, convertsText: true), _, .text(let text)) where FuzzNumber(text) != nil:
      return orderOfNumbers(cell, value)
    case (.loose(let collation, _), .text(let held), .text(let text)): return collation.compare(held, text)
    case (.loose, .bytes(let held), .bytes(let bytes)): return compare(held, bytes)
    case (.loose, _, .text), (.loose, _, .bytes): return nil
    case (.number, _, _), (.double, _, _), (.single, _, _), (.looseNumber, _, _), (.loose, _, _):
      return orderOfNumbers(cell, value)
    case (.boolean, .boolean(let held), _):
      guard let asked = number(value), let held = FuzzNumber(held ? "1" : "0") else { return nil }
      return held.compare(asked)
    case (.text(let collation), .text(let held), .text(let text)):
      if !text.unicodeScalars.allSatisfy(collation.holds) { return 1 }
      return collation.compare(held, text)
    case (.bytes(let width), .bytes(let held), .bytes(let bytes)):
      var (held, bytes) = (held, bytes)
      while let width, held.count < width { held.append(0) }
      while width != nil, bytes.count < held.count { bytes.append(0) }
      while width != nil, bytes.count > held.count, bytes.last == 0 { bytes.removeLast() }
      return compare(held, bytes)
    case (.uuid, .text(let held), .text(let text)):
      return held.lowercased() == text.lowercased() ? 0 : held.lowercased() < text.lowercased() ? -1 : 1
    case (.date, .time(let held), .text(let text)):
      guard let moment = moment(text) else { return nil }
      return held + " 00:00:00" == moment ? 0 : held + " 00:00:00" < moment ? -1 : 1
    case (.moment, .time(let held), .text(let text)):
      guard let moment = moment(text) else { return nil }
      let trimmed = trimmed(held)
      return trimmed == moment ? 0 : trimmed < moment ? -1 : 1
    case (.timeOfDay, .time(let held), .text(let text)):
      guard let held = nanoseconds(held), let asked = nanoseconds(text) else { return nil }
      return held - asked
    case (.word, .text(let held), .text(let text)): return held.utf8.elementsEqual(text.utf8) ? 0 : 1
    default: return nil
    }
  }

  private func orderOfNumbers(_ cell: FuzzCell, _ value: Value) -> Int? {
    guard let asked = number(value) else { return nil }
    switch cell {
    case .integer(let integer): return FuzzNumber(String(integer))?.compare(asked)
    // "NaN" is none.
    case .digits("Infinity"): return 1
    case .digits("-Infinity"): return -1
    case .digits(let digits): return FuzzNumber(digits)?.compare(asked)
    case .double(let double):
      if case .real(let real) = value { return double.isNaN ? nil : double < real ? -1 : double == real ? 0 : 1 }
      if double.isInfinite { return double < 0 ? -1 : 1 }
      return FuzzNumber(double)?.compare(asked)
    case .single(let single):
      if case .real(let real) = value, Double(single) == real { return 0 }
      if single.isInfinite { return single < 0 ? -1 : 1 }
      return FuzzNumber(single)?.compare(asked)
    default: return nil
    }
  }

  private func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    for (one, other) in zip(left, right) where one != other { return one < other ? -1 : 1 }
    return left.count - right.count
  }

  // MARK: Times

  private static let hour = 3_600_000_000_000

  /// `2026-01-31 12:00:00` with the fraction's digits, no zeros at the end; nil for one that does
  /// not exist.
  private func moment(_ text: String) -> String? {
    var parts = text.split(omittingEmptySubsequences: false) { $0 == " " || $0 == "T" || $0 == "t" }.map(String.init)
    guard parts.count <= 2 else { return nil }
    let day = parts[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard day.map(\.utf8.count) == [4, 2, 2], day.joined().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let year = Int(day[0]), year > 0, let month = Int(day[1]), (1...12).contains(month), let date = Int(day[2]),
      date > 0
    else { return nil }
    let isLeap = year.isMultiple(of: 400) || (year.isMultiple(of: 4) && !year.isMultiple(of: 100))
    guard date <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] else { return nil }
    if parts.count == 1 { return parts[0] + " 00:00:00" }
    if parts[1].hasSuffix("Z") || parts[1].hasSuffix("z") { parts[1].removeLast() }
    guard parts[1].utf8.first != UInt8(ascii: "-"), parts[1].prefix(while: \.isNumber).count == 2,
      let nanoseconds = nanoseconds(parts[1]), nanoseconds < 24 * Self.hour
    else { return nil }
    return parts[0] + " " + trimmed(parts[1].utf8.count == 5 ? parts[1] + ":00" : parts[1])
  }

  private func trimmed(_ text: String) -> String {
    guard text.contains(".") else { return text }
    var text = text
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  /// Of `12:30`, `12:30:15`, `-100:30:15.123456789`; no more digits are asked for.
  private func nanoseconds(_ text: String) -> Int? {
    let isNegative = text.hasPrefix("-")
    let parts = (isNegative ? text.dropFirst() : text[...]).split(separator: ":", omittingEmptySubsequences: false)
    func two(_ part: Substring) -> Int? {
      guard part.utf8.count == 2, part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(part),
        number < 60
      else { return nil }
      return number
    }
    guard parts.count == 2 || parts.count == 3, [2, 3].contains(parts[0].utf8.count),
      parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let hours = Int(parts[0]), let minutes = two(parts[1])
    else { return nil }
    var nanoseconds = hours * Self.hour + minutes * 60_000_000_000
    if parts.count == 3 {
      let seconds = parts[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard let whole = two(seconds[0]) else { return nil }
      nanoseconds += whole * 1_000_000_000
      if seconds.count == 2 {
        guard (1...9).contains(seconds[1].utf8.count), seconds[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
          let fraction = Int(seconds[1] + String(repeating: "0", count: 9 - seconds[1].utf8.count))
        else { return nil }
        nanoseconds += fraction
      }
    }
    return isNegative ? -nanoseconds : nanoseconds
  }
}
