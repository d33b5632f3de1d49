extension RowKey {
  /// How a database or an application may write it.
  var spellings: [ArraySlice<UInt8>] {
    values.flatMap { value -> [ArraySlice<UInt8>] in
      switch value {
      case .null, .boolean: []
      case .integer(let number): [ArraySlice("\(number)".utf8)]
      case .real(let number): [ArraySlice("\(number)".utf8)]
      case .text(let text): [ArraySlice(text.utf8)]
      case .bytes(let bytes): [ArraySlice(bytes), ArraySlice(bytes.hex.utf8)]
      }
    }
  }
}

extension DeviceToken {
  var spellings: [ArraySlice<UInt8>] { [ArraySlice(bytes), ArraySlice(bytes.hex.utf8)] }
}

extension Rejection {
  /// Words of others about these rows, without their tokens and keys.
  package static func words(_ words: String, without rejections: [Rejection]) -> String {
    ServiceWords.shortened(words, hidingAll: rejections.flatMap { $0.token.spellings + $0.key.spellings })
  }
}
