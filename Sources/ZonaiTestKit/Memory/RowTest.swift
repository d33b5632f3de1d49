import ZonaiCore

/// A predicate made ready for one table: true, false, or nil where SQL would say unknown.
struct RowTest {
  private let test: ([Value]) -> Bool?

  init(_ predicate: Predicate?, in table: MemoryTable) {
    test = predicate.map { RowTest.make($0, table) } ?? { _ in true }
  }

  func accepts(_ row: [Value]) -> Bool { test(row) == true }

  private static func make(_ predicate: Predicate, _ table: MemoryTable) -> ([Value]) -> Bool? {
    switch predicate {
    case .compare(let column, let comparison, let value):
      make(column, table) { column throws(StoreError) in try column.test(comparison, value) }
    case .isIn(_, let values) where values.isEmpty: { _ in false }
    case .isIn(let column, let values):
      make(column, table) { column throws(StoreError) in try column.test(in: values) }
    case .like(let column, let pattern):
      make(column, table) { column throws(StoreError) in try column.test(like: pattern) }
    case .isNull(let column):
      { [place = table.position(of: column)] row in place.map { row[$0].isNull } }
    case .and(let parts):
      { [tests = parts.map { make($0, table) }] row in
        var isUnknown = false
        for test in tests {
          guard let known = test(row) else {
            isUnknown = true
            continue
          }
          if !known { return false }
        }
        return isUnknown ? nil : true
      }
    case .or(let parts):
      { [tests = parts.map { make($0, table) }] row in
        var isUnknown = false
        for test in tests {
          guard let known = test(row) else {
            isUnknown = true
            continue
          }
          if known { return true }
        }
        return isUnknown ? nil : false
      }
    case .not(let part):
      { [test = make(part, table)] row in test(row).map { !$0 } }
    }
  }

  /// A test of one column. What the column cannot be compared with was refused before, and is
  /// unknown here.
  private static func make(
    _ name: String, _ table: MemoryTable, _ test: (ColumnDescription) throws(StoreError) -> ColumnTest
  ) -> ([Value]) -> Bool? {
    guard let place = table.position(of: name) else { return { _ in nil } }
    let kind = table.sketch.columns[place].kind
    let column = ColumnDescription(name: name, type: kind.rawValue, kind: kind.compared, isNullable: true)
    let resolved: ColumnTest
    do throws(StoreError) { resolved = try test(column) } catch { return { _ in nil } }
    switch resolved {
    case .compare(let comparison, let value): return makeComparison(place, kind, comparison, value)
    case .isIn(let values): return makeList(place, kind, values)
    case .like(let pattern): return makeLike(place, kind, pattern)
    case .always(let isTrue, _): return { row in row[place].isUnknown ? nil : isTrue }
    }
  }

  private static func makeComparison(
    _ place: Int, _ kind: ColumnSketch.Kind, _ comparison: Predicate.Comparison, _ value: Value
  ) -> ([Value]) -> Bool? {
    let ignoringCase = kind == .caseInsensitiveText
    return { row in
      if row[place].isUnknown { return nil }
      let order = ValueOrder.compare(row[place], value, ignoringCase: ignoringCase)
      return switch comparison {
      case .equal: order == 0
      case .notEqual: order != 0
      case .less: order < 0
      case .lessOrEqual: order <= 0
      case .greater: order > 0
      case .greaterOrEqual: order >= 0
      }
    }
  }

  private static func makeList(
    _ place: Int, _ kind: ColumnSketch.Kind, _ values: [Value]
  ) -> ([Value]) -> Bool? {
    if kind == .integer, let integers = set(of: values, { if case .integer(let integer) = $0 { integer } else { nil } })
    {
      return { row in
        guard case .integer(let integer) = row[place] else { return row[place].isNull ? nil : false }
        return integers.contains(integer)
      }
    }
    if kind == .text, let texts = set(of: values, { if case .text(let text) = $0 { Array(text.utf8) } else { nil } }) {
      return { row in
        guard case .text(let text) = row[place] else { return row[place].isNull ? nil : false }
        return texts.contains(Array(text.utf8))
      }
    }
    let ignoringCase = kind == .caseInsensitiveText
    let order = values.sorted { ValueOrder.compare($0, $1, ignoringCase: ignoringCase) < 0 }
    return { row in
      if row[place].isUnknown { return nil }
      var low = 0
      var high = order.count
      while low < high {
        let middle = (low + high) / 2
        let comparison = ValueOrder.compare(order[middle], row[place], ignoringCase: ignoringCase)
        if comparison == 0 { return true }
        if comparison < 0 { low = middle + 1 } else { high = middle }
      }
      return false
    }
  }

  /// The values as a set, which a hundred thousand of them want to be; nil when some are of another type.
  private static func set<Element: Hashable>(of values: [Value], _ element: (Value) -> Element?) -> Set<Element>? {
    var set = Set<Element>(minimumCapacity: values.count)
    for value in values {
      guard let element = element(value) else { return nil }
      set.insert(element)
    }
    return set
  }

  private static func makeLike(
    _ place: Int, _ kind: ColumnSketch.Kind, _ pattern: String
  ) -> ([Value]) -> Bool? {
    let ignoringCase = kind == .caseInsensitiveText
    let pattern = Array((ignoringCase ? pattern.lowercased() : pattern).unicodeScalars)
    return { row in
      guard case .text(let text) = row[place] else { return row[place].isNull ? nil : false }
      return matches(Array((ignoringCase ? text.lowercased() : text).unicodeScalars)[...], pattern[...])
    }
  }

  private static func matches(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == "%" {
      return (text.startIndex...text.endIndex).contains { matches(text[$0...], pattern.dropFirst()) }
    }
    guard let character = text.first, first == "_" || first == character else { return false }
    return matches(text.dropFirst(), pattern.dropFirst())
  }
}

extension Value {
  /// NULL and NaN are compared with nothing.
  fileprivate var isUnknown: Bool {
    if case .real(let real) = self { real.isNaN } else { isNull }
  }
}
