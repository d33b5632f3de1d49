import Testing
import ZonaiTestServers

/// The application's own hands on a server's database: the client that comes with the server, over the server's socket.
struct ServerDatabase: Sendable {
  let server: PrivateServer

  /// What a worker is told. Over the socket nobody is asked for a password.
  var url: String {
    switch server.kind {
    case .postgres: "postgres://zonai@/zonai_test?host=\(server.folder)&port=\(port)"
    case .mariadb: "mysql://root@localhost/zonai_test?socket=\(server.folder)/socket"
    }
  }

  private var port: String { (try? TemporaryFolder.read(server.folder + "/port").filter(\.isNumber)) ?? "" }

  /// Runs statements, and gives the rows of the last one, their columns as text.
  @discardableResult
  func run(_ sql: String) async throws -> [[String]] {
    let folder = try TemporaryFolder()
    try TemporaryFolder.write(folder["statements.sql"], sql)
    let client: Program
    switch server.kind {
    case .postgres:
      let words = ["-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-f", folder["statements.sql"], url]
      client = try Program("/usr/bin/psql", words, in: folder)
    case .mariadb:
      let words = ["--no-defaults", "-NB", "-uroot", "-S", server.folder + "/socket", "zonai_test"]
      client = try Program("/usr/bin/mariadb", words + ["-e", "source \(folder["statements.sql"])"], in: folder)
    }
    let code = try await client.end()
    guard code == 0 else { throw ClientFailure(words: client.errors) }
    return client.output.split(separator: "\n").map { line in
      line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
    }
  }

  /// The first column of the last statement's first row, as a number.
  func number(_ sql: String) async throws -> Int { try await run(sql).first?.first.flatMap { Int($0) } ?? -1 }
}

struct ClientFailure: Error, CustomStringConvertible {
  let words: String
  var description: String { words }
}
