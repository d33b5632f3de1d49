/// One port of a server: what it speaks and who answers.
public struct ServerService: Sendable {
  /// What a connection may speak.
  public enum Protocols: Sendable {
    /// HTTP/1.1 alone.
    case http1
    /// HTTP/2 alone; a client that does not offer ALPN is taken to speak it.
    case http2
    /// Either, by ALPN; a client that does not offer ALPN is taken to speak HTTP/1.1.
    case either
  }

  /// Names the service in errors.
  public var name: String
  /// The port on 127.0.0.1. 0, the default, lets the system choose a free one.
  public var port: UInt16
  public var protocols: Protocols
  /// The certificate and key to show; nil serves without TLS, which goes with HTTP/1.1 only.
  public var identity: ServerIdentity?
  /// How many streams a new HTTP/2 connection may open at once; see `ServerConnection.limitStreams(to:)`.
  public var streamLimit: UInt32
  /// The longest body that is kept, in bytes; the handler learns of longer ones by `isBodyTooLarge`.
  public var bodyLimit: Int
  /// Called on the server's thread for each request, which waits meanwhile: it must not block.
  public var handler: @Sendable (ServerExchange) -> Void
  /// Called on the server's thread when a connection was accepted (1) and when it has ended (-1).
  public var connections: @Sendable (_ change: Int) -> Void

  public init(
    name: String, port: UInt16 = 0, protocols: Protocols, identity: ServerIdentity? = nil, streamLimit: UInt32 = 100,
    bodyLimit: Int = 1 << 16, connections: @escaping @Sendable (_ change: Int) -> Void = { _ in },
    handler: @escaping @Sendable (ServerExchange) -> Void
  ) {
    self.name = name
    self.port = port
    self.protocols = protocols
    self.identity = identity
    self.streamLimit = streamLimit
    self.bodyLimit = bodyLimit
    self.handler = handler
    self.connections = connections
  }
}

/// Why a server cannot serve.
public struct ServerError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable, Hashable {
    /// The port is taken, or not ours to take.
    case port
    /// The system has no sockets or threads left.
    case resources
    /// The certificate or key cannot be used.
    case identity
  }

  public var code: Code
  public var description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
