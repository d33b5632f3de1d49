extension Value: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The longest text that is shown whole, in characters: tokens are longer.
  private static let longest = 24

  /// The value for a log. Long text and bytes are shortened, since a device token may stand in any column; a UUID is not.
  public var description: String {
    switch self {
    case .null: "NULL"
    case .boolean(let boolean): "\(boolean)"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text) where text.count <= Value.longest || Value.isUUID(text): text
    case .text(let text): "\(text.prefix(6))…(\(text.count) characters)"
    // A UUID has sixteen.
    case .bytes(let bytes) where bytes.count <= 16: bytes.hex
    case .bytes(let bytes): "\(Array(bytes.prefix(3)).hex)…(\(bytes.count) bytes)"
    }
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["value": description]) }

  private static func isUUID(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy { $0.hexDigit != nil }
  }
}
