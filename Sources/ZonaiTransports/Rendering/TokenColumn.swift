import ZonaiCore
import ZonaiHTTP
import ZonaiJSON

/// The page's tokens as they stand inside a JSON string.
enum TokenColumn {
  /// The page's own memory where no token needs escaping, as is the rule; else a copy with those escaped.
  static func escaped(_ tokens: TokenList) -> ByteColumn {
    let needsEscaping = tokens.bytes.withUnsafeBufferPointer { bytes in bytes.contains(where: isSpecial) }
    guard needsEscaping else { return ByteColumn(bytes: tokens.bytes, ends: tokens.ends) }
    var column = ByteColumn(capacity: tokens.count, bytes: tokens.bytes.count)
    for index in 0..<tokens.count { column.append(JSON.escape(tokens[index])) }
    return column
  }

  /// A verdict for a token that JSON cannot carry.
  static func refusal(_ token: UnsafeRawBufferPointer) -> Verdict? {
    // Nearly every token is ASCII.
    guard token.contains(where: { $0 >= 0x80 }), String(validating: token, as: UTF8.self) == nil else { return nil }
    return Verdict(
      .transientlyFailed, fault: .configuration, reason: .tokenNotForLane,
      words: "the token is not UTF-8 text, as every token of FCM is", names: "the token column")
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }
}
