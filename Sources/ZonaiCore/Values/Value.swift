/// One database value, as an adapter read it or will bind it.
///
/// A UUID or a date is whatever the adapter reads it as; the adapter knows the column's type and binds it back as such.
public enum Value: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  case bytes([UInt8])

  public var isNull: Bool { self == .null }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByFloatLiteral, ExpressibleByNilLiteral
{
  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(nilLiteral: ()) { self = .null }
}

/// Plain where JSON has the type (null, booleans, numbers, text); bytes are `{"bytes":"68656c6c6f"}`, since JSON has none.
/// A whole number that was a real is `{"real":1}`, so that it comes back as one.
extension Value: Codable {
  private enum Tag: String, CodingKey { case bytes, real }

  public init(from decoder: any Decoder) throws {
    if let tagged = try? decoder.container(keyedBy: Tag.self) {
      if let hex = try tagged.decodeIfPresent(String.self, forKey: .bytes) {
        guard let bytes = [UInt8](hex: hex) else {
          throw DecodingError.dataCorruptedError(forKey: .bytes, in: tagged, debugDescription: "not hexadecimal")
        }
        self = .bytes(bytes)
      } else {
        self = .real(try tagged.decode(Double.self, forKey: .real))
      }
      return
    }
    let plain = try decoder.singleValueContainer()
    if plain.decodeNil() {
      self = .null
    } else if let boolean = try? plain.decode(Bool.self) {
      self = .boolean(boolean)
    } else if let integer = try? plain.decode(Int64.self) {
      self = .integer(integer)
    } else if let real = try? plain.decode(Double.self) {
      self = .real(real)
    } else {
      self = .text(try plain.decode(String.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .bytes(let bytes):
      var tagged = encoder.container(keyedBy: Tag.self)
      try tagged.encode(bytes.hex, forKey: .bytes)
    case .real(let real) where real == real.rounded():
      var tagged = encoder.container(keyedBy: Tag.self)
      try tagged.encode(real, forKey: .real)
    case .null:
      var plain = encoder.singleValueContainer()
      try plain.encodeNil()
    case .boolean(let boolean):
      var plain = encoder.singleValueContainer()
      try plain.encode(boolean)
    case .integer(let integer):
      var plain = encoder.singleValueContainer()
      try plain.encode(integer)
    case .real(let real):
      var plain = encoder.singleValueContainer()
      try plain.encode(real)
    case .text(let text):
      var plain = encoder.singleValueContainer()
      try plain.encode(text)
    }
  }
}
