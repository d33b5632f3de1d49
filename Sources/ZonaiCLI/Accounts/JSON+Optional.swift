import ZonaiJSON

extension Optional where Wrapped == String {
  /// The text, or `null`.
  var json: JSON { map { .string($0) } ?? .null }
}

extension Optional where Wrapped == Int64 {
  /// The number, or `null`.
  var json: JSON { map { .integer($0) } ?? .null }
}
