import ZonaiHTTP

/// Where a service is: `https://host`, `https://host:port`, with a path or without.
///
/// Always https: certificates and host names are verified everywhere, and a test brings an authority of its own.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
  public let host: String
  public let port: UInt16
  /// Empty, or a path that begins with a slash and does not end with one.
  public let path: String

  public init(host: String, port: UInt16 = 443, path: String = "") {
    self.host = host
    self.port = port
    self.path = path
  }

  /// Reads an address. Throws a sentence that names the setting when it is none.
  public init(_ text: String, setting: String) throws(SetupError) {
    func bad(_ why: String) -> SetupError {
      SetupError(.badSetting, setting: setting, "'\(text)' is no address that can be used: \(why)")
    }
    guard text.hasPrefix("https://") else { throw bad("it must begin with https://") }
    let rest = text.dropFirst(8)
    let authority = rest.prefix { $0 != "/" }
    guard !authority.contains("@"), !rest.contains("?"), !rest.contains("#") else {
      throw bad("give host, port and path, and nothing else")
    }
    var name = authority
    if authority.first == "[", let end = authority.firstIndex(of: "]") {
      name = authority[authority.index(after: authority.startIndex)..<end]
      port = try Endpoint.port(authority[authority.index(after: end)...], bad)
    } else {
      name = authority.prefix { $0 != ":" }
      port = try Endpoint.port(authority.dropFirst(name.count), bad)
    }
    let isName = name.utf8.allSatisfy {
      (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2d || $0 == 0x2e || $0 == 0x3a
    }
    guard !name.isEmpty, isName else { throw bad("the host is not a name or an address") }
    let path = rest.dropFirst(authority.count)
    guard path.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { throw bad("the path has odd characters") }
    host = name.lowercased()
    self.path = String(path.last == "/" ? path.dropLast() : path)
  }

  private static func port(_ text: Substring, _ bad: (String) -> SetupError) throws(SetupError) -> UInt16 {
    if text.isEmpty { return 443 }
    guard text.first == ":", let port = UInt16(text.dropFirst()), port > 0 else { throw bad("the port is no number") }
    return port
  }

  public var description: String {
    let host = host.contains(":") ? "[\(host)]" : host
    return "https://" + host + (port == 443 ? "" : ":\(port)") + path
  }

  var origin: HTTPOrigin { HTTPOrigin(host: host, port: port) }

  /// Whether it is on this machine: 127.0.0.0/8, ::1 or localhost.
  package var isLoopback: Bool { HTTPOrigin.isLoopback(host) }
}
