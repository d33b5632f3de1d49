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

extension RowKey: CustomStringConvertible, CustomReflectable {
  /// The values, long ones shortened: a token may be part of a key.
  public var description: String { values.map(\.description).joined(separator: ", ") }
  public var customMirror: Mirror { Mirror(self, children: ["values": description]) }

  /// The same where the row's token is known: that is hidden whatever its length.
  func description(hiding token: DeviceToken) -> String {
    values.map { value in
      switch value {
      case .text(let text) where Array(text.utf8) == token.bytes: token.description
      case .bytes(let bytes) where bytes == token.bytes || bytes.hex == token.text.lowercased(): token.description
      default: value.description
      }
    }.joined(separator: ", ")
  }
}
