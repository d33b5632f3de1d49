import ZonaiCore

/// One statement: text with placeholders, and the values for them.
public struct SQLStatement: Sendable {
  public var text: String
  public var values: [Value]
  /// Whether the same text will come again, so that preparing it once pays. Off for statements whose text grows with the
  /// number of their values.
  public var isReused = true
  /// Whether it reads the application's table whole, so that going by an index would only cost.
  public var readsWholeTable = false

  public init(text: String, values: [Value], isReused: Bool = true) {
    self.text = text
    self.values = values
    self.isReused = isReused
  }
}

/// A condition that was rendered once, with placeholders counted from 1: it must be the first in a statement to bind
/// values.
public struct SQLFragment: Sendable {
  public var text: String
  public var values: [Value]
}

/// A statement as it is written in code: literals are its text, and what is interpolated is bound as a value or quoted as
/// a name.
///
///     "UPDATE zonai_jobs SET state = \(state) WHERE id = \(id.rawValue)"
public struct SQLText: ExpressibleByStringInterpolation, Sendable {
  enum Piece: Sendable {
    case text(String)
    case value(Value, type: String?)
    case name(String)
    case words(StaticString)
  }

  var pieces: [Piece]

  public init(stringLiteral value: String) { pieces = [.text(value)] }
  public init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

  public struct StringInterpolation: StringInterpolationProtocol {
    var pieces: [Piece] = []

    public init(literalCapacity: Int, interpolationCount: Int) {
      pieces.reserveCapacity(interpolationCount * 2 + 1)
    }

    public mutating func appendLiteral(_ literal: String) {
      if !literal.isEmpty { pieces.append(.text(literal)) }
    }

    public mutating func appendInterpolation(_ value: Value) { pieces.append(.value(value, type: nil)) }
    public mutating func appendInterpolation(_ text: String) { pieces.append(.value(.text(text), type: nil)) }
    public mutating func appendInterpolation(_ text: String?) {
      pieces.append(.value(text.map(Value.text) ?? .null, type: nil))
    }
    public mutating func appendInterpolation(_ integer: Int64) {
      pieces.append(.value(.integer(integer), type: nil))
    }
    public mutating func appendInterpolation(_ integer: Int64?) {
      pieces.append(.value(integer.map(Value.integer) ?? .null, type: nil))
    }
    public mutating func appendInterpolation(_ integer: Int) {
      pieces.append(.value(.integer(Int64(integer)), type: nil))
    }
    public mutating func appendInterpolation(_ flag: Bool) {
      pieces.append(.value(.integer(flag ? 1 : 0), type: nil))
    }
    /// A name that was found in the schema.
    public mutating func appendInterpolation(name: String) { pieces.append(.name(name)) }
    /// Words of the dialect or of a list in code.
    public mutating func appendInterpolation(words: StaticString) { pieces.append(.words(words)) }
  }
}
