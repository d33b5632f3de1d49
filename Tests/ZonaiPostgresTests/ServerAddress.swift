/// A server's URL of the form `postgres://user:password@host:port/database`, taken apart.
struct ServerAddress {
  let user: String
  let password: String
  let host: String
  let port: String
  let database: String

  init(_ url: String) throws {
    let parts = url.split { ":/@?".contains($0) }.map { String($0) }
    guard parts.count >= 6 else {
      throw TestFailure("a test server's URL names user, password, host, port and database")
    }
    (user, password, host, port, database) = (parts[1], parts[2], parts[3], parts[4], parts[5])
  }

  func url(
    user: String? = nil, password: String? = nil, host: String? = nil, port: String? = nil, database: String? = nil,
    _ query: String = ""
  ) -> String {
    "postgres://\(user ?? self.user):\(password ?? self.password)@\(host ?? self.host):\(port ?? self.port)/"
      + "\(database ?? self.database)\(query.isEmpty ? "" : "?" + query)"
  }
}
