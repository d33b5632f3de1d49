import ZonaiCore

/// Text in a column that is part of a key: no longer than any database's index takes.
enum StoredWord {
  static let limit = 255

  /// The text; of a longer one its beginning, and a digest that tells it from others that begin alike.
  static func of(_ text: String) -> String {
    guard text.utf8.count > limit else { return text }
    let digest = "~" + digest(Array(text.utf8))
    var head = ""
    for character in text {
      guard head.utf8.count + character.utf8.count + digest.utf8.count <= limit else { break }
      head.append(character)
    }
    return head + digest
  }

  /// 128 bits as 32 digits: two runs over the bytes, so that no two lines of a job meet by chance.
  static func digest(_ bytes: [UInt8]) -> String {
    [DeviceToken.digest(bytes), DeviceToken.digest(bytes.reversed())].map { half in
      stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> UInt64($0)) }.hex
    }.joined()
  }
}
