/// Makes a `Decodable` type of a row: each property from the column of its coding key's name.
///
/// Whole numbers fit every integer type that can hold them, and `Bool` as 0 or 1, since not every database has booleans;
/// bytes come as `[UInt8]`. A nested type must decode from one value.
struct RowDecoder: Decoder {
  let row: Row
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer(row: row))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw DecodingError.typeMismatch([Value].self, .here([], "a row has columns, not places"))
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw DecodingError.typeMismatch(Value.self, .here([], "a row is no single value"))
  }
}

private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: Row
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { row.columns.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { row[key.stringValue] != nil }

  private func value(_ key: Key) throws -> ColumnDecoder {
    guard let value = row[key.stringValue] else {
      throw DecodingError.keyNotFound(key, .here([], "there is no column \(key.stringValue)"))
    }
    return ColumnDecoder(value: value, codingPath: [key])
  }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).decodeNil() }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key).decode(type) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key).decode(type) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key).decode(type) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key).decode(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key).integer() }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key).integer() }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key).integer() }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key).integer() }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key).integer() }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key).integer() }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key).integer() }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key).integer() }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key).integer() }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key).integer() }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try value(key).decode(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try value(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try value(key).unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder { RowDecoder(row: row) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }
}

extension DecodingError.Context {
  static func here(_ path: [any CodingKey], _ sentence: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: path, debugDescription: sentence)
  }
}
