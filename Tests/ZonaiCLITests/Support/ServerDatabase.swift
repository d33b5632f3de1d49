import Testing
import ZonaiTestServers

/// A database, or schema, of its own on the tests' server, with a table of devices; filled by the server's own client.
struct ServerDatabase: Sendable {
  enum Kind: String, Sendable, CaseIterable {
    case postgres, mysql

    var server: String? { self == .postgres ? TestServers.postgres : TestServers.mysql }

    static let there = allCases.filter { $0.server != nil }
  }

  let kind: Kind
  let name: String
  let user: String
  let password: String
  let host: String

  init(_ kind: Kind) async throws {
    self.kind = kind
    let server = try #require(kind.server)
    let scheme = try #require(server.firstRange(of: "://"))
    let parts = server[scheme.upperBound...].split(separator: "@", maxSplits: 1)
    let credentials = parts[0].split(separator: ":", maxSplits: 1)
    (user, password) = (String(credentials[0]), credentials.count > 1 ? String(credentials[1]) : "")
    host = String(parts[1].prefix { $0 != "/" })
    name = "zonai_cli_\(UInt64.random(in: .min ... .max))"
    let database = String(parts[1].dropFirst(host.count + 1))
    base = database
    try await run(kind == .postgres ? "CREATE SCHEMA \(name)" : "CREATE DATABASE \(name)", isMade: false)
    try await run("CREATE TABLE devices (id BIGINT PRIMARY KEY, token VARCHAR(400), platform VARCHAR(20))")
    let rows = (1...20).map { "(\($0), 'fcm-\($0):APA91b\(String(repeating: "x", count: 100))', 'android')" }
    try await run("INSERT INTO devices VALUES \(rows.joined(separator: ", "))")
  }

  private let base: String

  /// The store's URL, with this password or none.
  func url(password: String?) -> String {
    let credentials = user + (password.map { ":" + $0 } ?? "")
    switch kind {
    case .postgres: return "postgres://\(credentials)@\(host)/\(base)?options=-csearch_path%3D\(name)"
    case .mysql: return "mysql://\(credentials)@\(host)/\(name)"
    }
  }

  /// The variable in which the client looks for a password.
  var passwordVariable: String { kind == .postgres ? "PGPASSWORD" : "MYSQL_PWD" }

  func run(_ sql: String, isMade: Bool = true) async throws {
    let words: [String]
    switch kind {
    case .postgres:
      let options = isMade ? "?options=-csearch_path%3D\(name)" : ""
      words = [
        "psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-c", sql, "postgres://\(user)@\(host)/\(base)\(options)",
      ]
    case .mysql:
      let place = host.split(separator: ":")
      words = [
        "mariadb", "--no-defaults", "-h", String(place[0]), "-P", String(place.last ?? "3306"), "-u", user, "-e", sql,
        isMade ? name : base,
      ]
    }
    let client = try Shell(words, environment: [passwordVariable: password], program: "/usr/bin/env")
    let ending = try await client.end()
    try #require(ending.code == 0, "\(ending.errors)")
  }

  func remove() async throws {
    try await run(kind == .postgres ? "DROP SCHEMA \(name) CASCADE" : "DROP DATABASE \(name)", isMade: false)
  }

  static func with(_ kind: Kind, _ body: (ServerDatabase) async throws -> Void) async throws {
    let database = try await ServerDatabase(kind)
    do {
      try await body(database)
    } catch {
      try await database.remove()
      throw error
    }
    try await database.remove()
  }
}
