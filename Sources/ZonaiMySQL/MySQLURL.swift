import ZonaiCore

/// Reads `mysql://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE`; `mariadb://` is the same.
///
/// Every part may be left out but the database, which an option file may name too. What stands in the parts is
/// percent-decoded. No error shows the password.
public enum MySQLURL {
  public static let schemes: Set<String> = ["mysql", "mariadb"]

  /// Throws what is wrong with the URL, without showing it whole.
  public static func address(_ url: String) throws(StoreError) -> MySQLAddress {
    guard let colon = url.firstIndex(of: ":"), schemes.contains(url[..<colon].lowercased()),
      url[colon...].hasPrefix("://")
    else { throw fault("it does not begin with mysql://") }
    var rest = url[url.index(colon, offsetBy: 3)...]
    if rest.contains("#") { throw fault("a # in it has no meaning: write %23 where a name or password holds one") }
    var address = MySQLAddress()
    if let mark = rest.firstIndex(of: "?") {
      try readOptions(rest[rest.index(after: mark)...], into: &address)
      rest = rest[..<mark]
    }
    if let slash = rest.firstIndex(of: "/") {
      let path = rest[rest.index(after: slash)...]
      if path.contains("/") { throw fault("it has more than one name behind the host: write %2F for a / in a name") }
      address.database = try nonEmpty(path, "the database")
      rest = rest[..<slash]
    }
    if let at = rest.lastIndex(of: "@") {
      let credentials = rest[..<at]
      rest = rest[rest.index(after: at)...]
      let parts = credentials.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      if let user = parts.first { address.user = try nonEmpty(user, "the user") }
      if parts.count > 1 { address.password = try decoded(parts[1], "the password") }
    }
    try readHost(rest, into: &address)
    if address.socket != nil, address.host != nil, address.host != "localhost" {
      throw fault("it names a host and a socket: leave the host out (mysql:///database?socket=/path)")
    }
    return address
  }

  // MARK: Parts

  private static func readHost(_ text: Substring, into address: inout MySQLAddress) throws(StoreError) {
    var host = text
    var port: Substring?
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { throw fault("the address in brackets does not end") }
      host = text[text.index(after: text.startIndex)..<end]
      let behind = text[text.index(after: end)...]
      guard behind.isEmpty || behind.hasPrefix(":") else { throw fault("something stands behind the address") }
      if !behind.isEmpty { port = behind.dropFirst() }
    } else if let colon = text.lastIndex(of: ":") {
      host = text[..<colon]
      port = text[text.index(after: colon)...]
    }
    address.host = try nonEmpty(host, "the host")
    guard let port, !port.isEmpty else { return }
    guard let number = UInt16(port), number > 0 else {
      // What looks like a port may be the rest of a password with an @ or a / in it.
      throw fault("its port is no number from 1 to 65535, or a password holds an @, : or / that wants percent-encoding")
    }
    address.port = number
  }

  private static func readOptions(_ text: Substring, into address: inout MySQLAddress) throws(StoreError) {
    for option in text.split(separator: "&") {
      let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0]).lowercased()
      guard parts.count == 2, let value = try nonEmpty(parts[1], "the option") else {
        throw fault("an option has no value: write name=value")
      }
      switch name {
      case "socket": address.socket = value
      case "ssl-ca": address.authorities = value
      case "ssl-cert": address.certificate = value
      case "ssl-key": address.key = value
      case "option-file": address.optionFile = value
      case "ssl-mode":
        guard let mode = MySQLAddress.TLS(rawValue: value.lowercased()) else {
          let known = MySQLAddress.TLS.allCases.map(\.rawValue).joined(separator: ", ")
          throw fault("its ssl-mode is none of \(known)")
        }
        address.tls = mode
      default:
        throw fault("its options are socket, ssl-mode, ssl-ca, ssl-cert, ssl-key and option-file, and no others")
      }
    }
  }

  private static func nonEmpty(_ text: Substring, _ part: String) throws(StoreError) -> String? {
    let text = try decoded(text, part)
    return text.isEmpty ? nil : text
  }

  private static func decoded(_ text: Substring, _ part: String) throws(StoreError) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst()?.hexDigit, let low = rest.popFirst()?.hexDigit else {
        throw fault("a % in \(part) is not followed by two hexadecimal digits: write %25 for a percent sign")
      }
      bytes.append(high << 4 | low)
    }
    guard !bytes.contains(0), let decoded = String(validating: bytes, as: UTF8.self) else {
      throw fault("what %-codes stand for in \(part) must be UTF-8 and no zero byte")
    }
    return decoded
  }

  private static func fault(_ problem: String) -> StoreError {
    StoreError(
      .invalidRequest,
      "the store's URL cannot be read, since \(problem); it has the form mysql://user:password@host:port/database")
  }
}
