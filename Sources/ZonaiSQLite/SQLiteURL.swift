import ZonaiCore

/// Reads `sqlite:FILE`.
public enum SQLiteURL {
  /// The path in the URL. Taken are `sqlite:app.db`, `sqlite:/srv/app.db`, `sqlite:///srv/app.db` and, since people
  /// write it, `sqlite://app.db`; `%20` and its like stand for the byte.
  public static func path(_ url: String) throws(StoreError) -> String {
    guard let colon = url.firstIndex(of: ":"), url[..<colon].lowercased() == "sqlite" else {
      throw StoreError(.invalidRequest, "\(url) is no SQLite store: write sqlite:FILE, for example sqlite:app.db")
    }
    var rest = url[url.index(after: colon)...]
    if rest.hasPrefix("//") { rest = rest.dropFirst(2) }
    if let odd = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) {
      throw StoreError(
        .invalidRequest,
        "\(rest[odd]) has no meaning in \(url): a store's URL takes no options; in a file name write "
          + (rest[odd] == "?" ? "%3F" : "%23"))
    }
    let bytes = try decode(rest.utf8, in: url)
    guard !bytes.isEmpty else {
      throw StoreError(.invalidRequest, "\(url) names no file: write sqlite:FILE, for example sqlite:app.db")
    }
    guard !bytes.contains(0), let path = String(validating: bytes, as: UTF8.self) else {
      throw StoreError(.invalidRequest, "\(url) is no path: what %-codes stand for must be UTF-8 and no zero byte")
    }
    return path
  }

  private static func decode(_ text: Substring.UTF8View, in url: String) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst()?.hexDigit, let low = rest.popFirst()?.hexDigit else {
        throw StoreError(
          .invalidRequest, "a % in \(url) is not followed by two hexadecimal digits: write %25 for a percent sign")
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
