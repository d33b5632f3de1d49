/// The key of one row: a value for each key column, in the order of the audience's key.
public struct RowKey: Sendable, Hashable {
  public var values: [Value]

  public init(_ values: [Value]) { self.values = values }
  public init(_ values: Value...) { self.values = values }
}

extension RowKey: Codable {
  public init(from decoder: any Decoder) throws { values = try [Value](from: decoder) }
  public func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
}

extension RowKey: CustomStringConvertible {
  public var description: String {
    values.map { value in
      switch value {
      case .null: "NULL"
      case .boolean(let boolean): "\(boolean)"
      case .integer(let integer): "\(integer)"
      case .real(let real): "\(real)"
      case .text(let text): text
      case .bytes(let bytes): bytes.hex
      }
    }.joined(separator: ", ")
  }
}
