/// Takes passwords out of what names a database, for lines that people see.
enum HiddenPassword {
  private static let names: Set<String> = ["password", "passwd", "pwd", "sslpassword"]

  /// The URL, or the list of `name=value`, without its passwords; the same text where there is none.
  static func hiding(in text: String) -> String {
    if let scheme = text.firstRange(of: "://") {
      let head = String(text[..<scheme.upperBound])
      return head + hiding(inURL: text[scheme.upperBound...])
    }
    guard text.contains("="), !text.hasPrefix("sqlite:") else { return text }
    return hiding(inList: text)
  }

  /// Whatever stands before the last @ is taken for user and password: one that is not percent-encoded may hold anything.
  private static func hiding(inURL text: Substring) -> String {
    var hidden = ""
    var rest = text
    if let at = text.lastIndex(of: "@") {
      let credentials = text[..<at]
      hidden += credentials.prefix { $0 != ":" }
      rest = text[at...]
    }
    guard let mark = rest.firstIndex(of: "?") else { return hidden + rest }
    let options = rest[rest.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
    let kept = options.filter { !names.contains(name(of: $0)) }
    return hidden + rest[..<mark] + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
  }

  private static func name(of option: Substring) -> String {
    let name = option.prefix { $0 != "=" }.lowercased()
    // A letter that is percent-encoded is the same letter.
    var bytes: [UInt8] = []
    var rest = Array(name.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self).lowercased()
  }

  /// `host=db password='it''s'`: values may stand in quotes, with backslashes before what would end them.
  /// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-KEYWORD-VALUE
  private static func hiding(inList text: String) -> String {
    var kept: [Substring] = []
    var isClean = true
    var rest = text[...]
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "\n" }
      if rest.isEmpty { break }
      let end = endOfPair(rest)
      let pair = rest[..<end]
      let name = pair.prefix { $0 != "=" && $0 != " " }.lowercased()
      if names.contains(name) { isClean = false } else { kept.append(pair) }
      rest = rest[end...]
    }
    return isClean ? text : kept.joined(separator: " ")
  }

  private static func endOfPair(_ text: Substring) -> Substring.Index {
    guard let equals = text.firstIndex(of: "=") else { return text.endIndex }
    var index = text.index(after: equals)
    while index < text.endIndex, text[index] == " " { index = text.index(after: index) }
    let isQuoted = index < text.endIndex && text[index] == "'"
    if isQuoted { index = text.index(after: index) }
    while index < text.endIndex {
      let character = text[index]
      if character == "\\" {
        index = text.index(after: index)
        if index == text.endIndex { break }
      } else if isQuoted ? character == "'" : character == " " || character == "\t" || character == "\n" {
        return isQuoted ? text.index(after: index) : index
      }
      index = text.index(after: index)
    }
    return text.endIndex
  }
}
