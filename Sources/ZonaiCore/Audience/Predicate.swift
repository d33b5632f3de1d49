/// Which rows: a tree that adapters render with quoted names and bound values only.
///
///     Column("active") == true && Column("locale").in(["en", "fr"])
public indirect enum Predicate: Sendable, Hashable, Codable {
  case compare(String, Comparison, Value)
  case isIn(String, [Value])
  /// SQL's LIKE with `%` and `_`; case as the column's collation has it.
  case like(String, String)
  case isNull(String)
  case and([Predicate])
  case or([Predicate])
  case not(Predicate)

  public enum Comparison: String, Sendable, Hashable, Codable {
    case equal = "="
    case notEqual = "<>"
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  /// Every column that the predicate names, each once, in the order of their first mention.
  public var columns: [String] {
    var seen: [String] = []
    collect(into: &seen)
    return seen
  }

  private func collect(into seen: inout [String]) {
    switch self {
    case .compare(let column, _, _), .isIn(let column, _), .like(let column, _), .isNull(let column):
      if !seen.contains(column) { seen.append(column) }
    case .and(let parts), .or(let parts):
      for part in parts { part.collect(into: &seen) }
    case .not(let part):
      part.collect(into: &seen)
    }
  }
}

/// A column in a predicate.
public struct Column: Sendable, Hashable {
  public let name: String
  public init(_ name: String) { self.name = name }

  /// SQL's `IN`; a hundred thousand values are fine. An empty list accepts nobody.
  public func `in`(_ values: [Value]) -> Predicate { .isIn(name, values) }
  public func like(_ pattern: String) -> Predicate { .like(name, pattern) }
  public var isNull: Predicate { .isNull(name) }
  public var isNotNull: Predicate { .not(.isNull(name)) }

  /// `column == nil` is a null test, never SQL's `= NULL`.
  public static func == (column: Column, value: Value) -> Predicate {
    value.isNull ? .isNull(column.name) : .compare(column.name, .equal, value)
  }
  public static func != (column: Column, value: Value) -> Predicate {
    value.isNull ? .not(.isNull(column.name)) : .compare(column.name, .notEqual, value)
  }
  public static func < (column: Column, value: Value) -> Predicate { .compare(column.name, .less, value) }
  public static func <= (column: Column, value: Value) -> Predicate { .compare(column.name, .lessOrEqual, value) }
  public static func > (column: Column, value: Value) -> Predicate { .compare(column.name, .greater, value) }
  public static func >= (column: Column, value: Value) -> Predicate { .compare(column.name, .greaterOrEqual, value) }
}

extension Predicate {
  public static func && (left: Predicate, right: Predicate) -> Predicate { .and([left, right]) }
  public static func || (left: Predicate, right: Predicate) -> Predicate { .or([left, right]) }
  public static prefix func ! (predicate: Predicate) -> Predicate { .not(predicate) }
}
