/// A comparison as a database makes it exactly: with values that the column can hold.
///
/// `price > 4.25` on a column with one digit behind the point is `price > 4.2`, and `price = 4.25`
/// is never true.
public enum ColumnTest: Sendable, Hashable {
  case compare(Predicate.Comparison, Value)
  /// Never empty. A NULL at the end stands for a value that no row holds and that has another type
  /// than the others, where each row has a type of its own.
  case isIn([Value])
  case like(String)
  /// The same for every row that is not NULL. `value` says of what kind the rows are where each row
  /// has a type of its own.
  case always(Bool, value: Value)
}

extension ColumnDescription {
  /// The comparison in terms of this column; throws `invalidPredicate` with what the column can be
  /// compared with.
  public func test(_ comparison: Predicate.Comparison, _ value: Value) throws(StoreError) -> ColumnTest {
    let isOrder = comparison != .equal && comparison != .notEqual
    let place = try place(of: value)
    if isOrder { try checkOrder() }
    switch (place, comparison) {
    case (.at(let value), _): return .compare(comparison, value)
    case (.nowhere, .equal), (.above, .equal): return .always(false, value: kindOf(place, value))
    case (.nowhere, .notEqual), (.above, .notEqual): return .always(true, value: kindOf(place, value))
    case (.nowhere, _): throw unfitText
    case (.above(nil), .less), (.above(nil), .lessOrEqual): return .always(false, value: value)
    case (.above(nil), .greater), (.above(nil), .greaterOrEqual): return .always(true, value: value)
    case (.above(let below?), .less), (.above(let below?), .lessOrEqual): return .compare(.lessOrEqual, below)
    case (.above(let below?), .greater), (.above(let below?), .greaterOrEqual): return .compare(.greater, below)
    }
  }

  /// The column is one of the values, of which there is at least one.
  public func test(in values: [Value]) throws(StoreError) -> ColumnTest {
    if isHeld(values) { return .isIn(values) }
    var held: [Value] = []
    held.reserveCapacity(values.count)
    var sample = Value.null
    for value in values {
      let place = try place(of: value)
      if case .at(let value) = place { held.append(value) } else { sample = kindOf(place, value) }
    }
    if held.isEmpty { return .always(false, value: sample) }
    if case .anything = kind, held.count < values.count, !held.contains(where: \.isNumber) { held.append(.null) }
    return .isIn(held)
  }

  /// Whether all of them are plainly of the column's kind: a hundred thousand ids are looked at
  /// once, and not copied.
  private func isHeld(_ values: [Value]) -> Bool {
    switch kind {
    case .integer(let least, let greatest):
      values.allSatisfy {
        if case .integer(let integer) = $0 {
          integer >= least && (integer < 0 || UInt64(integer) <= greatest)
        } else {
          false
        }
      }
    case .number: values.allSatisfy { if case .integer = $0 { true } else { false } }
    case .text(let rules):
      values.allSatisfy { if case .text(let text) = $0 { rules.repertoire.holds(text) } else { false } }
    default: false
    }
  }

  public func test(like pattern: String) throws(StoreError) -> ColumnTest {
    switch kind {
    case .text(let rules) where rules.hasLike:
      if rules.repertoire.holds(pattern) { return .like(pattern) }
      guard rules.repertoire != .common else { throw unfitText }
      return .always(false, value: .text(pattern))
    case .choice: return .like(pattern)
    case .anything: return .like(pattern)
    default:
      throw StoreError(
        .invalidPredicate, "\(name) is \(shortType), which like does not search: \(hint)")
    }
  }

  private func kindOf(_ place: Place, _ value: Value) -> Value {
    if case .above(let below?) = place { below } else { value }
  }

  private func checkOrder() throws(StoreError) {
    switch kind {
    case .choice, .uuid(isOrdered: false):
      throw StoreError(
        .invalidPredicate, "\(name) is \(shortType), whose values have no order that can be relied on: use =, <> or in")
    default: return
    }
  }

  /// What is said of a value that the column cannot be compared with. The value is not told.
  var unfit: StoreError { StoreError(.invalidPredicate, "\(name) is \(shortType): \(hint)") }

  var unfitText: StoreError {
    StoreError(.invalidPredicate, "\(name) is \(type), which cannot hold every character of this text: use other text")
  }

  private var hint: String {
    switch kind {
    case .integer, .number: "compare it with a number, such as \(name) = 30"
    case .decimal, .real: "compare it with a finite number, such as \(name) >= 12.5"
    case .boolean: "compare it with true or false"
    case .text: "compare it with text in single quotes, such as \(name) = 'word'"
    case .bytes: "compare it with bytes, such as \(name) = x'00ff'"
    case .uuid: "compare it with a UUID, such as \(name) = '0190f3a2-7c41-7000-8000-0123456789ab'"
    case .date: "compare it with a day that exists, such as \(name) >= '2026-01-31'"
    case .moment: "compare it with a moment that exists, in UTC, such as \(name) >= '2026-01-31 12:00:00'"
    case .timeOfDay: "compare it with a time, such as \(name) >= '08:30:00'"
    case .choice(let words): "compare it with one of its words, \(Self.list(words))"
    case .anything: "compare it with a finite number, text or bytes"
    case .array: "an array cannot be compared: ask whether it is null, or compare another column"
    case .json: "JSON cannot be compared: ask whether it is null, or compare another column"
    case .other: "Zonai cannot compare this type exactly: ask whether it is null, or compare another column"
    }
  }

  private static func list(_ words: [String]) -> String {
    words.prefix(20).map { "'\($0)'" }.joined(separator: ", ") + (words.count > 20 ? " and others" : "")
  }
}

extension Value {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .real: true
    case .null, .boolean, .text, .bytes: false
    }
  }
}
