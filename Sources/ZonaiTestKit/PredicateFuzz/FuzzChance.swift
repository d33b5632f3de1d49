import ZonaiCore

/// Random tables, rows and predicates. The same seed gives the same ones.
struct FuzzChance {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 0x1234_5678_9abc_def1 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }
  mutating func isOne(in count: Int) -> Bool { below(count) == 0 }
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  // MARK: Rows

  mutating func cell(of column: FuzzColumn) -> FuzzCell {
    if isOne(in: 8), !column.isNotNull { return .null }
    switch column.meaning {
    case .text where !column.letters.isEmpty && !isOne(in: 4): return .text(text(of: column.letters))
    case .loose where !column.letters.isEmpty && isOne(in: 2): return .text(text(of: column.letters))
    case .single where isOne(in: 3): return .single(Float(bitPattern: UInt32(truncatingIfNeeded: next()) & 0xbf7f_ffff))
    case .double where isOne(in: 3): return .double(Double(bitPattern: next() & 0xbfef_ffff_ffff_ffff))
    default: return column.cells.isEmpty ? .null : pick(column.cells)
    }
  }

  private mutating func text(of letters: [String]) -> String {
    (0..<below(4)).map { _ in pick(letters) }.joined()
  }

  // MARK: Predicates

  mutating func predicate(_ columns: [(name: String, column: FuzzColumn, cells: [FuzzCell])], depth: Int) -> Predicate {
    switch below(depth == 0 ? 12 : 20) {
    case 0..<12: leaf(pick(columns))
    case 12..<15: .and((0..<(1 + below(3))).map { _ in predicate(columns, depth: depth - 1) })
    case 15..<18: .or((0..<(1 + below(3))).map { _ in predicate(columns, depth: depth - 1) })
    default: .not(predicate(columns, depth: depth - 1))
    }
  }

  private mutating func leaf(_ place: (name: String, column: FuzzColumn, cells: [FuzzCell])) -> Predicate {
    let all: [Predicate.Comparison] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
    switch below(12) {
    case 0: return .isNull(place.name)
    case 1, 2:
      let count = isOne(in: 20) ? 200 : below(6)
      return .isIn(place.name, (0..<count).map { _ in value(for: place.column, place.cells) })
    case 3:
      guard isLikeable(place.column) || isOne(in: 5) else {
        return .compare(place.name, pick(all), value(for: place.column, place.cells))
      }
      return .like(place.name, pattern(for: place.column, place.cells))
    default: return .compare(place.name, pick(all), value(for: place.column, place.cells))
    }
  }

  private func isLikeable(_ column: FuzzColumn) -> Bool {
    switch column.meaning {
    case .text, .word, .loose: true
    default: false
    }
  }

  private mutating func pattern(for column: FuzzColumn, _ cells: [FuzzCell]) -> String {
    let letters = column.letters + ["%", "_", "%", "\\", "|", "*", "[a]"]
    var pattern = text(of: letters)
    if case .text(let text) = pick(cells + [.null]), isOne(in: 2) {
      pattern = text.unicodeScalars.map { isOne(in: 3) ? pick(["%", "_"]) : String(Character($0)) }.joined()
    }
    return pattern
  }

  /// Mostly near what the column holds; sometimes what it never could.
  private mutating func value(for column: FuzzColumn, _ cells: [FuzzCell]) -> Value {
    if isOne(in: 40) { return pick(Self.foreign) }
    if isOne(in: 3) {
      switch column.meaning {
      case .date, .moment: return .text(pick(Self.moments))
      case .timeOfDay: return .text(pick(Self.times))
      case .number, .double, .single, .looseNumber: return pick(Self.numbers)
      case .text where !column.letters.isEmpty: return .text(text(of: column.letters + ["é", "😀", "ß"]))
      case .loose: return pick(Self.numbers + Self.moments.map { .text($0) } + [.text(text(of: column.letters))])
      case .uuid: return .text(pick(["00000000-0000-4000-8000-00000000000A", "0", "{}", ""]))
      case .word: return .text(pick(["", "ACTIVE", "active ", "1", "nobody"]))
      default: break
      }
    }
    return near(pick(cells.isEmpty ? column.cells + [.null] : cells), column)
  }

  private mutating func near(_ cell: FuzzCell, _ column: FuzzColumn) -> Value {
    switch cell {
    case .null, .sql: return pick(Self.numbers + [.text("")])
    case .integer(let integer):
      switch below(5) {
      case 0: return .integer(integer &+ 1)
      case 1: return .real(Double(integer))
      case 2: return .text("\(integer)" + pick(["", ".0", ".5", "e0", ".00000000000000000001"]))
      default: return .integer(integer)
      }
    case .digits(let digits):
      if isOne(in: 4), let real = Double(digits) { return .real(real) }
      if isOne(in: 4), let whole = Int64(digits.prefix { $0 != "." }) { return .integer(whole) }
      return .text(digits + pick(["", "", "1", "0", "5"]).filter { _ in digits.contains(".") })
    case .double(let double):
      if isOne(in: 3) { return .text("\(double)") }
      return .real(pick([double, double, double.nextUp, double.nextDown]))
    case .single(let single):
      switch below(5) {
      case 0: return .text("\(single)")
      case 1: return .real(Double(single.nextUp))
      case 2: return .real(Double("\(single)") ?? 0)
      case 3: return .real(Double(single).nextDown)
      default: return .real(Double(single))
      }
    case .boolean(let boolean): return isOne(in: 3) ? .integer(boolean ? 1 : 0) : .boolean(boolean)
    case .text(let text):
      switch below(8) {
      case 0: return .text(text + " ")
      case 1: return .text(text.uppercased())
      case 2: return .text(String(text.dropLast()))
      case 3: return .text(text + pick(["\0", "a", "\t"]))
      default: return .text(text)
      }
    case .bytes(let bytes): return .bytes(pick([bytes, bytes, bytes + [0], bytes + [1], Array(bytes.dropLast())]))
    case .time(let text):
      switch below(6) {
      case 0: return .text(text + (text.contains(":") ? "1" : " 00:00:00.0000001"))
      case 1: return .text(String(text.prefix(10)))
      case 2: return .text(text + (text.contains(":") ? "" : "T00:00") + "Z")
      default: return .text(text)
      }
    }
  }

  private static let foreign: [Value] = [
    .text("noon"), .text(""), .text(" "), 0, 1, .boolean(true), .real(.nan), .real(.infinity), .bytes([0]), .bytes([]),
    .text("0"), .text("a\0b"), .text("null"), .text("2026-13-01"), .real(0.5), .integer(.max), .null,
  ]

  private static let numbers: [Value] = [
    0, 1, -1, 70, 2026, 127, 128, 255, 256, -129, 32_768, 65_536, .integer(.max), .integer(.min), 9_007_199_254_740_993,
    4_294_967_296, .boolean(true), .boolean(false), .real(0.1), .real(-0.0), .real(0.5), .real(1e300), .real(-1e300),
    .real(.leastNonzeroMagnitude), .real(0x1p63), .real(0x1p64), .real(2.5), .real(1e15), .real(16_777_217),
    .real(3.4028235e38),
    .text("0.1"), .text("0.10"), .text("18446744073709551615"), .text("18446744073709551616"), .text("-0.0000001"),
    .text("9223372036854775808"), .text("12345678901234567890.123456789"), .text("1e400"), .text("-1e400"),
    .text("1e-400"), .text(".5"), .text("5."), .text("+5"), .text("1e2"), .text("0x10"), .text("5 "), .text(" 5"),
    .text("nan"), .text("inf"), .text("1_0"), .text("--1"), .text("0.30000001192092896"), .text("16777217"),
    .text("99999999.99"), .text("99999999.995"), .text("-99999999.999"), .text("2.25"), .text("2.3"),
  ]

  private static let moments = [
    "2026-01-31", "2026-02-29", "2024-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "0000-00-00", "0000-01-01",
    "0001-01-01", "9999-12-31", "10000-01-01", "2026-1-1", "2026-01-31 12:00:00", "2026-01-31T12:00",
    "2026-01-31 24:00:00",
    "2026-01-31 23:59:60", "2026-01-31 25:00:00", "2026-01-31 12:00:00.000001", "2026-01-31 12:00:00.0000001",
    "2026-01-31 12:00:00Z", "2026-01-31T12:00:00.5z", "2026-01-31 12:00:00+02:00", "2026-01-31 12", "2026-01-31 ",
    "20260131", "26-01-31", "2026/01/31", "now", "today", "infinity", "-infinity", "epoch", "noon", "", "1970-01-01",
    "2038-01-19 03:14:08", "1969-12-31 23:59:59.999999", "2026-01-31 00:00:00", "2026-01-31 00:00:00.0",
    "2026-01-31 12:00:00.", "2026-01-31  12:00:00",
  ]

  private static let times = [
    "00:00:00", "00:00", "12:30", "12:30:15.5", "23:59:59.999999", "24:00:00", "24:00:01", "25:00:00", "-00:00:01",
    "-838:00:00", "838:00:00", "838:59:59", "839:00:00", "12:60:00", "12:00:60", "1:00", "noon", "", "12:30:15.1234567",
    "-12:30:15.1234567", "123000", "12", "now", "12:30Z", "allballs",
  ]
}
