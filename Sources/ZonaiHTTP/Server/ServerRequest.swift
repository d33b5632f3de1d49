/// The protocol that a connection speaks.
public enum ServerProtocol: Sendable, Hashable {
  case http1
  case http2
}

/// One header field. Names are lower-case, as HTTP/2 writes them, whatever the client wrote.
public struct ServerHeader: Sendable, Hashable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// A request that has arrived in full.
public struct ServerRequest: Sendable {
  public var method = ""
  /// The path with its query, as it was sent.
  public var target = ""
  /// The host that the client meant, from `:authority` or `Host`; empty when it named none.
  public var authority = ""
  /// The fields without HTTP/2's pseudo fields, in their order.
  public var headers: [ServerHeader] = []
  /// The body; empty when it outgrew the service's limit, see `isBodyTooLarge`.
  public var body: [UInt8] = []
  /// Whether the body was longer than the service's limit and was therefore thrown away.
  public var isBodyTooLarge = false

  public init() {}

  /// The value of the first field of that name, which is given in lower case.
  public func header(_ name: String) -> String? {
    for header in headers where header.name == name { return header.value }
    return nil
  }

  /// The path without the query.
  public var path: Substring { target.prefix { $0 != "?" } }

  /// The query without the question mark; empty when there is none.
  public var query: Substring { target[path.endIndex...].dropFirst() }
}

/// What a handler answers.
public struct ServerResponse: Sendable {
  public var status: Int
  /// Further fields, lower-case; the length is added by itself.
  public var headers: [ServerHeader]
  public var body: [UInt8]

  public init(status: Int, headers: [ServerHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
