/// Takes passwords out of what names a database, for lines that people see.
enum HiddenPassword {
  private static let names: Set<String> = ["password", "passwd", "pwd", "sslpassword"]

  /// The URL, or the list of `name=value`, without its passwords; the same text where there is none.
  static func hiding(in text: String) -> String {
    if text.prefix(7).lowercased() == "sqlite:" { return text }
    if let scheme = text.firstRange(of: "://") {
      let head = String(text[..<scheme.upperBound])
      return head + hiding(inURL: text[scheme.upperBound...])
    }
    return text.contains("=") ? hiding(inList: text) : text
  }

  /// Whatever stands before the last @ in front of the query is taken for user and password: one
  /// that is not percent-encoded may hold anything.
  private static func hiding(inURL text: Substring) -> String {
    let query = startOfQuery(text) ?? text.endIndex
    var hidden = ""
    var rest = text[..<query]
    if let at = rest.lastIndex(of: "@") {
      hidden += rest[..<at].prefix { $0 != ":" }
      rest = rest[at...]
    }
    // Behind credentials with a ? in them there may be a query of its own.
    let mark = query < text.endIndex ? query : rest.firstIndex(of: "?") ?? text.endIndex
    hidden += text[rest.startIndex..<mark]
    guard mark < text.endIndex else { return hidden }
    let options = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
    let kept = options.filter { !names.contains(name(of: $0)) }
    return hidden + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
  }

  /// The question mark before the URL's options. A password may hold one too, so hosts and a path
  /// must stand before it and `name=value` behind it. As libpq reads a URL, an @ before the first
  /// slash ends the credentials, so no query begins before one.
  private static func startOfQuery(_ text: Substring) -> Substring.Index? {
    let slash = text.firstIndex(of: "/") ?? text.endIndex
    var mark = text.firstIndex(of: "?")
    while let here = mark {
      let behind = text[text.index(after: here)...]
      let before = text[..<here]
      let hosts = before[(before.lastIndex(of: "@").map { before.index(after: $0) } ?? before.startIndex)...]
      let endsCredentials = here < slash && text[here..<slash].contains("@")
      if !endsCredentials, areHosts(hosts.prefix { $0 != "/" }), areOptions(behind) { return here }
      mark = behind.firstIndex(of: "?")
    }
    return nil
  }

  /// Whether the text is hosts with or without ports: `one:5432,two`.
  private static func areHosts(_ text: Substring) -> Bool {
    text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { host in
      if host.hasPrefix("[") { return true }
      let parts = host.split(separator: ":", omittingEmptySubsequences: false)
      return parts.count < 2 || parts.count == 2 && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
  }

  private static func areOptions(_ text: Substring) -> Bool {
    text.split(separator: "&").allSatisfy { option in
      let name = option.prefix { $0 != "=" }
      return name.count < option.count
        && name.utf8.allSatisfy {
          (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || "_-%".utf8.contains($0)
        }
    }
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
