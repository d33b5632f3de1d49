import Testing
import ZonaiCore
import ZonaiPostgres
import ZonaiTestServers

/// What stands between Zonai and the database, each with a sentence of its own.
@Suite(.enabled(if: TestServers.postgres != nil, "\(TestServers.noPostgres)"), .timeLimit(.minutes(10)))
struct ConnectTests {
  private func address() throws -> ServerAddress { try ServerAddress(TestServers.postgres ?? "") }

  /// What a store at this address answers to a harmless question: nil when it was reached.
  private func answer(_ url: String) async throws -> StoreError? {
    let store = try PostgresStore(url: url)
    let error = await failure { _ = try await store.describe(TableName("pg_class", schema: "pg_catalog")) }
    await store.close()
    return error
  }

  @Test func `URLs and keywords lead to the database`() async throws {
    let server = try address()
    #expect(try await answer(server.url()) == nil)
    #expect(try await answer(server.url().split(separator: "://").joined(separator: "ql://")) == nil)
    #expect(
      try await answer(
        "host=\(server.host) port=\(server.port) user=\(server.user) password='\(server.password)' "
          + "dbname=\(server.database) options='-c search_path=public'") == nil)
  }

  @Test func `a password comes from the file that holds it`() async throws {
    let server = try address()
    let folder = try TemporaryFolder()
    try folder.write("\(server.host):*:*:\(server.user):\(server.password)\n", to: "pass", mode: 0o600)
    let words = "host=\(server.host) port=\(server.port) user=\(server.user) dbname=\(server.database)"
    #expect(try await answer("\(words) passfile=\(folder.path("pass"))") == nil)
    try folder.write("elsewhere:*:*:*:x\n", to: "pass", mode: 0o600)
    let error = try await answer("\(words) passfile=\(folder.path("pass"))")
    #expect(error?.code == .denied)
    #expect(error?.sentence.contains("PGPASSWORD") == true && error?.sentence.contains(".pgpass") == true)
  }

  @Test func `a wrong password is denied, and not shown`() async throws {
    let server = try address()
    let error = try await answer(server.url(password: "wrong-horse-battery"))
    #expect(error?.code == .denied)
    #expect(error?.sentence.contains("does not take the password of \(server.user)") == true)
    #expect(error.map { "\($0)".contains("horse") } == false)
  }

  @Test func `a role that is not there is denied`() async throws {
    let error = try await answer(try address().url(user: "nobody_of_this_name", password: "hunter22"))
    #expect(error?.code == .denied)
    #expect(error?.sentence.contains("nobody_of_this_name") == true)
  }

  @Test func `a database that is not there is named`() async throws {
    let error = try await answer(try address().url(database: "no_such_shop"))
    #expect(error?.code == .notFound)
    #expect(error?.sentence.contains("no database no_such_shop") == true)
  }

  @Test func `a port where nobody listens is unavailable`() async throws {
    let error = try await answer(try address().url(port: "1"))
    #expect(error?.code == .unavailable)
    #expect(error?.sentence.hasPrefix("cannot reach PostgreSQL at 127.0.0.1:1") == true)
  }

  @Test func `a host without an address is unavailable`() async throws {
    let error = try await answer(try address().url(host: "no-such-host.invalid"))
    #expect(error?.code == .unavailable)
    #expect(error?.sentence.contains("no-such-host.invalid") == true)
  }

  @Test func `options that the server does not know are refused`() async throws {
    let error = try await answer(try address().url("options=-cno_such_setting%3D1"))
    #expect(error?.code != nil && error?.databaseWords?.contains("no_such_setting") == true)
  }

  @Test func `a server that accepts and is silent is given up in time`() async throws {
    let server = try address()
    let relay = try Relay(to: server.port)
    relay.set(.mute)
    let error = try await answer(server.url(port: relay.port, "connect_timeout=2"))
    #expect(error?.code == .unavailable)
    #expect(error?.sentence.contains("did not answer in time") == true)
  }

  @Test func `of several servers the next is tried when one is silent or away`() async throws {
    let server = try address()
    let relay = try Relay(to: server.port)
    relay.set(.mute)
    let hosts = "127.0.0.1:1,127.0.0.1:\(relay.port),127.0.0.1:\(server.port)"
    #expect(
      try await answer(
        "postgres://\(server.user):\(server.password)@\(hosts)/\(server.database)?connect_timeout=2") == nil)
  }

  @Test func `a server that falls silent in the middle is given up in time`() async throws {
    let server = try address()
    let relay = try Relay(to: server.port)
    var options = PostgresOptions()
    options.limits.reading = 5000
    let store = try PostgresStore(url: server.url(port: relay.port, "sslmode=disable"), options: options)
    _ = try await store.describe(TableName("pg_class", schema: "pg_catalog"))
    relay.set(.mute)
    let error = await failure { _ = try await store.describe(TableName("pg_class", schema: "pg_catalog")) }
    #expect(error?.code == .unavailable)
    #expect(error?.sentence.contains("gave no answer in time") == true)
    await store.close()
  }

  @Test func `a standby, or a database that is set to read only, is said to be one`() async throws {
    try await PostgresScene.run(PostgresScene.devices) { scene in
      let store = try PostgresStore(url: scene.fixture.url + "%20-cdefault_transaction_read_only%3Don")
      let error = await failure {
        _ = try await store.enqueue(EnqueueRequest(definition: .news(Audience("devices", token: "token"))))
      }
      #expect(error?.code == .readOnly)
      #expect(error?.sentence.contains("target_session_attrs=read-write") == true)
      await store.close()
    }
  }
}
