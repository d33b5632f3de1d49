import ZonaiMySQL
import ZonaiTestServers

/// The server that the tests use, taken apart.
struct ServerURL: Sendable {
  let host: String
  let port: UInt32
  let user: String
  let password: String
  /// Set for a private server: its root may come in by the socket.
  var socket: String?

  init(_ url: String) throws {
    let address = try MySQLURL.address(url)
    host = address.host ?? "127.0.0.1"
    port = UInt32(address.port ?? 3306)
    user = address.user ?? ""
    password = address.password ?? ""
  }

  init(_ server: PrivateServer) throws {
    try self.init(server.url)
    socket = server.folder + "/socket"
  }

  static func shared() throws -> ServerURL {
    guard let url = TestServers.mysql else { throw TestFailure("\(TestServers.noMySQL)") }
    return try ServerURL(url)
  }

  func url(database: String, user: String? = nil, password: String? = nil, options: String = "") -> String {
    "mysql://\(user ?? self.user):\(password ?? self.password)@\(host):\(port)/\(database)\(options)"
  }
}
