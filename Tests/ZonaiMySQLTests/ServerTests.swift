import Synchronization
import Testing
import ZonaiCore
import ZonaiMySQL
import ZonaiTestServers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Servers that stop, run full, run out of connections or want TLS: each test has one of its own.
@Suite(.serialized, .timeLimit(.minutes(15))) struct ServerTests {
  @Test func `a private server keeps its address when it is started again`() async throws {
    let server = try await PrivateServer(.mariadb)
    let url = server.url
    #expect(url.hasPrefix("mysql://"))
    try await server.kill()
    try await server.start()
    #expect(server.url == url)
  }

  // MARK: Coming and going

  @Test func `a server that is killed and started again in the middle of a job loses nothing`() async throws {
    // The tests' servers are quick and forgetful; this one keeps what it has committed, as in earnest.
    let server = try await PrivateServer(.mariadb, options: ["--innodb-flush-log-at-trx-commit=1"])
    let scene = try await MySQLScene(MySQLScene.devices, on: try ServerURL(server))
    try await scene.addDevices(60)
    let job = try await scene.enqueue(Audience("devices", token: "token"))
    let first = try await scene.claim(size: 20)
    _ = try await scene.store.settle(.answers(first.delivered()))
    let second = try await scene.claim(size: 20)
    try await server.kill()
    let away = try await scene.refusal { _ = try await scene.store.settle(.answers(second.delivered())) }
    #expect(away.code == .unavailable)
    try await server.start()
    _ = try await scene.store.settle(.answers(second.delivered()))
    let third = try await scene.claim(size: 20)
    _ = try await scene.store.settle(.answers(third.delivered()))
    let done = try await scene.job(job)
    #expect(done.counts.delivered == 60)
    #expect(done.state == .completed)
    await scene.store.close()
  }

  @Test func `connections that are killed while nothing waits for them are not noticed`() async throws {
    let server = try await PrivateServer(.mariadb)
    let scene = try await MySQLScene(MySQLScene.devices, on: try ServerURL(server))
    try await scene.addDevices(3)
    _ = try await scene.enqueue(Audience("devices", token: "token"))
    for _ in 0..<3 {
      let mine = await scene.application.number
      for row in try await scene.application.rows("SELECT id FROM information_schema.PROCESSLIST WHERE user = 'zonai'")
      {
        guard let id = row[0], id != "\(mine)" else { continue }
        try await scene.application.run("KILL \(id)")
      }
      let batch = try await scene.claim()
      #expect(batch.recipients.count == 3)
      _ = try await scene.store.settle(.answers(batch.owed()))
    }
    await scene.store.close()
  }

  // MARK: Limits

  @Test func `a server without a connection left says so, and is come back to`() async throws {
    let server = try await PrivateServer(.mariadb, options: ["--max-connections=10"])
    let root = try Application(try ServerURL(server), isRoot: true)
    // One without the right to a connection beyond the limit.
    try await root.run(
      "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY)",
      "CREATE USER anna@'127.0.0.1' IDENTIFIED BY 'hush'",
      "GRANT ALL ON shop.* TO anna@'127.0.0.1'")
    let address = try ServerURL(server)
    let store = try MySQLStore(url: address.url(database: "shop", user: "anna", password: "hush"))
    var others: [Application] = []
    for _ in 0..<9 { others.append(try Application(address)) }
    let error = try #require(await #expect(throws: StoreError.self) { _ = try await store.describe("t") })
    #expect(error.code == .unavailable)
    #expect(error.sentence.contains("max_connections"), "\(error)")
    others = []
    // The server notices closed connections a moment later: it is asked again, as a worker would.
    var described: TableDescription?
    while described == nil { described = try? await store.describe("t") }
    #expect(described?.primaryKey == ["id"])
    // And a user's own limit.
    try await root.run(
      "CREATE USER bert@'127.0.0.1' IDENTIFIED BY 'hush' WITH MAX_USER_CONNECTIONS 1",
      "GRANT ALL ON shop.* TO bert@'127.0.0.1'")
    let bert = try MySQLStore(url: address.url(database: "shop", user: "bert", password: "hush"))
    _ = try await bert.describe("t")
    let second = try MySQLStore(url: address.url(database: "shop", user: "bert", password: "hush"))
    let limited = try #require(await #expect(throws: StoreError.self) { _ = try await second.describe("t") })
    #expect(limited.sentence.contains("max_user_connections"), "\(limited)")
    await bert.close()
    await second.close()
    await store.close()
  }

  @Test func `values and statements beyond the server's limits are named`() async throws {
    let server = try await PrivateServer(
      .mariadb, options: ["--max-allowed-packet=1M", "--max-prepared-stmt-count=20"])
    let scene = try await MySQLScene(MySQLScene.devices, on: try ServerURL(server))
    try await scene.addDevices(3)
    // With room for twenty statements, this still goes: the connections let go of what they kept.
    for _ in 0..<3 {
      let job = try await scene.enqueue(Audience("devices", token: "token"))
      _ = try await scene.store.settle(.answers(try await scene.claim().owed()))
      try await scene.prune(try await scene.claim())
      #expect(try await scene.job(job).state == .completed)
      try await scene.application.run("UPDATE devices SET token = CONCAT('token-', id)")
    }
    let long = (0..<100_000).map { Value.text("a rather long value number \($0)") }
    let error = try await scene.refusal {
      _ = try await scene.enqueue(Audience("devices", token: "token", where: Column("platform").in(long)))
    }
    #expect("\(error)".contains("max_allowed_packet"), "\(error)")
    #expect(!"\(error)".contains("rather long"))
    await scene.store.close()
  }

  @Test func `a read-only server is named so, and nothing is lost`() async throws {
    let server = try await PrivateServer(.mariadb)
    let address = try ServerURL(server)
    let root = try Application(address, isRoot: true)
    try await root.run(
      "CREATE DATABASE shop", "CREATE USER anna@'127.0.0.1' IDENTIFIED BY 'hush'",
      "GRANT ALL ON shop.* TO anna@'127.0.0.1'",
      "USE shop", MySQLScene.devices, "INSERT INTO devices (id, token) VALUES (1, 'one')")
    let store = try MySQLStore(url: address.url(database: "shop", user: "anna", password: "hush"))
    _ = try await store.migrate()
    let request = EnqueueRequest(definition: .news(Audience("devices", token: "token")))
    let job = try await store.enqueue(request).job.id
    guard case .batch(let batch) = try await store.claim(.from("anna")) else { throw TestFailure("nothing claimed") }
    try await root.run("SET GLOBAL read_only = 1")
    for write in [
      { _ = try await store.enqueue(request) }, { _ = try await store.settle(.answers(batch.delivered())) },
    ] as [@Sendable () async throws -> Void] {
      let error = try #require(await #expect(throws: StoreError.self) { try await write() })
      #expect(error.code == .readOnly)
      #expect(error.sentence.contains("read_only"), "\(error)")
    }
    try await root.run("SET GLOBAL read_only = 0")
    _ = try await store.settle(.answers(batch.delivered()))
    guard case .job(let done?) = try await store.jobs(.one(job)) else { return }
    #expect(done.counts.delivered == 1)
    await store.close()
  }

  // MARK: TLS

  @Test func `TLS is made, checked and missed as the URL wants`() async throws {
    let server = try await PrivateServer(.mariadb)
    let address = try ServerURL(server)
    let authority = server.folder + "/tls/server.crt"
    func connected(_ options: String, host: String = "127.0.0.1") async throws {
      let url = "mysql://\(address.user):\(address.password)@\(host):\(address.port)/zonai_test?\(options)"
      let store = try MySQLStore(url: url)
      do {
        _ = try await store.migrate()
      } catch {
        await store.close()
        throw error
      }
      await store.close()
    }
    let root = try Application(address, isRoot: true)
    // The certificate is for localhost and 127.0.0.1.
    for options in [
      "ssl-mode=disabled", "ssl-mode=preferred", "ssl-mode=required", "ssl-mode=verify-ca&ssl-ca=\(authority)",
      "ssl-mode=verify-identity&ssl-ca=\(authority)",
    ] { try await connected(options) }
    try await root.run("ALTER USER zonai@'127.0.0.1' REQUIRE SSL")
    for options in ["ssl-mode=preferred", "ssl-mode=verify-identity&ssl-ca=\(authority)"] {
      try await connected(options)
    }
    let plain = await #expect(throws: StoreError.self) { try await connected("ssl-mode=disabled") }
    #expect(plain?.code == .denied, "\(plain as Any)")
    try await root.run("ALTER USER zonai@'127.0.0.1' REQUIRE NONE")
    // Another authority.
    let stranger = try await PrivateServer(.mariadb, options: ["--skip-ssl"])
    let other = stranger.folder + "/tls/server.crt"
    for options in ["ssl-mode=verify-identity&ssl-ca=\(other)", "ssl-mode=verify-identity"] {
      let error = await #expect(throws: StoreError.self) { try await connected(options) }
      #expect(error?.code == .unavailable)
      #expect(error?.sentence.contains("ssl-ca") == true, "\(error as Any)")
    }
    // A server that knows no TLS.
    let bare = try ServerURL(stranger)
    for mode in ["required", "verify-identity&ssl-ca=\(other)"] {
      let store = try MySQLStore(url: bare.url(database: "zonai_test", options: "?ssl-mode=\(mode)"))
      let error = await #expect(throws: StoreError.self) { _ = try await store.migrate() }
      #expect(error?.code == .unavailable)
      #expect(error?.sentence.contains("TLS") == true, "\(error as Any)")
      await store.close()
    }
    let preferred = try MySQLStore(url: bare.url(database: "zonai_test", options: "?ssl-mode=preferred"))
    _ = try await preferred.migrate()
    await preferred.close()
  }

  @Test func `a socket is another way in`() async throws {
    let server = try await PrivateServer(.mariadb)
    let store = try MySQLStore(url: "mysql://root@/zonai_test?socket=\(server.folder)/socket")
    _ = try await store.migrate()
    await store.close()
  }
}
