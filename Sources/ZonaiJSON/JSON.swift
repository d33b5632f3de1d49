/// A JSON value.
///
/// A number without fraction and exponent that fits 64 bits is an `integer`, every other one a `number`; so a large
/// integer loses its last digits, as it does in most other readers. Equality is by case: `1` and `1.0` differ.
public enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])
}

extension JSON {
  /// The member of that name; nil when there is none or the value is no object. A member that is `null` is `.null`.
  public subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// The element at that place; nil outside the array, and when the value is no array.
  public subscript(index: Int) -> JSON? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// Whether the value is `null`.
  public var isNull: Bool { self == .null }

  /// The truth value, if it is one; `0` and `"true"` are none.
  public var bool: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }

  /// The whole number, if it is one that fits 64 bits; `3.0` counts as 3.
  public var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): Self.whole(value)
    default: nil
    }
  }

  // `Int64(exactly:)` would need the mathematics library, which nothing else here links.
  private static func whole(_ value: Double) -> Int64? {
    guard value >= -0x1p63, value < 0x1p63, Double(Int64(value)) == value else { return nil }
    return Int64(value)
  }

  /// The number as floating point, whether it was written with a fraction or without.
  public var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The text, if it is text.
  public var string: String? {
    guard case .string(let value) = self else { return nil }
    return value
  }

  /// The elements, if it is an array.
  public var array: [JSON]? {
    guard case .array(let value) = self else { return nil }
    return value
  }

  /// The members, if it is an object.
  public var object: [String: JSON]? {
    guard case .object(let value) = self else { return nil }
    return value
  }

  /// What kind of value it is, as a word for sentences: "an object", "text", "a number".
  public var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .integer, .number: "a number"
    case .string: "text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSON)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}
