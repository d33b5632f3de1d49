// HTTP for a sender of many small requests: HTTP/2 in batches on a thread of its own (HTTP2), connections that libcurl
// opens and OpenSSL protects (Connect, TLS), and now and then a single request (Fetch). It knows nothing of push.
// It is no general client: the pool sends POST only, keeps little of an answer, follows no redirect and stores no cookie.

/// A server that is reached over TLS: host and port.
public struct HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
  /// A DNS name or an address; this is the name that the certificate must carry.
  public var host: String
  public var port: UInt16

  public init(host: String, port: UInt16 = 443) {
    self.host = host
    self.port = port
  }

  /// What HTTP calls the authority: without the port where it is https' own.
  var authority: String { port == 443 ? bracketedHost : "\(bracketedHost):\(port)" }

  public var description: String { "\(bracketedHost):\(port)" }

  private var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

  /// Whether it is this machine itself, to which no proxy leads.
  var isLoopback: Bool { Self.isLoopback(host) }

  /// 127.0.0.0/8 in its usual form, ::1 and localhost. Other spellings of the same addresses are
  /// not recognized, since resolvers disagree about them.
  package static func isLoopback(_ host: String) -> Bool {
    if ["localhost", "::1", "[::1]"].contains(host) { return true }
    let numbers = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0].elementsEqual("127".utf8)
      && numbers.allSatisfy { digits in
        let text = String(Substring(digits))
        return UInt8(text).map { String($0) == text } ?? false
      }
  }
}

/// One header field. HTTP/2 wants names in lower case.
public struct HTTPField: Sendable, Hashable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
