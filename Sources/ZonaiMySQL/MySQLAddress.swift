import ZonaiCore

/// Where a database is and as whom to go there. What is nil comes from the client's option files, or is the library's own
/// default.
///
/// Its description shows no password.
public struct MySQLAddress: Sendable, Hashable {
  public enum TLS: String, Sendable, Hashable, CaseIterable {
    case disabled
    /// Where the server can.
    case preferred
    case required
    /// And the server's certificate is one of the authorities'.
    case verifyAuthority = "verify-ca"
    /// And it is made out for the host.
    case verifyIdentity = "verify-identity"

    var level: Int32 {
      switch self {
      case .disabled: 0
      case .preferred: 1
      case .required: 2
      case .verifyAuthority: 3
      case .verifyIdentity: 4
      }
    }
  }

  public var host: String?
  public var port: UInt16?
  public var user: String?
  public var password: String?
  public var database: String?
  /// A Unix socket's path, in the place of host and port.
  public var socket: String?
  public var tls: TLS?
  /// Files of PEM: the authorities, and the client's own certificate and key.
  public var authorities: String?
  public var certificate: String?
  public var key: String?
  /// An option file in the place of the usual ones (`~/.my.cnf` and the system's).
  public var optionFile: String?

  public init() {}

  /// As in a sentence.
  var server: String {
    if let socket { return "the server at \(socket)" }
    guard let host else { return "the server" }
    let shown = host.contains(":") ? "[\(host)]" : host
    return "the server at \(shown)" + (port.map { ":\($0)" } ?? "")
  }

  var userName: String { user ?? "of the option file or system" }
  var databaseName: String { database ?? "of the option file" }
}

extension MySQLAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { server + (database.map { ", database \($0)" } ?? "") }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["server": server, "database": databaseName]) }
}
