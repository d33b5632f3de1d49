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

extension Predicate {
  /// How deep `and`, `or` and `not` may lie in one another; chains do not count.
  public static let depthLimit = 100

  /// What a chain of `and` joins; nil for everything else, and for `true`, an `and` of nothing.
  var conjuncts: [Predicate]? {
    if case .and(let parts) = self, !parts.isEmpty { parts } else { nil }
  }

  var disjuncts: [Predicate]? {
    if case .or(let parts) = self, !parts.isEmpty { parts } else { nil }
  }

  /// The same condition, in which no `and` is a direct part of an `and`, nor an `or` of an `or`;
  /// nil when it is nested deeper than the limit even so.
  public var flattened: Predicate? { flattened(depthLeft: Self.depthLimit) }

  private func flattened(depthLeft: Int) -> Predicate? {
    switch self {
    case .compare, .isIn, .like, .isNull: return self
    case .not(let part):
      guard depthLeft > 0 else { return nil }
      return part.flattened(depthLeft: depthLeft - 1).map { .not($0) }
    case .and(let parts): return Self.flattened(parts, \.conjuncts, depthLeft).map { .and($0) }
    case .or(let parts): return Self.flattened(parts, \.disjuncts, depthLeft).map { .or($0) }
    }
  }

  /// Takes chains apart without recursion: they may be thousands of links long.
  private static func flattened(
    _ parts: [Predicate], _ links: (Predicate) -> [Predicate]?, _ depthLeft: Int
  ) -> [Predicate]? {
    guard depthLeft > 0 else { return nil }
    var waiting = Array(parts.reversed())
    var flat: [Predicate] = []
    flat.reserveCapacity(parts.count)
    while let part = waiting.popLast() {
      if let inner = links(part) {
        waiting.append(contentsOf: inner.reversed())
      } else {
        guard let part = part.flattened(depthLeft: depthLeft - 1) else { return nil }
        flat.append(part)
      }
    }
    return flat
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
  /// A chain of any length is one list: `a && b && c` is not deeper than `a && b`.
  public static func && (left: Predicate, right: Predicate) -> Predicate {
    .and((left.conjuncts ?? [left]) + (right.conjuncts ?? [right]))
  }
  public static func || (left: Predicate, right: Predicate) -> Predicate {
    .or((left.disjuncts ?? [left]) + (right.disjuncts ?? [right]))
  }
  public static prefix func ! (predicate: Predicate) -> Predicate { .not(predicate) }
}
