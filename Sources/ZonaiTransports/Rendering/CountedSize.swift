import ZonaiJSON

extension JSON {
  /// The bytes of all names and values in it, without punctuation: how FCM counts a payload.
  var countedSize: Int {
    switch self {
    case .null: 4
    case .bool(let value): value ? 4 : 5
    case .integer, .number: bytes.count
    case .string(let text): text.utf8.count
    case .array(let elements): elements.reduce(0) { $0 + $1.countedSize }
    case .object(let members): members.reduce(0) { $0 + $1.key.utf8.count + $1.value.countedSize }
    }
  }
}
