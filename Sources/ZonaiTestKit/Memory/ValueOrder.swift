import ZonaiCore

/// How values of a database compare. Text goes byte by byte: Swift's own `==` takes two spellings of "é" for one, which no
/// binary collation does.
enum ValueOrder {
  /// Whether two values are the same, NULL included: what SQL writes as `IS NOT DISTINCT FROM`.
  static func same(_ left: Value, _ right: Value) -> Bool {
    if left.isNull || right.isNull { return left.isNull && right.isNull }
    return compare(left, right) == 0
  }

  static func same(_ left: RowKey, _ right: RowKey) -> Bool { compare(left, right) == 0 }

  /// Negative, zero or positive; column by column.
  static func compare(_ left: RowKey, _ right: RowKey) -> Int {
    for (left, right) in zip(left.values, right.values) {
      let order = compare(left, right)
      if order != 0 { return order }
    }
    return left.values.count - right.values.count
  }

  /// Negative, zero or positive. Numbers come before text, text before bytes, NULL before all.
  static func compare(_ left: Value, _ right: Value, ignoringCase: Bool = false) -> Int {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): return left < right ? -1 : left == right ? 0 : 1
    case (.text(let left), .text(let right)):
      return ignoringCase ? compare(left.lowercased().utf8, right.lowercased().utf8) : compare(left.utf8, right.utf8)
    case (.bytes(let left), .bytes(let right)): return compare(left, right)
    default: break
    }
    if let left = number(left), let right = number(right) { return left < right ? -1 : left == right ? 0 : 1 }
    return rank(left) - rank(right)
  }

  private static func compare(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Int {
    if left.lexicographicallyPrecedes(right) { return -1 }
    return left.elementsEqual(right) ? 0 : 1
  }

  private static func number(_ value: Value) -> Double? {
    switch value {
    case .boolean(let boolean): boolean ? 1 : 0
    case .integer(let integer): Double(integer)
    case .real(let real): real
    case .null, .text, .bytes: nil
    }
  }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .boolean, .integer, .real: 1
    case .text: 2
    case .bytes: 3
    }
  }
}
