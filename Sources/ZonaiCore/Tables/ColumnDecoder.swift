/// Makes a `Decodable` type of one column's value. Its errors show the value's type, never the value.
struct ColumnDecoder: Decoder, SingleValueDecodingContainer {
  let value: Value
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch(Key.self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Value].self) }

  func decodeNil() -> Bool { value.isNull }

  func decode(_ type: Bool.Type) throws -> Bool {
    switch value {
    case .boolean(let boolean): return boolean
    case .integer(0): return false
    case .integer(1): return true
    default: throw mismatch(type)
    }
  }

  func decode(_ type: String.Type) throws -> String {
    guard case .text(let text) = value else { throw mismatch(type) }
    return text
  }

  func decode(_ type: Double.Type) throws -> Double {
    switch value {
    case .real(let real): return real
    case .integer(let integer): return Double(integer)
    default: throw mismatch(type)
    }
  }

  func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

  func integer<Number: FixedWidthInteger>() throws -> Number {
    guard case .integer(let integer) = value, let number = Number(exactly: integer) else {
      throw mismatch(Number.self)
    }
    return number
  }

  func decode(_ type: Int.Type) throws -> Int { try integer() }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
  func decode(_ type: UInt.Type) throws -> UInt { try integer() }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if case .bytes(let bytes) = value, let bytes = bytes as? T { return bytes }
    if let value = value as? T { return value }
    return try T(from: self)
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    let kind =
      switch value {
      case .null: "NULL"
      case .boolean: "a boolean"
      case .integer: "a whole number"
      case .real: "a number"
      case .text: "text"
      case .bytes: "bytes"
      }
    return .typeMismatch(
      type, .here(codingPath, "column \(codingPath.last?.stringValue ?? "") holds \(kind), which is no \(type)"))
  }
}
